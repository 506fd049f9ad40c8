package elastic

import (
	"context"
	"strconv"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/internal/esindex"
)

// LearnedAges implements [catalog.LearnedAges] in the order of the last writes: ids cannot be sorted by, and
// no field of a record is indexed. Numbers of writes are unique only within a shard, so a page begins with
// those of the number at which the one before ended.
func (c *Catalog) LearnedAges(ctx context.Context, after string, n int) (list []catalog.LearnedAge, next string, err error) {
	from, _ := strconv.ParseInt(after, 10, 64)
	hits, err := esindex.Search[esindex.Document](ctx, c.client, c.agents, "seq_no_primary_term=true&", map[string]any{
		"size": n, "_source": []string{"learning.at", "learning.acts"}, "track_total_hits": false,
		"query": map[string]any{"range": map[string]any{"_seq_no": map[string]int64{"gte": from}}},
		"sort":  []any{map[string]string{"_seq_no": "asc"}},
	})
	if esindex.Missing(err) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", c.contractError(err)
	}
	last := from
	for _, hit := range hits {
		last = hit.SeqNo
		if one, ok := catalog.LearnedAgeOf(hit.ID, hit.Source); ok {
			list = append(list, one)
		}
	}
	if len(hits) < n {
		return list, "", nil
	}
	if last == from { // more shards than documents of a page
		last++
	}
	return list, strconv.FormatInt(last, 10), nil
}
