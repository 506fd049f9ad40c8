package elastic

import (
	"context"
	"slices"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/internal/esindex"
)

// Agents draws n of those who have a profile, as offline.Source says, by
// Elasticsearch's random_score. A profile is there once its index has refreshed.
func (c *Catalog) Agents(ctx context.Context, n int, seed int64) ([]string, error) {
	// Drawn by the number of each document's last change: _id would need
	// fielddata, which clusters may forbid, and no other field is indexed.
	random := map[string]any{"seed": seed, "field": "_seq_no"}
	var got struct {
		Hits struct {
			Hits []esindex.Document `json:"hits"`
		} `json:"hits"`
	}
	err := c.do(ctx, "/"+c.agents+"/_search", "allow_partial_search_results=false", map[string]any{
		"size": n, "_source": []string{"learned.alone", "learned.features.kind"}, "track_total_hits": false,
		"query": map[string]any{"function_score": map[string]any{"random_score": random, "boost_mode": "replace"}},
	}, &got)
	if esindex.Missing(err) {
		return []string{}, nil
	}
	if err != nil {
		return nil, err
	}
	ids := make([]string, 0, len(got.Hits.Hits))
	for _, hit := range got.Hits.Hits {
		// One that is not known was erased.
		if r, err := catalog.ParseRecord(hit.Source); err != nil || r.Known() {
			ids = append(ids, hit.ID)
		}
	}
	slices.Sort(ids)
	return ids, nil
}
