package elastic_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/catalog/catalogtest"
	catalogelastic "github.com/freshet/freshet/catalog/elastic"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
)

// twoIndices returns a catalog over two indices behind one alias; the second is the write index.
// Their documents have the same _ids and sequence numbers.
func twoIndices(t *testing.T) (c *catalogelastic.Catalog, titles func() [4]string) {
	t.Helper()
	client, name := connect(t)
	names := mapped
	names.Sum2h, names.Epoch2h, names.Sum2d, names.Epoch2d = "s2h", "e2h", "s2d", "e2d"
	properties := fmt.Sprintf(mappedProperties, `{"type": "date"}`)
	properties = properties[:len(properties)-1] + `, "s2h": {"type": "double"}, "e2h": {"type": "long"}, "s2d": {"type": "double"}, "e2d": {"type": "long"}}`
	for n, age := range []string{"old", "new"} {
		index := fmt.Sprintf("%s-%d", name, n)
		require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+index, "", []byte(`{"mappings": {"dynamic": false, "properties": `+properties+`}}`), nil))
		alias := fmt.Sprintf(`{"is_write_index": %t}`, n == 1)
		require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+index+"/_alias/"+name, "", []byte(alias), nil))
		for _, id := range []string{"1", "2"} {
			put(t, client, index, id, fmt.Sprintf(`{"doc_id": "%s-%s", "headline": "%[1]s %[2]s", "published_at": %[3]d}`, age, id, 1000*(n+1)))
		}
	}
	report, err := esindex.Inspect(t.Context(), client, name, names)
	require.NoError(t, err)
	require.NoError(t, report.Err())
	c = catalogelastic.New(client, catalogelastic.Config{Index: name, Schema: esindex.Known(report.Schema)})
	return c, func() (all [4]string) {
		docs, err := esindex.Get(t.Context(), client, []esindex.DocID{
			{Index: name + "-0", ID: "1"}, {Index: name + "-0", ID: "2"}, {Index: name + "-1", ID: "1"}, {Index: name + "-1", ID: "2"},
		})
		require.NoError(t, err)
		for i, d := range docs {
			var doc struct {
				Headline string
				Sum      json.Number `json:"s2h"`
			}
			if len(d.Source) > 0 {
				require.NoError(t, json.Unmarshal(d.Source, &doc))
				all[i] = doc.Headline
				if doc.Sum != "" {
					all[i] += " counted"
				}
			}
		}
		return all
	}
}

// TestWriteToIndexOfDocument: the write index of an alias may have another item's
// document under the same _id.
func TestWriteToIndexOfDocument(t *testing.T) {
	t.Parallel()
	c, titles := twoIndices(t)
	require.Equal(t, [4]string{"old 1", "old 2", "new 1", "new 2"}, titles())
	_, again, err := c.SetCounts(t.Context(), map[string]feed.Counts{"old-1": feed.Counts{}.Add(1000)})
	require.NoError(t, err)
	require.Empty(t, again)
	require.Equal(t, [4]string{"old 1 counted", "old 2", "new 1", "new 2"}, titles())
	_, err = catalog.UpdateOne(t.Context(), c, "old-2", func(it feed.Item) (feed.Item, error) { it.Title = "changed"; return it, nil })
	require.NoError(t, err)
	require.Equal(t, [4]string{"old 1 counted", "changed", "new 1", "new 2"}, titles())
	errs, err := c.Put(t.Context(), []feed.Item{{ID: "old-2", Title: "put", UpdateTime: 3}})
	require.NoError(t, err)
	require.Nil(t, errs)
	require.Equal(t, [4]string{"old 1 counted", "put", "new 1", "new 2"}, titles())
	require.NoError(t, c.Refresh(t.Context()))
	require.NoError(t, c.Remove(t.Context(), "old-2"))
	require.Equal(t, [4]string{"old 1 counted", "", "new 1", "new 2"}, titles())
}

// TestRemoveItemManyDocuments checks that all of its documents are deleted.
func TestRemoveItemManyDocuments(t *testing.T) {
	t.Parallel()
	c, client, index := existing(t, mapped, `{"type": "date"}`)
	for n, id := range []string{"a", "b", "c"} {
		put(t, client, index, id, fmt.Sprintf(`{"doc_id": "b", "headline": "B", "published_at": %d}`, 15000+n))
	}
	require.NoError(t, c.Remove(t.Context(), "b"))
	docs, err := c.Docs(t.Context(), []string{"b"})
	require.NoError(t, err)
	require.True(t, docs[0].Missing())
	require.ErrorIs(t, c.Remove(t.Context(), "b"), feed.ErrNotFound)
}

