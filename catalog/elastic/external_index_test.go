package elastic_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/catalog/catalogtest"
	catalogelastic "github.com/freshet/freshet/catalog/elastic"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
)

// TestSeveralIndices reads items through an alias for one index that a second one joins, and
// through a pattern: if an item is in both, the latest document counts.
func TestSeveralIndices(t *testing.T) {
	t.Parallel()
	for _, names := range []esindex.Fields{mapped, {ID: esindex.MetaID, GroupID: "story", Title: "headline", UpdateTime: "published_at"}} {
		t.Run(names.ID, func(t *testing.T) {
			client, name := connect(t)
			for n := range 2 {
				index := fmt.Sprintf("%s-%d", name, n)
				body := `{"mappings": {"dynamic": false, "properties": ` + fmt.Sprintf(mappedProperties, `{"type": "date"}`) + `}}`
				require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+index, "", []byte(body), nil))
				for _, id := range []string{fmt.Sprint("only-", n), "both"} {
					put(t, client, index, id, fmt.Sprintf(`{"doc_id": %q, "headline": "of %d", "published_at": %d}`, id, n, 1000*(n+1)))
				}
			}
			require.NoError(t, esindex.Do(t.Context(), client, http.MethodPost, "/"+name+"-*/_refresh", "", nil, nil))
			join := func(n int) {
				require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, fmt.Sprintf("/%s-%d/_alias/%s", name, n, name), "", nil, nil))
			}
			join(0)
			report, err := esindex.Inspect(t.Context(), client, name, names)
			require.NoError(t, err)
			c := catalogelastic.New(client, catalogelastic.Config{Index: name, Schema: esindex.Known(report.Schema)})
			read := func(c *catalogelastic.Catalog) (titles []string) {
				docs, _, err := c.Hydrate(t.Context(), "u_1", []string{"only-0", "both", "only-1", "none"})
				require.NoError(t, err)
				for _, d := range docs {
					var it struct{ Title string }
					if !d.Missing() {
						require.NoError(t, json.Unmarshal(d.JSON, &it))
					}
					titles = append(titles, it.Title)
				}
				return titles
			}
			require.Equal(t, []string{"of 0", "of 0", "", ""}, read(c))
			join(1)
			_, _, err = c.Hydrate(t.Context(), "u_1", []string{"both"})
			require.ErrorIs(t, err, catalog.ErrUnavailable, "the mapping of the second was not read")
			report, err = esindex.Inspect(t.Context(), client, name, names)
			require.NoError(t, err)
			c = catalogelastic.New(client, catalogelastic.Config{Index: name, Schema: esindex.Known(report.Schema)})
			require.Equal(t, []string{"of 0", "of 1", "of 1", ""}, read(c))
			pattern := catalogelastic.New(client, catalogelastic.Config{Index: name + "-*", Schema: esindex.Known(report.Schema)})
			require.Equal(t, []string{"of 0", "of 1", "of 1", ""}, read(pattern))
		})
	}
}

