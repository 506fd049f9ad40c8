package elastic_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	catalogelastic "github.com/freshet/freshet/catalog/elastic"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
	recallelastic "github.com/freshet/freshet/recall/elastic"
)

// othersDocument is a document of an external index.
type othersDocument struct{ id, routing, source string }

// othersIndices are external indices in which indexed values differ from the source, or documents
// are not stored under their item's id. Each has eight items.
var othersIndices = map[string]struct {
	properties string // in addition to id, title and update_time
	mappings   string
	document   func(n int) othersDocument
}{
	"plain": {document: plainDocument},
	"a group with a normalizer": {properties: `"group_id": {"type": "keyword", "normalizer": "lower"}`, document: func(n int) othersDocument {
		return documentWith(n, fmt.Sprintf(`"group_id": "Story-%d"`, n))
	}},
	"a group by copy_to": {properties: `"group_id": {"type": "keyword"}, "story": {"type": "keyword", "copy_to": "group_id"}`, document: func(n int) othersDocument {
		return documentWith(n, fmt.Sprintf(`"story": "story-%d"`, n))
	}},
	"a group by null_value": {properties: `"group_id": {"type": "keyword", "null_value": "ungrouped"}`, document: func(n int) othersDocument {
		if n == 0 {
			return documentWith(n, `"group_id": null`)
		}
		return documentWith(n, fmt.Sprintf(`"group_id": "story-%d"`, n))
	}},
	"two groups": {properties: `"group_id": {"type": "keyword"}`, document: func(n int) othersDocument {
		return documentWith(n, fmt.Sprintf(`"group_id": ["b-%d", "a-%d"]`, n, n))
	}},
	"groups that are cut": {properties: `"group_id": {"type": "keyword", "ignore_above": 5}`, document: func(n int) othersDocument {
		return documentWith(n, fmt.Sprintf(`"group_id": "a-long-story-%d"`, n))
	}},
	"an id with a normalizer": {properties: `"id": {"type": "keyword", "normalizer": "lower"}`, document: func(n int) othersDocument {
		return othersDocument{id: fmt.Sprintf("D-%d", n), source: fmt.Sprintf(`{"id": "D-%d", "title": "T", "update_time": %d}`, n, 1000+n)}
	}},
	"an id with a normalizer that is the _id": {properties: `"id": {"type": "keyword", "normalizer": "lower"}`, document: func(n int) othersDocument {
		return othersDocument{id: fmt.Sprintf("d-%d", n), source: fmt.Sprintf(`{"id": "D-%d", "title": "T", "update_time": %d}`, n, 1000+n)}
	}},
	"ids by copy_to that are others' _id": {properties: `"ident": {"type": "keyword", "copy_to": "id"}`, document: func(n int) othersDocument {
		return othersDocument{id: fmt.Sprintf("d-%d", (n+1)%8), source: fmt.Sprintf(`{"ident": "d-%d", "title": "T", "update_time": %d}`, n, 1000+n)}
	}},
	"a group in two forms": {properties: `"st": {"properties": {"g": {"type": "keyword"}}}`, document: func(n int) othersDocument {
		return documentWith(n, fmt.Sprintf(`"st.g": "b-%d", "st": {"g": "a-%d"}`, n, n))
	}},
	"several languages and authors, and a vector": {
		properties: `"lang": {"type": "keyword"}, "author_id": {"type": "keyword"}, "vector": {"type": "dense_vector", "dims": 2}`,
		document: func(n int) othersDocument {
			return documentWith(n, `"lang": ["de", "en"], "author_id": ["a", "b"], "vector": [1, 2]`)
		},
	},
	"two ids": {document: func(n int) othersDocument {
		return othersDocument{id: fmt.Sprint(n), source: fmt.Sprintf(`{"id": ["b-%d", "a-%d"], "title": "T", "update_time": %d}`, n, n, 1000+n)}
	}},
	"ids that are others' _id": {document: func(n int) othersDocument {
		return othersDocument{id: fmt.Sprintf("d-%d", (n+1)%8), source: plainDocument(n).source}
	}},
	"a routing": {document: func(n int) othersDocument {
		return othersDocument{id: fmt.Sprintf("d-%d", n), routing: fmt.Sprint("by ", n%3), source: plainDocument(n).source}
	}},
	"a routing that is required": {mappings: `"_routing": {"required": true}, `, document: func(n int) othersDocument {
		return othersDocument{id: fmt.Sprintf("d-%d", n), routing: fmt.Sprint("by ", n%3), source: plainDocument(n).source}
	}},
	"a date by null_value": {properties: `"update_time": {"type": "date", "format": "epoch_second", "null_value": 900}`, document: func(n int) othersDocument {
		return othersDocument{id: fmt.Sprintf("d-%d", n), source: fmt.Sprintf(`{"id": "d-%d", "title": "T", "update_time": null}`, n)}
	}},
	"a date by copy_to": {properties: `"at": {"type": "date", "format": "epoch_second", "copy_to": "update_time"}`, document: func(n int) othersDocument {
		return othersDocument{id: fmt.Sprintf("d-%d", n), source: fmt.Sprintf(`{"id": "d-%d", "title": "T", "at": %d}`, n, 1000+n)}
	}},
	"dates of which one is not read": {properties: `"update_time": {"type": "date", "format": "dd MMM yyyy||epoch_second"}`, document: func(n int) othersDocument {
		return othersDocument{id: fmt.Sprintf("d-%d", n), source: fmt.Sprintf(`{"id": "d-%d", "title": "T", "update_time": [%d, "26 Sep 2016"]}`, n, n)}
	}},
	"fields that no word can be looked for in": {
		properties: `"tags": {"type": "integer"}, "author_id": {"type": "ip"}, "lang": {"type": "boolean"}, "summary": {"type": "text", "index": false}`,
		document: func(n int) othersDocument {
			return documentWith(n, `"tags": [7], "author_id": "10.0.0.1", "lang": true, "summary": "go"`)
		},
	},
	"values of other types": {properties: `"tags": {"type": "keyword"}`, document: func(n int) othersDocument {
		return documentWith(n, `"tags": "cats", "likes": "12", "comments": -5, "author_id": 7, "url": {}, "ID": "x", "in_feed": {"source": "promoted"}, "freshet_popularity":500`)
	}},
}

