package elastic_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	catalogelastic "github.com/freshet/freshet/catalog/elastic"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
)

// TestFoldedFieldsNotInItems checks that the folded fields are removed on reading, whatever the
// item contains.
func TestFoldedFieldsNotInItems(t *testing.T) {
	t.Parallel()
	c := own(t)
	items := []feed.Item{
		{ID: "plain", Title: "A", UpdateTime: 1},
		{ID: "tags", Title: "A", UpdateTime: 1, Tags: []string{"Go", "go", `a "quote" ]`, `,"freshet_lang_keys":["x"]`}, Lang: "zh-TW"},
		{ID: "title", Title: `,"freshet_tag_keys":["x"]`, UpdateTime: 1, Lang: "Klingon!"},
		{ID: "business", Title: "A", UpdateTime: 1, Business: map[string]json.RawMessage{"x": json.RawMessage(`{"a":1,"freshet_lang_keys":["x"]}`), "y": json.RawMessage(`[",\"freshet_tag_keys\":",["x"]]`)}},
	}
	errs, err := c.Put(t.Context(), items)
	require.NoError(t, err)
	require.Empty(t, errs)
	counts := map[string]feed.Counts{}
	for i := range 2 {
		for _, it := range items {
			docs, err := c.Docs(t.Context(), []string{it.ID})
			require.NoError(t, err)
			want, err := it.MarshalJSON()
			require.NoError(t, err)
			assert.Equal(t, string(want), string(docs[0].JSON), "%d", i)
			counts[it.ID] = feed.Counts{}.Add(1000)
		}
		_, _, err := c.SetCounts(t.Context(), counts)
		require.NoError(t, err)
	}
}

// TestFoldedFieldsOlderServers: servers that do not know the folded fields treat them as fields
// of the item and write them back among those. They must not be shown, and the item must remain
// editable.
func TestFoldedFieldsOlderServers(t *testing.T) {
	t.Parallel()
	client, name := connect(t)
	_, err := esindex.Ensure(t.Context(), client, name, esindex.Fields{})
	require.NoError(t, err)
	c := catalogelastic.New(client, catalogelastic.Config{Index: name, Schema: ownSchema()})
	it := feed.Item{ID: "a", Title: "T", UpdateTime: 1, Tags: []string{"Go"}, Lang: "en", URL: "https://a.example/x", Business: map[string]json.RawMessage{"a": json.RawMessage("1"), "price": json.RawMessage("1.50")}}
	errs, err := c.Put(t.Context(), []feed.Item{it})
	require.NoError(t, err)
	require.Empty(t, errs)
	own, err := it.MarshalJSON()
	require.NoError(t, err)
	var stored struct {
		Source json.RawMessage `json:"_source"`
	}
	require.NoError(t, esindex.Do(t.Context(), client, "GET", "/"+name+"/_doc/a", "", nil, func(body []byte) error { return json.Unmarshal(body, &stored) }))
	folded, end, ok := strings.Cut(strings.TrimPrefix(string(stored.Source), strings.TrimSuffix(string(own), "}")), `,"`+esindex.DefaultSite+`":`)
	require.True(t, ok)
	require.Regexp(t, `^,"freshet_tag_keys":\[[^]]*\],"freshet_lang_keys":\[[^]]*\]$`, folded)

	for _, written := range []string{
		strings.Replace(string(own), `"price"`, folded[1:]+`,"price"`, 1), // as such a server writes it
		string(own),
	} {
		doc := strings.TrimSuffix(written, "}") + `,"` + esindex.DefaultSite + `":` + end
		require.NoError(t, esindex.Do(t.Context(), client, "PUT", "/"+name+"/_doc/a", "refresh=true", []byte(doc), nil))
		docs, err := c.Docs(t.Context(), []string{"a"})
		require.NoError(t, err)
		assert.JSONEq(t, string(own), string(docs[0].JSON))
		_, err = c.Update(t.Context(), []string{"a"}, func(it feed.Item) (feed.Item, error) { it.Likes++; return it, nil })
		require.NoError(t, err)
		_, _, err = c.SetCounts(t.Context(), map[string]feed.Counts{"a": feed.Counts{}.Add(1000)})
		require.NoError(t, err)
		docs, err = c.Docs(t.Context(), []string{"a"})
		require.NoError(t, err)
		assert.JSONEq(t, strings.Replace(string(own), `"price"`, `"likes":1,"price"`, 1), string(docs[0].JSON))
	}
}

// TestFoldOlderDocuments checks that documents get the folded fields once, and that the
// items do not change.
func TestFoldOlderDocuments(t *testing.T) {
	t.Parallel()
	client, name := connect(t)
	_, err := esindex.Ensure(t.Context(), client, name, esindex.Fields{})
	require.NoError(t, err)
	older := esindex.OwnSchema(esindex.Fields{})
	older.Folded = false
	before := catalogelastic.New(client, catalogelastic.Config{Index: name, Schema: esindex.Known(older)})
	items := []feed.Item{
		{ID: "plain", Title: "Plain", UpdateTime: 1},
		{ID: "tagged", Title: "Tagged", UpdateTime: 2, Tags: []string{"Straße", "x"}, Business: map[string]json.RawMessage{"price": json.RawMessage("1.50")}},
		{ID: "english", Title: "English", UpdateTime: 3, Lang: "en_GB"},
		{ID: "post:1", Title: "A post", UpdateTime: 4, Tags: []string{"STRASSE"}},
	}
	for i := range 1200 {
		items = append(items, feed.Item{ID: fmt.Sprint("many", i), Title: "x", UpdateTime: 5, Tags: []string{"Many"}})
	}
	errs, err := before.Put(t.Context(), items)
	require.NoError(t, err)
	require.Empty(t, errs)
	docs, err := before.Docs(t.Context(), []string{"plain", "tagged", "english", "post:1"})
	require.NoError(t, err)

	c := catalogelastic.New(client, catalogelastic.Config{Index: name, Schema: ownSchema()})
	require.NoError(t, c.Refresh(t.Context()))
	listed := func(tag string) (ids []string) {
		page, err := c.List(t.Context(), catalog.Selection{Tag: tag, Limit: 10})
		require.NoError(t, err)
		for _, doc := range page.Items {
			ids = append(ids, doc.ID)
		}
		return ids
	}
	require.Empty(t, listed("strasse"))
	total := 0
	for after := ""; ; {
		next, n, err := c.Fold(t.Context(), after)
		require.NoError(t, err)
		total += n
		if after = next; next == "" {
			break
		}
	}
	require.NoError(t, c.Refresh(t.Context()))
	assert.Equal(t, 1203, total, "all but what has neither tags nor a language")
	assert.Equal(t, []string{"tagged"}, listed("strasse"))
	next, n, err := c.Fold(t.Context(), "")
	require.NoError(t, err)
	assert.Equal(t, "", next)
	assert.Zero(t, n, "each once")
	after, err := c.Docs(t.Context(), []string{"plain", "tagged", "english", "post:1"})
	require.NoError(t, err)
	assert.Equal(t, docs, after)

	others := esindex.OwnSchema(esindex.Fields{})
	others.Others = true
	_, n, err = catalogelastic.New(client, catalogelastic.Config{Index: name, Schema: esindex.Known(others)}).Fold(t.Context(), "")
	require.NoError(t, err)
	assert.Zero(t, n)
	require.NoError(t, esindex.AddFields(t.Context(), client, name, esindex.Fields{}, 0), "again")
}
