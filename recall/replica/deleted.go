package replica

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/valyala/fastjson"

	"github.com/freshet/freshet/internal/esindex"
)

// Deleted documents are not found by their sequence numbers. They leave the copy when a read of
// contents does not find them ([Source.Missing]), and otherwise by a comparison of all ids. That is
// due every hour, and earlier when the copy has more items than the index; it is spread over several
// looks and takes about a hundredth of the time.
const (
	compareShare = 100
	comparePause = 10 * time.Second // at least
	compareEvery = time.Hour
	comparePages = 3 // in a look
	idsAtOnce    = 10_000
	checkAtOnce  = 1000 // ids
)

// comparison compares the ids of the copy with a list of all documents.
type comparison struct {
	at   time.Time // when the last one began, or the copy was complete
	took time.Duration
	left map[string]struct{} // the ids not found yet; nil if none is under way
	read []int64             // per shard: listed up to this number
}

// due reports whether to begin a comparison; more means that the copy has more items than the index.
func (c *comparison) due(now time.Time, more bool) bool {
	since := now.Sub(c.at)
	return since >= compareEvery || more && since >= max(comparePause, compareShare*c.took)
}

// removeDeleted removes the items that the index no longer has, as far as they are known, and
// continues a comparison.
func (f *follower) removeDeleted(ctx context.Context, s *esindex.Schema, now *state, more bool) error {
	suspects := f.takeMissing()
	maps.DeleteFunc(suspects, func(id string, _ struct{}) bool { return !f.copied.index.Has(id) })
	began := f.cfg.Clock()
	c := &f.compared
	if c.left == nil && c.due(began, more) {
		*c = comparison{at: began, left: map[string]struct{}{}, read: slices.Repeat([]int64{-1}, len(now.shards))}
		for id := range f.copied.index.IDs() {
			c.left[id] = struct{}{}
		}
	}
	gone, err := f.compare(ctx, s, now)
	c.took += f.cfg.Clock().Sub(began)
	if err != nil {
		f.Missing(slices.Collect(maps.Keys(suspects)))
		return err
	}
	all := slices.Concat(slices.Collect(maps.Keys(suspects)), gone)
	if len(all) == 0 {
		return nil
	}
	// Searches must see items that were created before their ids were looked for.
	if err := f.refresh(ctx, now); err != nil {
		f.Missing(all)
		return err
	}
	for some := range slices.Chunk(all, min(checkAtOnce, s.MaxTerms(), s.MaxHits())) {
		if err := f.removeUnknown(ctx, s, now, some); err != nil {
			f.Missing(all)
			return err
		}
	}
	return nil
}

// removeUnknown removes those items from the copy that the index does not have. One that is
// created later has a higher sequence number than those read so far.
func (f *follower) removeUnknown(ctx context.Context, s *esindex.Schema, now *state, ids []string) error {
	unknown := make(map[string]struct{}, len(ids))
	for _, id := range ids {
		unknown[id] = struct{}{}
	}
	for number, shard := range now.shards {
		request := listing(s, len(ids))
		request["query"] = object{"bool": object{"filter": object{"terms": object{s.Fields.ID: ids}}}}
		request["sort"] = []string{"_seq_no"}
		err := f.search(ctx, place{number, shard.node}, request, func(hits []*fastjson.Value) error {
			for _, h := range hits {
				delete(unknown, idOf(h, s))
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	f.copied.remove(slices.Collect(maps.Keys(unknown)))
	return nil
}

// compare continues a comparison. At its end it returns the ids in the copy that the list lacks;
// some may belong to documents that changed meanwhile.
func (f *follower) compare(ctx context.Context, s *esindex.Schema, now *state) (gone []string, err error) {
	c := &f.compared
	if c.left == nil {
		return nil, nil
	}
	pages, size := 0, min(idsAtOnce, s.MaxHits())
	for number, shard := range now.shards {
		for ; c.read[number] < shard.checkpoint; pages++ {
			if pages == comparePages {
				return nil, nil
			}
			err := f.changes(ctx, place{number, shard.node}, span{after: c.read[number], to: shard.checkpoint}, listing(s, size), func(hits []*fastjson.Value) error {
				for _, h := range hits {
					delete(c.left, idOf(h, s))
				}
				c.read[number] = shard.checkpoint
				if len(hits) == size {
					c.read[number] = lastChange(hits)
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
	}
	gone = slices.Collect(maps.Keys(c.left))
	c.left, c.read = nil, nil
	return gone, nil
}

// listing returns a search for the ids of documents.
func listing(s *esindex.Schema, size int) object {
	return object{"size": size, "_source": false, "docvalue_fields": []string{s.Fields.ID}}
}

// idOf returns the id of a hit of a [listing].
func idOf(h *fastjson.Value, s *esindex.Schema) string {
	return string(h.GetStringBytes("fields", s.Fields.ID, strconv.Itoa(0)))
}
