package elastic

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/freshet/freshet/internal/esindex"
)

// prune removes what was deleted since it was copied. Every document of the old
// index is in the new one, so where both have as many they are the same.
func (u *upgrade) prune(ctx context.Context) error {
	if err := u.do(ctx, http.MethodPost, "/"+u.into+"/_refresh", nil, nil); err != nil {
		return err
	}
	var counts [2]int
	for i, index := range []string{u.from, u.into} {
		var answer struct {
			Count int `json:"count"`
		}
		if err := u.do(ctx, http.MethodGet, "/"+index+"/_count", nil, into(&answer)); err != nil {
			return err
		}
		counts[i] = answer.Count
	}
	u.items = counts[0]
	if counts[0] == counts[1] {
		return nil
	}
	return u.scan(ctx, u.into, "", map[string]any{"match_all": struct{}{}}, false, func(docs []esindex.Document) error { return u.removeGone(ctx, docs) })
}

// removeGone removes those of the documents that the old index has no more. A read
// by id sees every deletion.
func (u *upgrade) removeGone(ctx context.Context, docs []esindex.Document) error {
	ids := make([]esindex.DocID, len(docs))
	for i, doc := range docs {
		ids[i] = esindex.DocID{Index: u.from, ID: doc.ID}
	}
	kept, err := esindex.Get(ctx, u.client, ids)
	if err != nil {
		return err
	}
	var b bulk
	for i := range kept {
		if err := kept[i].Err(); err != nil {
			return err
		}
		if len(kept[i].Source) == 0 {
			b.add("delete", docs[i].ID, nil, i)
		}
	}
	if len(b.of) == 0 {
		return nil
	}
	return u.send(ctx, &b)
}

// scan gives the documents that a query finds, 1,000 at a time, as of one point in
// time.
func (u *upgrade) scan(ctx context.Context, index, preference string, query any, source bool, fn func([]esindex.Document) error) error {
	var point struct {
		ID string `json:"id"`
	}
	params := url.Values{"keep_alive": {"5m"}}
	if preference != "" {
		params.Set("preference", preference)
	}
	if err := esindex.Do(ctx, u.client, http.MethodPost, "/"+index+"/_pit", params.Encode(), nil, into(&point)); err != nil {
		return err
	}
	defer func() {
		request, _ := json.Marshal(point)
		_ = esindex.Do(ctx, u.client, http.MethodDelete, "/_pit", "", request, nil)
	}()
	request := map[string]any{
		"size": 1000, "track_total_hits": false, "pit": map[string]string{"id": point.ID, "keep_alive": "5m"},
		"sort": []map[string]string{{"_shard_doc": "asc"}}, "query": query, "_source": source,
	}
	for {
		var got sortedHits
		body, err := json.Marshal(request)
		if err != nil {
			return err
		}
		if err := esindex.Do(ctx, u.client, http.MethodPost, "/_search", "allow_partial_search_results=false", body, into(&got)); err != nil {
			return err
		}
		if len(got.Hits.Hits) == 0 {
			return nil
		}
		docs := make([]esindex.Document, len(got.Hits.Hits))
		for i, hit := range got.Hits.Hits {
			docs[i], request["search_after"] = hit.Document, hit.Sort
		}
		if err := fn(docs); err != nil {
			return err
		}
	}
}
