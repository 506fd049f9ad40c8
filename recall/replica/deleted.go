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
// contents does not find them ([Source.Missing]), and otherwise by a comparison of all ids, which
// is due when the copy has more items than the index, and every hour. It takes at most a hundredth
// of the time.
const (
	compareShare = 100
	comparePause = 10 * time.Second // at least
	compareEvery = time.Hour
	checkAtOnce  = 1000 // ids
	idsAtOnce    = 10_000
)

// comparison is when the ids were compared last.
type comparison struct {
	at   time.Time
	took time.Duration
}

// due reports whether to compare now; more means that the copy has more items than the index.
func (c *comparison) due(now time.Time, more bool) bool {
	since := now.Sub(c.at)
	return since >= compareEvery || more && since >= max(comparePause, compareShare*c.took)
}

// removeDeleted removes the items that the index no longer has, as far as they are known or a
// comparison is due.
func (f *follower) removeDeleted(ctx context.Context, s *esindex.Schema, now *state) error {
	suspects := f.takeMissing()
	began := f.cfg.Clock()
	if f.copied.whole && f.compared.due(began, f.copied.index.Len() > now.items) {
		gone, err := f.notListed(ctx, s, now)
		if err != nil {
			return err
		}
		maps.Copy(gone, suspects)
		suspects, f.compared = gone, comparison{at: began, took: f.cfg.Clock().Sub(began)}
	}
	if len(suspects) == 0 {
		return nil
	}
	// Searches must see items that were created before their ids were looked for.
	if err := f.refresh(ctx); err != nil {
		f.Missing(slices.Collect(maps.Keys(suspects)))
		return err
	}
	for some := range slices.Chunk(slices.Collect(maps.Keys(suspects)), min(checkAtOnce, s.MaxTerms(), s.MaxHits())) {
		if err := f.removeUnknown(ctx, s, some); err != nil {
			f.Missing(some)
			return err
		}
	}
	return nil
}

// removeUnknown removes those items from the copy that the index does not have. One that is
// created later has a higher sequence number than those read so far.
func (f *follower) removeUnknown(ctx context.Context, s *esindex.Schema, ids []string) error {
	unknown := make(map[string]struct{}, len(ids))
	for _, id := range ids {
		unknown[id] = struct{}{}
	}
	request := object{
		"size": len(ids), "_source": false, "docvalue_fields": []string{s.Fields.ID}, "track_total_hits": false,
		"query": object{"bool": object{"filter": object{"terms": object{s.Fields.ID: ids}}}},
	}
	const params = "allow_partial_search_results=false&filter_path=error,status,hits.hits.fields"
	err := f.search(ctx, params, request, func(hits []*fastjson.Value) error {
		for _, h := range hits {
			delete(unknown, idOf(h, s))
		}
		return nil
	})
	if err == nil {
		f.copied.remove(unknown)
	}
	return err
}

// notListed returns the ids in the copy that a list of all documents lacks. Some may belong to
// documents that changed while it was read.
func (f *follower) notListed(ctx context.Context, s *esindex.Schema, now *state) (map[string]struct{}, error) {
	left := make(map[string]struct{}, f.copied.index.Len())
	for id := range f.copied.index.IDs() {
		left[id] = struct{}{}
	}
	for shard, checkpoint := range now.checkpoints {
		for of := (span{after: -1, to: checkpoint}); of.after < of.to; {
			size, hits := min(idsAtOnce, s.MaxHits()), 0
			request := object{"size": size, "_source": false, "docvalue_fields": []string{s.Fields.ID}}
			err := f.searchShard(ctx, shard, of, request, func(all []*fastjson.Value) error {
				hits, of.after = len(all), lastChange(all)
				for _, h := range all {
					delete(left, idOf(h, s))
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
			if hits < size {
				break
			}
		}
	}
	return left, nil
}

// idOf returns the id of a hit whose doc values were requested.
func idOf(h *fastjson.Value, s *esindex.Schema) string {
	return string(h.GetStringBytes("fields", s.Fields.ID, strconv.Itoa(0)))
}
