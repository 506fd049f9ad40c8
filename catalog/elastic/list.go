package elastic

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/terms"
	"github.com/freshet/freshet/internal/esindex"
)

var (
	_ catalog.Lister = (*Catalog)(nil)
	_ catalog.Census = (*Catalog)(nil)

	_ catalog.LearnedAges = (*Catalog)(nil)
)

// List implements [catalog.Lister]. An index whose documents have no field for their
// ids cannot be sorted by them, so it is not listed.
func (c *Catalog) List(ctx context.Context, s catalog.Selection) (catalog.Page, error) {
	schema, err := c.schema.Get()
	if err != nil {
		return catalog.Page{}, c.contractError(err)
	}
	if schema.MetaID() {
		return catalog.Page{}, feed.Errorf(feed.ErrInvalid, "the items cannot be listed: the index has no field for their ids (elasticsearch.fields.id is _id)")
	}
	s.Limit = min(s.Limit, schema.MaxHits()-1)
	request := map[string]any{
		"size": s.Limit + 1, "track_total_hits": false,
		"query": map[string]any{"bool": map[string]any{"filter": selected(schema, &s)}},
		"sort":  sorts(schema),
	}
	if s.Cursor != "" {
		after, err := parseCursor(s.Cursor)
		if err != nil {
			return catalog.Page{}, err
		}
		request["search_after"] = append(after, slices.Repeat([]json.RawMessage{[]byte("null")}, len(sorts(schema))-len(after))...)
	}
	hits, err := c.either(ctx, schema, request, s.Posts, s.Limit+1)
	if err != nil {
		return catalog.Page{}, err
	}
	var page catalog.Page
	for i, h := range hits {
		if i == s.Limit {
			page.Next = cursor(&hits[i-1])
			break
		}
		if h.Broken {
			continue
		}
		id := h.sorted(1)
		data, err := h.itemJSON(schema, id)
		if err != nil {
			return catalog.Page{}, err
		}
		page.Items = append(page.Items, feed.Doc{ID: id, JSON: data})
	}
	return page, nil
}

// cursor returns the cursor of the page after a hit.
func cursor(h *hit) string {
	data, _ := json.Marshal(h.Sort[:2]) // the group, if any, never decides
	return base64.RawURLEncoding.EncodeToString(data)
}

// selected returns the filters of a selection.
func selected(schema *esindex.Schema, s *catalog.Selection) []map[string]any {
	within := map[string]json.RawMessage{}
	if s.Since != 0 {
		within["gte"] = schema.Time.Literal(s.Since)
	}
	if s.Before != 0 {
		within["lt"] = schema.Time.Literal(s.Before)
	}
	// A cursor needs both, and a foreign index may have documents without them.
	filters := []map[string]any{exists(schema.Fields.UpdateTime), exists(schema.Fields.ID)}
	if len(within) > 0 {
		filters[0] = map[string]any{"range": map[string]any{schema.Fields.UpdateTime: within}}
	}
	tags, tag := schema.Fields.Tags, s.Tag
	if schema.Folds() {
		tags, tag = esindex.FoldedTags, terms.Fold(tag)
	}
	for field, value := range map[string]string{schema.Fields.AuthorID: s.Author, tags: tag} {
		if value != "" {
			filters = append(filters, map[string]any{"term": map[string]string{field: value}})
		}
	}
	return append(filters, titled(schema, s.Words)...)
}

// titled matches the documents whose title has all these tokens, in the field of tokens if there is one.
func titled(schema *esindex.Schema, tokens []string) (filters []map[string]any) {
	for _, token := range tokens {
		if schema.Tokens {
			filters = append(filters, map[string]any{"term": map[string]string{schema.Fields.TitleTokens: token}})
		} else {
			filters = append(filters, map[string]any{"match": map[string]any{schema.Fields.Title: map[string]string{"query": token, "operator": "and"}}})
		}
	}
	return filters
}