func plainDocument(n int) othersDocument { return documentWith(n, `"x": 1`) }

func documentWith(n int, more string) othersDocument {
	return othersDocument{id: fmt.Sprintf("d-%d", n), source: fmt.Sprintf(`{"id": "d-%d", "title": "T", "update_time": %d, %s}`, n, 1000+n, more)}
}

// TestRecallCandidatesReadable: however an external index stores its documents, each candidate
// can be read, with the id, group and time of the proposal, and can be listed, changed and
// removed. Searches must not request doc values.
func TestRecallCandidatesReadable(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	for name, index := range othersIndices {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(index.properties, "dense_vector") && testenv.OpenSearch(t) {
				t.Skip("OpenSearch has no such fields")
			}
			client, at := connect(t)
			properties := map[string]json.RawMessage{
				"id": json.RawMessage(`{"type": "keyword"}`), "title": json.RawMessage(`{"type": "text"}`), "update_time": json.RawMessage(`{"type": "date", "format": "epoch_second"}`),
			}
			require.NoError(t, json.Unmarshal([]byte("{"+index.properties+"}"), &properties))
			mapped, err := json.Marshal(properties)
			require.NoError(t, err)
			body := fmt.Sprintf(`{"settings": {"number_of_shards": 3, "max_docvalue_fields_search": 0, "analysis": {"normalizer": {"lower": {"type": "custom", "filter": ["lowercase"]}}}},
				"mappings": {%s"properties": %s}}`, index.mappings, mapped)
			require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+at, "", []byte(body), nil))
			for n := range 8 {
				d := index.document(n)
				query := url.Values{"refresh": {"true"}}
				if d.routing != "" {
					query.Set("routing", d.routing)
				}
				require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+at+"/_doc/"+url.PathEscape(d.id), query.Encode(), []byte(d.source), nil))
			}
			group := ""
			if strings.Contains(index.properties, `"st":`) {
				group = "st.g"
			}
			report, err := esindex.Inspect(t.Context(), client, at, esindex.Fields{GroupID: group})
			require.NoError(t, err)
			require.NoError(t, report.Err())
			report.Schema.Others = true
			schema := esindex.Known(report.Schema)
			c := catalogelastic.New(client, catalogelastic.Config{Index: at, Schema: schema})
			source := recallelastic.New(client, recallelastic.Config{Index: at, Schema: schema})
			checkRead(t, c, source)
		})
	}
}