// TestIncompleteSourceNotChanged: documents whose source is incomplete are not changed, because
// the missing fields would be lost from the index.
func TestIncompleteSourceNotChanged(t *testing.T) {
	t.Parallel()
	client, index := connect(t)
	body := `{"mappings": {"_source": {"excludes": ["topics"]}, "dynamic": false, "properties": ` + fmt.Sprintf(mappedProperties, `{"type": "date"}`) + `}}`
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+index, "", []byte(body), nil))
	put(t, client, index, "a", `{"doc_id": "a", "headline": "A", "published_at": 15000, "topics": "go"}`)
	report, err := esindex.Inspect(t.Context(), client, index, mapped)
	require.NoError(t, err)
	require.NoError(t, report.Err())
	require.False(t, report.Schema.Live)
	c := catalogelastic.New(client, catalogelastic.Config{Index: index, Schema: esindex.Known(report.Schema)})
	_, err = catalog.UpdateOne(t.Context(), c, "a", func(it feed.Item) (feed.Item, error) { it.Title = "B"; return it, nil })
	require.ErrorIs(t, err, feed.ErrInvalid)
	require.ErrorContains(t, err, "upload the item")
	_, err = catalog.UpdateOne(t.Context(), c, "a", func(feed.Item) (feed.Item, error) { return feed.Item{}, catalog.RemoveItem })
	require.NoError(t, err, "nothing of it is to stay")
	docs, err := c.Docs(t.Context(), []string{"a"})
	require.NoError(t, err)
	require.True(t, docs[0].Missing())
}

// TestItemSeveralIDs checks that an item has the smallest of its document's ids, in every
// kind of read and write.
func TestItemSeveralIDs(t *testing.T) {
	t.Parallel()
	c, client, index := existing(t, mapped, `{"type": "date"}`)
	put(t, client, index, "x", `{"doc_id": ["b", "a"], "headline": "X", "published_at": 19000}`)
	put(t, client, index, "y", `{"doc_id": "b", "headline": "Y", "published_at": 15000}`)
	put(t, client, index, "c", `{"doc_id": ["d", "c"], "headline": "Z", "published_at": 17000}`)
	titles := func() (all []string) {
		docs, err := c.Docs(t.Context(), []string{"a", "b", "c"})
		require.NoError(t, err)
		for _, d := range docs {
			var it feed.Item
			if !d.Missing() {
				require.NoError(t, it.UnmarshalJSON(d.JSON))
			}
			all = append(all, it.Title)
		}
		return all
	}
	require.Equal(t, []string{"X", "Y", "Z"}, titles())
	require.NoError(t, c.Remove(t.Context(), "b"))
	require.Equal(t, []string{"X", "", "Z"}, titles())
}

// TestFieldNameForms: an inner field may be written with dots, as nested objects, or both, and two
// fields of the item may be the same field of the document.
func TestFieldNameForms(t *testing.T) {
	t.Parallel()
	names := mapped
	names.AuthorID, names.Tags, names.Lang = "meta.by.name", "meta.by.name.raw", "meta.lang.code"
	client, index := connect(t)
	body := `{"mappings": {"properties": {"doc_id": {"type": "keyword"}, "headline": {"type": "text"}, "published_at": {"type": "date"}, "story": {"type": "keyword"},
		"meta": {"properties": {"by": {"properties": {"name": {"type": "keyword", "fields": {"raw": {"type": "keyword"}}}}}, "lang": {"properties": {"code": {"type": "keyword"}}}}}}}}`
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+index, "", []byte(body), nil))
	for id, meta := range map[string]string{
		"a": `"meta": {"by": {"name": "ann"}, "lang": {"code": "en"}}`,
		"b": `"meta.by.name": "ann", "meta.lang.code": "en"`,
		"c": `"meta.by": {"name": "ann"}, "meta.lang": {"code": "en"}`,
		"d": `"meta": {"by.name": "ann", "lang.code": "en"}`,
	} {
		put(t, client, index, id, fmt.Sprintf(`{"doc_id": %q, "headline": "A", "published_at": 15000, %s}`, id, meta))
	}
	report, err := esindex.Inspect(t.Context(), client, index, names)
	require.NoError(t, err)
	require.NoError(t, report.Err())
	c := catalogelastic.New(client, catalogelastic.Config{Index: index, Schema: esindex.Known(report.Schema)})
	docs, err := c.Docs(t.Context(), []string{"a", "b", "c", "d"})
	require.NoError(t, err)
	for _, d := range docs {
		it, err := d.Item()
		require.NoError(t, err)
		require.Equal(t, feed.Item{ID: d.ID, Title: "A", UpdateTime: 15, AuthorID: "ann", Tags: []string{"ann"}, Lang: "en"}, it)
	}
}

// TestProfilesWhileIndexRefused: if the items' index is refused, profiles must still be
// readable, since they are in an index of Freshet's own.
func TestProfilesWhileIndexRefused(t *testing.T) {
	t.Parallel()
	client, index := connect(t)
	schema := esindex.Known(esindex.OwnSchema(esindex.Fields{}))
	c := catalogelastic.New(client, catalogelastic.Config{Index: index, Schema: schema})
	require.NoError(t, catalogtest.PutProfile(t.Context(), c, "u_1", feed.Profile{MutedTags: []string{"ads"}}))
	schema.Refuse(esindex.ErrUnusable)
	docs, p, err := c.Hydrate(t.Context(), "u_1", []string{"a", "b"})
	require.ErrorIs(t, err, catalog.ErrUnavailable)
	require.Equal(t, []feed.Doc{{ID: "a"}, {ID: "b"}}, docs)
	require.Equal(t, []string{"ads"}, p.MutedTags)
}