// CountItems implements [catalog.Census].
func (c *Catalog) CountItems(ctx context.Context, bounds []int64) ([]int64, error) {
	counts := make([]int64, max(0, len(bounds)-1))
	schema, err := c.schema.Get()
	if err != nil || len(counts) == 0 {
		return counts, c.contractError(err)
	}
	between := make([]map[string]any, len(counts))
	for i := range counts {
		within := map[string]json.RawMessage{"gte": schema.Time.Literal(bounds[i]), "lt": schema.Time.Literal(bounds[i+1])}
		between[i] = map[string]any{"range": map[string]any{schema.Fields.UpdateTime: within}}
	}
	request := map[string]any{
		"size": 0, "track_total_hits": false,
		"query": map[string]any{"range": map[string]any{schema.Fields.UpdateTime: map[string]json.RawMessage{
			"gte": schema.Time.Literal(bounds[0]), "lt": schema.Time.Literal(bounds[len(counts)]),
		}}},
		"aggs": map[string]any{"items": map[string]any{"filters": map[string]any{"filters": between}}},
	}
	var found struct {
		Aggregations struct {
			Items struct {
				Buckets []struct {
					Count int64 `json:"doc_count"`
				} `json:"buckets"`
			} `json:"items"`
		} `json:"aggregations"`
	}
	if err := esindex.Ask(ctx, c.client, http.MethodPost, "/"+c.items+"/_search", "allow_partial_search_results=false", request, &found); err != nil {
		return nil, c.contractError(err)
	}
	if len(found.Aggregations.Items.Buckets) != len(counts) { // an index that has just been created has no shards yet
		return counts, nil
	}
	for i, b := range found.Aggregations.Items.Buckets {
		counts[i] = b.Count
	}
	return counts, nil
}

// exists matches the documents that have a field.
func exists(field string) map[string]any {
	return map[string]any{"exists": map[string]string{"field": field}}
}

// either returns n documents that are posts, or n that are not, or all there are. A cluster may refuse
// prefix queries (search.allow_expensive_queries); then it reads on until it has n.
func (c *Catalog) either(ctx context.Context, schema *esindex.Schema, request map[string]any, posts bool, n int) (found []hit, err error) {
	query := request["query"].(map[string]any)["bool"].(map[string]any)
	must := map[bool]string{true: "must", false: "must_not"}[posts]
	query[must] = map[string]any{"prefix": map[string]string{schema.Fields.ID: feed.PostPrefix}}
	hits, err := c.find(ctx, request)
	if !expensive(err) {
		return hits, err
	}
	delete(query, must)
	for size := n; ; size = max(n, min(schema.MaxHits(), 1000)) {
		request["size"] = size
		if hits, err = c.find(ctx, request); err != nil {
			return nil, err
		}
		for _, h := range hits {
			if strings.HasPrefix(h.sorted(1), feed.PostPrefix) == posts && len(found) < n {
				found = append(found, h)
			}
		}
		if len(found) == n || len(hits) < size {
			return found, nil
		}
		request["search_after"] = hits[len(hits)-1].Sort
	}
}

// expensive reports whether a query was refused as too expensive.
func expensive(err error) bool {
	var refused *esindex.Error
	return errors.As(err, &refused) && strings.Contains(refused.Reason, "search.allow_expensive_queries")
}

// parseCursor parses a cursor: the sort values of a page's last item.
func parseCursor(cursor string) ([]json.RawMessage, error) {
	var values []json.RawMessage
	data, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil {
		err = json.Unmarshal(data, &values)
	}
	isPair := err == nil && len(values) == 2
	if isPair && isNumber(values[0]) && isString(values[1]) {
		return values, nil
	}
	return nil, feed.Errorf(feed.ErrInvalid, "bad cursor: %.40q was not issued here; start again without a cursor", cursor)
}

// isNumber reports whether a value is a number that Elasticsearch accepts as a time.
func isNumber(value json.RawMessage) bool {
	f, err := strconv.ParseFloat(string(value), 64)
	return err == nil && math.Abs(f) < 1<<63
}

func isString(value json.RawMessage) bool { return value[0] == '"' }
