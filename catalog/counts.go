package catalog

import (
	"cmp"
	"context"
	"io"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/intake"
	"github.com/freshet/freshet/internal/strictjson"
)

// Counts reads likes and comments of stored items from r, as {"id","likes","comments"}
// in NDJSON or one JSON array, and changes them, and nothing else of the items. They are
// absolute; one that is left out stays as it is. What was counted of readers stays.
//
// An entry of an item that is not stored, or of a post, is rejected and the rest goes on.
// Of two entries about one item the later holds. For the rest it is as [Ingest.Read].
func (in *Ingest) Counts(ctx context.Context, r io.Reader) (api.Upload, error) {
	return intake.Read(ctx, r, items, in.cfg.Config, &countBatch{w: in.w})
}

// countBatch changes counts.
type countBatch struct {
	named
	w    Writer
	told []told
}

// told are the counts of an item as another system knows them.
type told struct {
	ID       string `json:"id"`
	Likes    *int64 `json:"likes"`
	Comments *int64 `json:"comments"`
}

// Add implements [intake.Batch].
func (b *countBatch) Add(_ int, data []byte) (string, error) {
	var t told
	if err := strictjson.Unmarshal(data, &t, strictjson.Errors{"": feed.Errorf(feed.ErrInvalid, "bad item")}); err != nil {
		return peekID(data), err
	}
	return t.ID, b.keep(t)
}

func (b *countBatch) keep(t told) error {
	if t.ID == "" {
		return feed.Errorf(feed.ErrInvalid, "bad item: id is missing")
	}
	if err := feed.CheckItemID(t.ID); err != nil {
		return feed.Errorf(feed.ErrInvalid, "bad item: %w", err)
	}
	switch {
	case feed.IsPost(t.ID):
		return feed.Errorf(feed.ErrInvalid, "bad item: it is a post, whose counts come as events (POST /v1/graph/events)")
	case t.Likes == nil && t.Comments == nil:
		return feed.Errorf(feed.ErrInvalid, "bad item: likes and comments are missing; give one of them or both")
	}
	if err := feed.CheckCounts(value(t.Likes), value(t.Comments)); err != nil {
		return err
	}
	b.told = append(b.told, t)
	return nil
}

// value dereferences a pointer; nil is 0.
func value(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// Put implements [intake.Batch].
func (b *countBatch) Put(ctx context.Context) ([]error, error) {
	all := b.told
	b.told = nil
	ids, latest := merged(all)
	of, err := persist(ctx, len(ids), func(left []int) ([]error, error) { return b.update(ctx, ids, left, latest) })
	byID := make(map[string]error, len(ids))
	for i, id := range ids {
		byID[id] = of[i]
	}
	errs := make([]error, len(all))
	for i := range all {
		errs[i] = byID[all[i].ID]
	}
	return errs, err
}

// update changes the items that are left.
func (b *countBatch) update(ctx context.Context, ids []string, left []int, latest map[string]told) ([]error, error) {
	some := those(ids, left)
	updated, err := b.w.Update(ctx, some, func(it feed.Item) (feed.Item, error) {
		it.Likes, it.Comments = latest[it.ID].counts(it)
		return it, nil
	})
	if err != nil {
		return nil, err
	}
	errs := make([]error, len(some))
	for k := range updated {
		errs[k] = updated[k].Err
	}
	return errs, nil
}

// merged are the entries by id, of two about one item what the later tells before what
// the earlier does.
func merged(all []told) (ids []string, latest map[string]told) {
	latest = make(map[string]told, len(all))
	for _, t := range all {
		before, twice := latest[t.ID]
		if !twice {
			ids = append(ids, t.ID)
		}
		t.Likes, t.Comments = cmp.Or(t.Likes, before.Likes), cmp.Or(t.Comments, before.Comments)
		latest[t.ID] = t
	}
	return ids, latest
}

// counts are those of an item with what is told of it.
func (t told) counts(it feed.Item) (likes, comments int64) {
	return *cmp.Or(t.Likes, &it.Likes), *cmp.Or(t.Comments, &it.Comments)
}
