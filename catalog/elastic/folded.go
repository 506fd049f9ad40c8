package elastic

import (
	"context"
	"encoding/json"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
)

// foldAtOnce is the maximum number of documents rewritten by one call of [Catalog.Fold].
const foldAtOnce = 500

// Fold adds the folded tags and the language keys to documents that lack them, the newest
// first, starting after a position ("" for the start). It returns the number of documents found
// and the position to continue from, "" at the end. In an index without these fields, or in a
// foreign one, it does nothing.
func (c *Catalog) Fold(ctx context.Context, after string) (next string, n int, err error) {
	schema, err := c.schema.Get()
	if err != nil {
		return "", 0, c.contractError(err)
	}
	if !schema.Folds() || schema.MetaID() || schema.Partial {
		return "", 0, nil
	}
	request := map[string]any{
		"size": foldAtOnce, "track_total_hits": false, "_source": false,
		"query": map[string]any{"bool": map[string]any{
			"filter": []any{
				exists(schema.Fields.UpdateTime), exists(schema.Fields.ID),
				map[string]any{"bool": map[string]any{"should": []any{exists(schema.Fields.Tags), exists(schema.Fields.Lang)}}},
			},
			"must_not": exists(esindex.LangKeys),
		}},
		"sort": []any{map[string]string{schema.Fields.UpdateTime: "desc"}, map[string]string{schema.Fields.ID: "desc"}},
	}
	if after != "" {
		request["search_after"] = json.RawMessage(after)
	}
	hits, err := c.find(ctx, request)
	if err != nil || len(hits) == 0 {
		return "", 0, err
	}
	ids := make([]string, len(hits))
	for i := range hits {
		ids[i] = hits[i].sorted(1)
	}
	// A document that cannot be written stays as it was; its content decides what readers
	// refuse.
	if _, err := c.Update(ctx, ids, func(it feed.Item) (feed.Item, error) { return it, nil }); err != nil {
		return "", 0, err
	}
	if len(hits) < foldAtOnce {
		return "", len(hits), nil
	}
	place, err := json.Marshal(hits[len(hits)-1].Sort)
	return string(place), len(hits), err
}