func checkRead(t *testing.T, c *catalogelastic.Catalog, source *recallelastic.Source) {
	t.Helper()
	query := feed.Query{N: 100, Origin: time.Unix(2_000_000_000, 0), Ranking: feed.Ranking{Base: 1, Decay: feed.Decay{Scale: time.Hour, Decay: 0.5}}}
	recalled, err := source.Recall(t.Context(), query)
	require.NoError(t, err)
	require.Len(t, recalled.Candidates, 8)
	query.Profile = feed.Profile{
		Interests: map[string]float64{"go": 1}, Keywords: feed.Keywords("go"), MutedTags: []string{"no"}, MutedAuthors: []string{"no one"}, MutedItems: []string{"none"},
	}
	mine, err := source.Recall(t.Context(), query)
	require.NoError(t, err, "whatever a profile asks for")
	require.Len(t, mine.Candidates, 8)
	var ids []string
	for _, candidate := range recalled.Candidates {
		ids = append(ids, candidate.ID)
	}
	docs, err := c.Docs(t.Context(), ids)
	require.NoError(t, err)
	for i, candidate := range recalled.Candidates {
		require.False(t, docs[i].Missing(), "%s", candidate.ID)
		it, err := docs[i].Item()
		require.NoError(t, err, "%s", docs[i].JSON)
		assert.Equal(t, candidate.ID, it.ID)
		assert.Equal(t, candidate.Group, it.Group())
		assert.Equal(t, candidate.UpdateTime, it.UpdateTime)
		assert.NotContains(t, string(docs[i].JSON), "in_feed")
		assert.NotEqual(t, "de", it.Lang, "it is in English, too")
	}
	var listed []feed.Doc
	for next, more := "", true; more; more = next != "" {
		page, err := c.List(t.Context(), catalog.Selection{Limit: 3, Cursor: next})
		require.NoError(t, err)
		listed, next = append(listed, page.Items...), page.Next
	}
	assert.ElementsMatch(t, docs, listed)

	updated, err := c.Update(t.Context(), ids[:1], func(it feed.Item) (feed.Item, error) { it.Title = "New"; return it, nil })
	require.NoError(t, err)
	require.NoError(t, updated[0].Err)
	require.NoError(t, c.Refresh(t.Context()))
	docs, err = c.Docs(t.Context(), ids[:1])
	require.NoError(t, err)
	assert.Contains(t, string(docs[0].JSON), `"New"`)
	for _, id := range ids {
		require.NoError(t, c.Remove(t.Context(), id), id)
	}
	docs, err = c.Docs(t.Context(), ids)
	require.NoError(t, err)
	for _, d := range docs {
		assert.True(t, d.Missing(), d.ID)
	}
}