// TestUnusualDocumentAffectsNoOther: Elasticsearch accepts comments in documents and lists of
// dates.
func TestUnusualDocumentAffectsNoOther(t *testing.T) {
	t.Parallel()
	c, client, index := existing(t, mapped, `{"type": "date"}`)
	put(t, client, index, "good", `{"doc_id": "good", "headline": "A", "published_at": 15000, "price": 1.50}`)
	put(t, client, index, "remark", `{"doc_id": "remark", /* not JSON */ "headline": "B", "published_at": [15000, null, ["1970-01-01T00:00:17Z"]]}`)
	put(t, client, index, "other", `{"doc_id": "C", /* read by a search */ "headline": "C", "published_at": []}`)
	require.NoError(t, c.Refresh(t.Context()))
	docs, err := c.Docs(t.Context(), []string{"good", "remark", "C"})
	require.NoError(t, err)
	for i, want := range []feed.Item{{ID: "good", UpdateTime: 15}, {ID: "remark", UpdateTime: 17}, {ID: "C"}} {
		var it feed.Item
		require.NoError(t, it.UnmarshalJSON(docs[i].JSON))
		require.Equal(t, want.ID, it.ID)
		require.Equal(t, want.UpdateTime, it.UpdateTime)
	}
	page, err := c.List(t.Context(), catalog.Selection{Limit: 10})
	require.NoError(t, err)
	require.Len(t, page.Items, 2, "one has no date")
	docs, err = c.Docs(t.Context(), []string{"good"})
	require.NoError(t, err)
	require.Contains(t, string(docs[0].JSON), "1.50", "bytes stay as they are where all is JSON")

	testenv.PutYAML(t, client, index, "odd", "doc_id: odd\nheadline: O\npublished_at: 16000\nrating: .nan\n")
	testenv.PutYAML(t, client, index, "other2", "doc_id: odder\nheadline: O\npublished_at: 16000\nrating: .inf\n")
	testenv.PutYAML(t, client, index, "fine", "doc_id: fine\nheadline: F\npublished_at: 14000\nrating: 4\n")
	all := []string{"odd", "good", "odder", "remark", "C", "fine"}
	docs, _, err = c.Hydrate(t.Context(), "u_1", all)
	require.NoError(t, err)
	for i, id := range all {
		require.Equal(t, id == "odd" || id == "odder", docs[i].Missing(), id)
	}
	var listed []string
	for cursor := ""; ; {
		page, err = c.List(t.Context(), catalog.Selection{Limit: 2, Cursor: cursor})
		require.NoError(t, err)
		for _, it := range page.Items {
			listed = append(listed, it.ID)
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	require.Equal(t, []string{"remark", "good", "fine"}, listed)
	updated, err := c.Update(t.Context(), []string{"odd", "good"}, func(it feed.Item) (feed.Item, error) { it.Title = "new"; return it, nil })
	require.NoError(t, err)
	require.ErrorIs(t, updated[0].Err, feed.ErrNotFound)
	require.NoError(t, updated[1].Err)
	errs, err := c.Put(t.Context(), []feed.Item{{ID: "odd", Title: "mended", UpdateTime: 8}, {ID: "odder", Title: "mended", UpdateTime: 8}})
	require.NoError(t, err)
	require.Nil(t, errs)
	require.NoError(t, c.Refresh(t.Context()))
	docs, err = c.Docs(t.Context(), []string{"odd", "odder"})
	require.NoError(t, err)
	require.Contains(t, string(docs[0].JSON), "mended")
	require.Contains(t, string(docs[1].JSON), "mended")
}

// TestDamagedProfile checks that an unreadable profile is an error for its reader only, until it
// is put again.
func TestDamagedProfile(t *testing.T) {
	t.Parallel()
	c, client, index := existing(t, mapped, `{"type": "date"}`)
	require.NoError(t, catalogtest.PutProfile(t.Context(), c, "u_1", feed.Profile{MutedTags: []string{"ads"}}))
	testenv.PutYAML(t, client, esindex.Agents(index), "u_1", "profile: {}\nrating: .nan\n")
	_, err := c.Profile(t.Context(), "u_1")
	require.ErrorContains(t, err, "put it again")
	require.NotErrorIs(t, err, feed.ErrNotFound, "it may mute something")
	_, err = c.Profile(t.Context(), "u_2")
	require.ErrorIs(t, err, feed.ErrNotFound)
	require.NoError(t, catalogtest.PutProfile(t.Context(), c, "u_1", feed.Profile{MutedTags: []string{"ads"}}))
	p, err := c.Profile(t.Context(), "u_1")
	require.NoError(t, err)
	require.Equal(t, []string{"ads"}, p.MutedTags)
}

// TestDatesInElasticsearchFormats checks that such dates are read as the index reads them, also
// after the item is changed.
func TestDatesInElasticsearchFormats(t *testing.T) {
	t.Parallel()
	c, client, index := existing(t, mapped, `{"type": "date", "format": "dd MMM yyyy||epoch_second"}`)
	put(t, client, index, "a", `{"doc_id": "a", "headline": "A", "published_at": "26 Sep 2016"}`)
	put(t, client, index, "b", `{"doc_id": "b", "headline": "B", "published_at": 1474848000}`)
	dates := func(docs []feed.Doc) {
		t.Helper()
		require.Len(t, docs, 2)
		for _, d := range docs {
			it, err := d.Item()
			require.NoError(t, err)
			require.EqualValues(t, 1474848000, it.UpdateTime, d.ID)
		}
	}
	docs, err := c.Docs(t.Context(), []string{"a", "b"})
	require.NoError(t, err)
	dates(docs)
	page, err := c.List(t.Context(), catalog.Selection{Limit: 10})
	require.NoError(t, err)
	dates(page.Items)
	again := []byte(`{"doc_id": "a", "headline": "B", "published_at": "26 Sep 2016"}`)
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+index+"/_doc/a", "", again, nil))
	docs, err = c.Docs(t.Context(), []string{"a", "b"})
	require.NoError(t, err)
	dates(docs)
	require.Contains(t, string(docs[0].JSON), `"B"`, "a read sees a write before a refresh does")
	updated, err := c.Update(t.Context(), []string{"a", "b"}, func(it feed.Item) (feed.Item, error) { it.Title += "!"; return it, nil })
	require.NoError(t, err)
	for _, u := range updated {
		require.NoError(t, u.Err)
	}
	docs, err = c.Docs(t.Context(), []string{"a", "b"})
	require.NoError(t, err)
	dates(docs)
}

