package elastic

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
)

// Scan implements [catalog.Scanner], over a point in time taken after a
// refresh.
func (c *Catalog) Scan(ctx context.Context, fn func(feed.Item) error) error {
	schema, err := c.schema.Get()
	if err != nil {
		return c.contractError(err)
	}
	if err := c.Refresh(ctx); err != nil {
		return err
	}
	var point struct {
		ID string `json:"id"`
	}
	keep := url.Values{"keep_alive": {"2m"}}.Encode()
	if err := c.do(ctx, "/"+c.items+"/_pit", keep, nil, &point); err != nil {
		return err
	}
	defer func() {
		request, _ := json.Marshal(point)
		_ = esindex.Do(ctx, c.client, http.MethodDelete, "/_pit", "", request, nil)
	}()
	var after json.RawMessage
	for {
		hits, last, err := c.scanPage(ctx, point.ID, after)
		if err != nil {
			return err
		}
		if len(hits) == 0 {
			return nil
		}
		for _, hit := range hits {
			it, err := readItem(schema, hit.ID, hit.Source)
			if err != nil {
				return err
			}
			if err := fn(it); err != nil {
				return err
			}
		}
		after = last
	}
}

// sortedHits is the answer to a sorted search.
type sortedHits struct {
	Hits struct {
		Hits []struct {
			esindex.Document
			Sort json.RawMessage `json:"sort"` // where the next search goes on
		} `json:"hits"`
	} `json:"hits"`
}

func (c *Catalog) scanPage(ctx context.Context, point string, after json.RawMessage) (hits []esindex.Document, last json.RawMessage, err error) {
	request := map[string]any{
		"size": 1000, "track_total_hits": false, "pit": map[string]string{"id": point, "keep_alive": "2m"},
		"sort": []map[string]string{{"_shard_doc": "asc"}},
	}
	if after != nil {
		request["search_after"] = after
	}
	var got sortedHits
	err = c.do(ctx, "/_search", "allow_partial_search_results=false", request, &got)
	for _, hit := range got.Hits.Hits {
		hits, last = append(hits, hit.Document), hit.Sort
	}
	return hits, last, err
}