// TestItemManyDocuments checks that they do not displace other items from an answer.
func TestItemManyDocuments(t *testing.T) {
	t.Parallel()
	c, client, index := existing(t, mapped, `{"type": "date"}`)
	ids := []string{"copied"}
	for n := range 60 {
		put(t, client, index, fmt.Sprint("copy-", n), fmt.Sprintf(`{"doc_id": "copied", "headline": "C", "published_at": %d}`, 90_000+n))
	}
	for n := range 4 {
		ids = append(ids, fmt.Sprint("other-", n))
		put(t, client, index, fmt.Sprint("_", n), fmt.Sprintf(`{"doc_id": "other-%d", "headline": "O", "published_at": 1000}`, n))
	}
	require.NoError(t, c.Refresh(t.Context()))
	docs, err := c.Docs(t.Context(), ids)
	require.NoError(t, err)
	for _, d := range docs {
		require.False(t, d.Missing(), d.ID)
	}
}

// TestItemTagsInTwoForms: if a document has tags in two forms, the item has all of them.
func TestItemTagsInTwoForms(t *testing.T) {
	t.Parallel()
	names := mapped
	names.Tags = "labels.name"
	c, client, index := existing(t, names, `{"type": "date"}`)
	put(t, client, index, "a", `{"doc_id": "a", "headline": "A", "published_at": 1000, "labels.name": "dogs", "labels": [{"name": "cats"}, {"name": ["birds"], "color": "red"}]}`)
	docs, err := c.Docs(t.Context(), []string{"a"})
	require.NoError(t, err)
	it, err := docs[0].Item()
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"dogs", "cats", "birds"}, it.Tags)
}

// TestPutKeepsOtherDocuments puts an item while another item's document has its id as _id.
func TestPutKeepsOtherDocuments(t *testing.T) {
	t.Parallel()
	c, client, index := existing(t, mapped, `{"type": "date"}`)
	put(t, client, index, "new", `{"doc_id": "old", "headline": "Old", "published_at": 1000}`)
	require.NoError(t, c.Refresh(t.Context()))
	errs, err := c.Put(t.Context(), []feed.Item{{ID: "new", Title: "New", UpdateTime: 1}})
	require.NoError(t, err)
	require.Empty(t, errs)
	require.NoError(t, c.Refresh(t.Context()))
	docs, err := c.Docs(t.Context(), []string{"old", "new"})
	require.NoError(t, err)
	require.Contains(t, string(docs[0].JSON), `"Old"`)
	require.Contains(t, string(docs[1].JSON), `"New"`)
	require.NoError(t, c.Remove(t.Context(), "new"))
	docs, err = c.Docs(t.Context(), []string{"old", "new"})
	require.NoError(t, err)
	require.False(t, docs[0].Missing())
	require.True(t, docs[1].Missing())
}

// TestPutTwice puts an item twice before a refresh: it must have one document, even if
// ids have a normalizer.
func TestPutTwice(t *testing.T) {
	t.Parallel()
	client, at := connect(t)
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+at, "", []byte(
		`{"settings": {"refresh_interval": -1, "analysis": {"normalizer": {"lower": {"type": "custom", "filter": ["lowercase"]}}}},
		"mappings": {"properties": {"id": {"type": "keyword", "normalizer": "lower"}, "title": {"type": "text"}, "update_time": {"type": "date"}}}}`), nil))
	report, err := esindex.Inspect(t.Context(), client, at, esindex.Fields{})
	require.NoError(t, err)
	report.Schema.Others = true
	c := catalogelastic.New(client, catalogelastic.Config{Index: at, Schema: esindex.Known(report.Schema)})
	for range 3 {
		errs, err := c.Put(t.Context(), []feed.Item{{ID: "a", Title: "A", UpdateTime: 1}})
		require.NoError(t, err)
		require.Empty(t, errs)
	}
	require.NoError(t, c.Refresh(t.Context()))
	page, err := c.List(t.Context(), catalog.Selection{Limit: 10})
	require.NoError(t, err)
	require.Len(t, page.Items, 1)
}
