package esindex_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
)

// TestTells checks which mappings have fields with more or other values than the document.
func TestTells(t *testing.T) {
	t.Parallel()
	tags := feed.Profile{MutedTags: []string{"go"}}
	for name, c := range map[string]struct {
		properties string
		settings   string
		tags       string // elasticsearch.fields.tags
		told       bool
	}{
		"a keyword":           {properties: `"tags": {"type": "keyword"}`, told: true},
		"no such field":       {properties: `"more": {"type": "keyword"}`, told: true},
		"a sub-field":         {properties: `"topics": {"type": "text", "fields": {"raw": {"type": "keyword"}}}`, tags: "topics.raw", told: true},
		"an alias":            {properties: `"topics": {"type": "keyword"}, "tags": {"type": "alias", "path": "topics"}`, told: true},
		"a normalizer":        {properties: `"tags": {"type": "keyword", "normalizer": "lowercase"}`},
		"of a sub-field":      {properties: `"topics": {"type": "text", "fields": {"raw": {"type": "keyword", "normalizer": "lowercase"}}}`, tags: "topics.raw"},
		"copied to":           {properties: `"tags": {"type": "keyword"}, "cat": {"type": "keyword", "copy_to": "tags"}`},
		"copied from within":  {properties: `"tags": {"type": "keyword"}, "a": {"properties": {"b": {"type": "keyword", "copy_to": ["x", "tags"]}}}`},
		"copied to the field": {properties: `"topics": {"type": "text", "fields": {"raw": {"type": "keyword"}}}, "cat": {"type": "keyword", "copy_to": "topics"}`, tags: "topics.raw"},
		"copied to the alias": {properties: `"topics": {"type": "keyword"}, "tags": {"type": "alias", "path": "topics"}, "cat": {"type": "keyword", "copy_to": "topics"}`},
		"constant":            {properties: `"tags": {"type": "constant_keyword", "value": "go"}`},
		"for no value":        {properties: `"tags": {"type": "keyword", "null_value": "go"}`},
		"a script":            {properties: `"tags": {"type": "keyword", "script": {"source": "emit('go')"}}`},
		"computed":            {properties: `"tags": {"type": "keyword"}`, settings: `"runtime": {"tags": {"type": "keyword", "script": {"source": "emit('go')"}}},`},
		"a text":              {properties: `"tags": {"type": "text"}`},
		"a number":            {properties: `"tags": {"type": "long"}`, told: true},
		"a flattened field":   {properties: `"meta": {"type": "flattened"}`, tags: "meta.tags"},
		"left out":            {properties: `"tags": {"type": "keyword"}`, settings: `"_source": {"excludes": ["tags"]},`},
	} {
		t.Run(name, func(t *testing.T) {
			answer := canned(`{"x": {"mappings": {` + c.settings + `"properties": {"id": {"type": "keyword"}, "update_time": {"type": "date"}, ` + c.properties + `}}}}`)
			report, err := esindex.Inspect(t.Context(), answer, "x", esindex.Fields{Tags: c.tags})
			require.NoError(t, err)
			require.NoError(t, report.Err())
			assert.Equal(t, c.told, report.Schema.ContentDecides(&tags))
			assert.True(t, report.Schema.ContentDecides(&feed.Profile{Interests: map[string]float64{"go": 1}}), "nothing is refused")
		})
	}
	for i, p := range []feed.Profile{{MutedItems: []string{"a"}}, {MutedAuthors: []string{"a"}}, tags, {Langs: []string{"en"}}} {
		for k, u := range []esindex.Refusing{esindex.ByGroup, esindex.ByAuthor, esindex.ByTags, esindex.ByLang} {
			assert.Equal(t, i != k, esindex.Schema{Untold: u}.ContentDecides(&p), "profile %d, field %d", i, k)
		}
	}
}

// TestWindow checks that the smallest index.max_result_window limits the hits of a search of all
// indices.
func TestWindow(t *testing.T) {
	t.Parallel()
	client, index := connect(t)
	properties := `"mappings": {"properties": {"id": {"type": "keyword"}, "update_time": {"type": "date"}, "tags": {"type": "keyword"}}}`
	send(t, client, http.MethodPut, "/"+index+"-1", `{"settings": {"index.max_result_window": 70}, `+properties+`}`)
	send(t, client, http.MethodPut, "/"+index+"-2", `{"settings": {"index.max_result_window": 50}, `+properties+`}`)
	send(t, client, http.MethodPut, "/"+index+"-3", `{`+properties+`}`)
	for name, want := range map[string]int{index + "-1": 70, index + "-*": 50, index + "-3": 10_000} {
		report, err := esindex.Inspect(t.Context(), client, name, esindex.Fields{})
		require.NoError(t, err)
		require.NoError(t, report.Err(), "windows are no difference of the mappings")
		assert.Equal(t, want, report.Schema.MaxHits(), name)
	}
}

