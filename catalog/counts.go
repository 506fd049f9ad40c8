package catalog

import (
	"cmp"
	"context"
	"io"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/feed/strictjson"
	"github.com/freshet/freshet/internal/ndjson"
)

// Counts reads likes and comments of stored items from r, as {"id","likes","comments"} in
// NDJSON or one JSON array, and changes only these two fields. The numbers are absolute; an
// omitted one keeps its value. Live popularity is preserved.
//
// An entry for an item that is not stored, or for a post, is rejected and the others are
// processed. Of two entries for one item the later one wins. In all other respects it works
// like [Ingest.Read].
func (in *Ingest) Counts(ctx context.Context, r io.Reader) (api.Upload, error) {
	return ndjson.Read(ctx, r, items, in.cfg.Config, &countBatch{w: in.w})
}

// countBatch is an [ndjson.Batch] of counts.
type countBatch struct {
	named
	w      Writer
	counts []reportedCounts
}

// reportedCounts holds the counts of an item as reported by another system.
type reportedCounts struct {
	ID       string `json:"id"`
	Likes    *int64 `json:"likes"`
	Comments *int64 `json:"comments"`
}

// Add implements [ndjson.Batch].
func (b *countBatch) Add(_ int, data []byte) (string, error) {
	var t reportedCounts
	if err := strictjson.Unmarshal(data, &t, strictjson.Errors{"": feed.Errorf(feed.ErrInvalid, "bad item")}); err != nil {
		return peekID(data), err
	}
	return t.ID, b.keep(t)
}

func (b *countBatch) keep(t reportedCounts) error {
	if t.ID == "" {
		return feed.Errorf(feed.ErrInvalid, "bad item: id is missing")
	}
	if err := feed.CheckItemID(t.ID); err != nil {
		return feed.Errorf(feed.ErrInvalid, "bad item: %w", err)
	}
	switch {
	case feed.IsPost(t.ID):
		return feed.Errorf(feed.ErrInvalid, "bad item: it is a post; send its counts as events (POST /v1/graph/events)")
	case t.Likes == nil && t.Comments == nil:
		return feed.Errorf(feed.ErrInvalid, "bad item: likes and comments are missing; send at least one of them")
	}
	if err := feed.CheckCounts(*cmp.Or(t.Likes, new(int64)), *cmp.Or(t.Comments, new(int64))); err != nil {
		return err
	}
	b.counts = append(b.counts, t)
	return nil
}

// Put implements [ndjson.Batch]. Of two entries for one item, the values of the later one take
// precedence.
func (b *countBatch) Put(ctx context.Context) ([]error, error) {
	var each []reportedCounts // one per item
	at := make(map[string]int, len(b.counts))
	for _, t := range b.counts {
		i, twice := at[t.ID]
		if !twice {
			i, each = len(each), append(each, t)
			at[t.ID] = i
		}
		each[i].Likes, each[i].Comments = cmp.Or(t.Likes, each[i].Likes), cmp.Or(t.Comments, each[i].Comments)
	}
	of, err := persist(ctx, len(each), func(left []int) ([]error, error) {
		return updateEach(ctx, b.w, pick(each, left), func(t reportedCounts) string { return t.ID }, func(t reportedCounts, it feed.Item) (feed.Item, error) {
			it.SetCounts(t.Likes, t.Comments)
			return it, nil
		})
	})
	errs := make([]error, len(b.counts))
	for i, t := range b.counts {
		errs[i] = of[at[t.ID]]
	}
	b.counts = nil
	return errs, err
}