// TestUpdateKeepsOtherFields: in an external document an update changes only the fields whose
// values differ in the item. It keeps lists of which the item has one value, dates in another
// form, ids, popularity and objects.
func TestUpdateKeepsOtherFields(t *testing.T) {
	t.Parallel()
	names := mapped
	names.AuthorID, names.Likes = "people.name", "likes"
	c, client, index := existing(t, names, `{"type": "date"}`)
	const before = `{"doc_id": ["a"], "headline": ["A", "AA"], "published_at": "1970-01-01T00:00:15Z", "hits": 70, "likes": "7", "story": ["s2", "s1"],
		"meta": {"lang": ["de", "fr"], "desk": 4}, "people": [{"name": "ann", "role": 1}, {"name": "bob"}], "topics": "go", "price": 1.50, "html": "<a&b>"}`
	put(t, client, index, "a", before)
	stored := func() (doc string) {
		require.NoError(t, esindex.Do(t.Context(), client, http.MethodGet, "/"+index+"/_source/a", "", nil, func(data []byte) error {
			doc = string(data)
			return nil
		}))
		return doc
	}
	update := func(change func(it *feed.Item)) (feed.Item, error) {
		return catalog.UpdateOne(t.Context(), c, "a", func(it feed.Item) (feed.Item, error) {
			change(&it)
			return it, nil
		})
	}
	it, err := update(func(it *feed.Item) { it.Business["price"] = json.RawMessage("2") })
	require.NoError(t, err)
	require.JSONEq(t, strings.Replace(before, "1.50", "2", 1), stored())
	require.Contains(t, stored(), `"<a&b>"`)
	require.Equal(t, []string{"ann", "bob"}, it.AuthorIDs)
	require.Equal(t, []string{"de", "fr"}, it.Langs)
	require.True(t, feed.Profile{MutedAuthors: []string{"bob"}}.Refuses(&it))

	it, err = update(func(it *feed.Item) { it.AuthorIDs, it.Langs = []string{}, []string{} })
	require.NoError(t, err)
	require.Equal(t, "ann", it.AuthorID)
	require.Empty(t, append(it.AuthorIDs, it.Langs...), "named, so it has one author and no language")
	require.JSONEq(t, `{"doc_id": ["a"], "headline": ["A", "AA"], "published_at": "1970-01-01T00:00:15Z", "hits": 70, "likes": "7", "story": ["s2", "s1"],
		"meta": {"desk": 4}, "people": [{"role": 1}], "people.name": "ann", "topics": "go", "price": 2, "html": "<a&b>"}`, stored())

	it, err = update(func(it *feed.Item) {
		it.AuthorID, it.Lang, it.Title, it.GroupID, it.Tags, it.UpdateTime, it.Likes = "eve", "it", "B", "", nil, 16, 8
		delete(it.Business, "price")
	})
	require.NoError(t, err)
	require.Empty(t, it.AuthorIDs)
	require.Empty(t, it.Langs)
	require.JSONEq(t, `{"doc_id": ["a"], "headline": "B", "published_at": "1970-01-01T00:00:16.000Z", "hits": 8, "likes": 8,
		"meta": {"desk": 4}, "meta.lang": "it", "people": [{"role": 1}], "people.name": "eve", "html": "<a&b>"}`, stored())
	_, err = update(func(it *feed.Item) { it.Business["people"] = json.RawMessage("1") })
	require.ErrorIs(t, err, feed.ErrInvalid, "an author would lie in it")
}

// TestUpdateListsOfObjects: a field of objects in a list has a value in each of them.
func TestUpdateListsOfObjects(t *testing.T) {
	t.Parallel()
	names := mapped
	names.Tags, names.AuthorID = "labels.name", "meta.author"
	c, client, index := existing(t, names, `{"type": "date"}`)
	put(t, client, index, "a", `{"doc_id": "a", "headline": "A", "published_at": 5000, "meta": [{"author": "ann"}],
		"labels": [{"name": "go", "color": 1}, {"name": ["data", "web"]}, {"color": 2}, "plain"]}`)
	docs, err := c.Docs(t.Context(), []string{"a"})
	require.NoError(t, err)
	it, err := docs[0].Item()
	require.NoError(t, err)
	require.Equal(t, []string{"go", "data", "web"}, it.Tags)
	require.Equal(t, "ann", it.AuthorID)
	require.JSONEq(t, `[{"color": 1}, {"color": 2}, "plain"]`, string(it.Business["labels"]), "what is left of it is the item's")
	require.NotContains(t, it.Business, "meta")
}