// TestGetSkipsDamagedDocuments checks that broken documents are skipped, whatever their position
// among the ids.
func TestGetSkipsDamagedDocuments(t *testing.T) {
	t.Parallel()
	client, index := connect(t)
	send(t, client, http.MethodPut, "/"+index, `{"mappings": {"dynamic": false}}`)
	var ids []esindex.DocID
	for _, id := range []string{"a", "b", "broken1", "none", "c", "broken2", "d"} {
		ids = append(ids, esindex.DocID{Index: index, ID: id})
		switch id {
		case "none":
		case "broken1", "broken2":
			testenv.PutYAML(t, client, index, id, "title: t\nrating: .nan\n")
		default:
			send(t, client, http.MethodPut, "/"+index+"/_doc/"+id, `{"n": 1.50}`)
		}
	}
	docs, err := esindex.Get(t.Context(), client, ids)
	require.NoError(t, err)
	require.Len(t, docs, len(ids))
	for i, id := range ids {
		broken := id.ID == "broken1" || id.ID == "broken2"
		assert.Equal(t, id.ID, docs[i].ID)
		assert.Equal(t, broken, docs[i].Broken, id.ID)
		if broken || id.ID == "none" {
			assert.Empty(t, docs[i].Source)
		} else {
			assert.Equal(t, json.RawMessage(`{"n": 1.50}`), docs[i].Source)
		}
		require.NoError(t, docs[i].Err())
	}
}

// TestISOTimes parses the times that strict_date_optional_time accepts.
func TestISOTimes(t *testing.T) {
	f := timeField(t, `{"type":"date"}`, "")
	for text, want := range map[string]int64{
		`"2026"`: 1767225600, `"2026-11"`: 1793491200, `"2026-11-25"`: 1795564800, `"2026-11-25T09"`: 1795597200, `"2026-11-25T09Z"`: 1795597200,
		`"2026-11-25T09:30"`: 1795599000, `"2026-11-25T09:30+0530"`: 1795579200, `"2026-11-25T09:30:00.5+05:30"`: 1795579200,
		`"2026-11-25T09:30:00+0000"`: 1795599000, `"2026-11-25T09:30:00+00"`: 1795599000, `2026`: 1767225600, `1795599000123`: 1795599000,
	} {
		got, err := f.FromSource(json.RawMessage(text))
		require.NoError(t, err, text)
		assert.Equal(t, want, got, text)
	}
}

// TestSearchUnsearchableField checks that a field which cannot be searched for a word is not
// searched, and that the report says so. Other fields are.
func TestSearchUnsearchableField(t *testing.T) {
	t.Parallel()
	for mapping, searched := range map[string]bool{
		`{"type": "keyword"}`:                                      true,
		`{"type": "keyword", "index": false}`:                      true, // searched by doc values
		`{"type": "keyword", "doc_values": false}`:                 true,
		`{"type": "wildcard"}`:                                     true,
		`{"type": "text"}`:                                         true,
		`{"type": "flattened"}`:                                    true,
		`{"type": "keyword", "index": false, "doc_values": false}`: false,
		`{"type": "text", "index": false}`:                         false,
		`{"type": "long"}`:                                         false,
		`{"type": "boolean"}`:                                      false,
		`{"type": "ip"}`:                                           false,
		`{"type": "date"}`:                                         false,
		`{"type": "geo_point"}`:                                    false,
		`{"type": "binary"}`:                                       false,
		`{"type": "integer_range"}`:                                false,
		`{"type": "dense_vector"}`:                                 false,
		`{"type": "object"}`:                                       false,
		`{"type": "keyword", "script": {"source": "emit('go')"}}`:  true,
		`{"properties": {"name": {"type": "keyword"}}}`:            false,
	} {
		for _, field := range []string{"tags", "author_id", "lang", "title", "summary"} {
			answer := canned(`{"x": {"mappings": {"properties": {"id": {"type": "keyword"}, "update_time": {"type": "date"}, "` + field + `": ` + mapping + `}}}}`)
			report, err := esindex.Inspect(t.Context(), answer, "x", esindex.Fields{})
			require.NoError(t, err)
			require.NoError(t, report.Err())
			f := report.Schema.Fields
			name := map[string]string{"tags": f.Tags, "author_id": f.AuthorID, "lang": f.Lang, "title": f.Title, "summary": f.Summary}[field]
			assert.Equal(t, searched, name == field, "%s: %s", field, mapping)
			if !searched {
				said := slices.ContainsFunc(report.Problems, func(p esindex.Problem) bool { return p.Field == field })
				assert.True(t, said, "%s: %s", field, mapping)
			}
		}
	}
}
