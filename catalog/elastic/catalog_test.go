package elastic_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/catalog/catalogtest"
	catalogelastic "github.com/freshet/freshet/catalog/elastic"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
)

// mapped are the field names of an external index.
var mapped = esindex.Fields{
	ID: "doc_id", GroupID: "story", Title: "headline", UpdateTime: "published_at", Tags: "topics", Popularity: "hits",
	AuthorID: "meta.author", Lang: "meta.lang",
}

const mappedProperties = `{
	"doc_id": {"type": "keyword"}, "story": {"type": "keyword"}, "headline": {"type": "text"},
	"published_at": %s, "topics": {"type": "keyword"}, "hits": {"type": "long"},
	"meta": {"properties": {"author": {"type": "keyword"}, "lang": {"type": "keyword"}}}}`

func TestMain(m *testing.M) { os.Exit(testenv.Reuse(m).Run()) }

func connect(t testing.TB) (esindex.Client, string) {
	t.Helper()
	address, index := testenv.Elastic(t)
	return clientOf(t, address), index
}

func clientOf(t testing.TB, address string) esindex.Client {
	t.Helper()
	client, err := esindex.Connect(esindex.ClientConfig{Addresses: []string{address}})
	require.NoError(t, err)
	return client
}

// ownSchema returns the schema of an index created by [esindex.Ensure] with default names.
func ownSchema() *esindex.LateSchema { return esindex.Known(esindex.OwnSchema(esindex.Fields{})) }

// own opens a catalog over an empty index of Freshet's own.
func own(t *testing.T) *catalogelastic.Catalog {
	t.Helper()
	address, index := testenv.ReusedElastic(t, "")
	client := clientOf(t, address)
	_, err := esindex.Ensure(t.Context(), client, index, esindex.Fields{})
	require.NoError(t, err)
	return catalogelastic.New(client, catalogelastic.Config{Index: index, Schema: ownSchema()})
}

// existing opens a catalog over an external index with mapped names.
func existing(t *testing.T, names esindex.Fields, timeField string) (*catalogelastic.Catalog, esindex.Client, string) {
	t.Helper()
	address, index := testenv.ReusedElastic(t, names.ID+timeField)
	client := clientOf(t, address)
	body := `{"mappings": {"dynamic": false, "properties": ` + fmt.Sprintf(mappedProperties, timeField) + `}}`
	if esindex.Do(t.Context(), client, http.MethodHead, "/"+index, "", nil, nil) != nil {
		require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+index, "", []byte(body), nil))
	}
	report, err := esindex.Inspect(t.Context(), client, index, names)
	require.NoError(t, err)
	require.NoError(t, report.Err())
	return catalogelastic.New(client, catalogelastic.Config{Index: index, Schema: esindex.Known(report.Schema)}), client, index
}

func TestConformance(t *testing.T) {
	t.Run("own index", func(t *testing.T) {
		catalogtest.Run(t, func(t *testing.T) catalog.Catalog { return own(t) })
		catalogtest.RunSampler(t, func(t *testing.T) catalogtest.Sampler { return own(t) })
		catalogtest.RunLister(t, func(t *testing.T) catalogtest.Listed { return own(t) }, refreshed)
	})
	t.Run("mapped names, ISO dates", func(t *testing.T) {
		if testenv.InFull("models") {
			catalogtest.Run(t, func(t *testing.T) catalog.Catalog {
				c, _, _ := existing(t, mapped, `{"type": "date"}`)
				return c
			})
		}
		catalogtest.RunListerAsWritten(t, func(t *testing.T) catalogtest.Listed {
			c, _, _ := existing(t, mapped, `{"type": "date"}`)
			return c
		}, refreshed)
	})
	t.Run("_id, milliseconds as a number", func(t *testing.T) {
		names := mapped
		names.ID = "_id"
		catalogtest.Run(t, func(t *testing.T) catalog.Catalog {
			c, _, _ := existing(t, names, `{"type": "long"}`)
			return c
		})
		c, _, _ := existing(t, names, `{"type": "long"}`)
		_, err := c.List(t.Context(), catalog.Selection{Limit: 1})
		require.ErrorIs(t, err, feed.ErrInvalid)
		require.ErrorContains(t, err, "elasticsearch.fields.id")
	})
}

func refreshed(t *testing.T, c catalogtest.Listed) {
	t.Helper()
	require.NoError(t, c.(*catalogelastic.Catalog).Refresh(t.Context()))
}

// put writes a document as another application would.
func put(t *testing.T, client esindex.Client, index, id, doc string) {
	t.Helper()
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+index+"/_doc/"+id, "refresh=true", []byte(doc), nil))
}

func raw(t *testing.T, client esindex.Client, index, id string) map[string]any {
	t.Helper()
	var got struct {
		Source map[string]any `json:"_source"`
	}
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodGet, "/"+index+"/_doc/"+id, "", nil,
		func(b []byte) error { return json.Unmarshal(b, &got) }))
	return got.Source
}

func TestDocsUnchangedJSON(t *testing.T) {
	c := own(t)
	items := []feed.Item{
		{
			ID: "a", Title: "A <b>", UpdateTime: 1700000000, Likes: 3, Comments: 4,
			Business: map[string]json.RawMessage{"x": json.RawMessage(`{"freshet_popularity":5}`), "price": json.RawMessage(`1.50`)},
		},
		{ID: "b", Title: "Three words here", UpdateTime: 1700000000, URL: "https://www.example.com/1", Tags: []string{"z", "a"}},
		{ID: "c", Title: `Three "quoted words"`, UpdateTime: 1700000000, Tags: []string{`a","freshet_tag":"b\`, "z"}},
		{ID: "d", Title: "D", UpdateTime: 1700000000, Tags: []string{`\`}, Business: map[string]json.RawMessage{
			"x": json.RawMessage(`{"a":1,"freshet_story":"AAEAAgAD"}`), "y": json.RawMessage(`",\"freshet_site\":\"x"`),
		}},
		{ID: "e", Title: "E", UpdateTime: 1700000000, Business: map[string]json.RawMessage{"z": json.RawMessage(`{"a":{"freshet_tag":"b"}}`)}},
	}
	_, err := c.Put(t.Context(), items)
	require.NoError(t, err)
	for _, it := range items {
		want, err := json.Marshal(it)
		require.NoError(t, err)
		docs, err := c.Docs(t.Context(), []string{it.ID})
		require.NoError(t, err)
		require.Equal(t, string(want), string(docs[0].JSON))
	}
}

func TestMappedFieldNames(t *testing.T) {
	for format, stored := range map[string]any{
		`{"type": "date"}`:                                  "2023-11-14T22:13:20.000Z",
		`{"type": "date", "format": "epoch_millis"}`:        1700000000000.0,
		`{"type": "date", "format": "epoch_second"}`:        1700000000.0,
		`{"type": "date", "format": "yyyy-MM-dd HH:mm:ss"}`: "2023-11-14 22:13:20",
		`{"type": "long"}`:                                  1700000000.0,
	} {
		t.Run(format, func(t *testing.T) {
			c, client, index := existing(t, mapped, format)
			it := feed.Item{
				ID: "a", GroupID: "g", Title: "T", UpdateTime: 1700000000, Tags: []string{"go"}, AuthorID: "ann", Likes: 1, Comments: 2,
				Business: map[string]json.RawMessage{"extra": json.RawMessage(`[1]`)},
			}
			errs, err := c.Put(t.Context(), []feed.Item{it})
			require.NoError(t, err)
			require.Nil(t, errs)
			require.Equal(t, map[string]any{
				"doc_id": "a", "story": "g", "headline": "T", "published_at": stored, "topics": []any{"go"}, "meta.author": "ann",
				"likes": 1.0, "comments": 2.0, "hits": 5.0, "extra": []any{1.0},
			}, raw(t, client, index, "a"))
			docs, err := c.Docs(t.Context(), []string{"a"})
			require.NoError(t, err)
			got, err := docs[0].Item()
			require.NoError(t, err)
			require.Equal(t, it, got)
		})
	}
}

func TestExternalDocuments(t *testing.T) {
	c, client, index := existing(t, mapped, `{"type": "date"}`)
	put(t, client, index, "row-1", `{"doc_id": "a", "headline": "T", "published_at": "2023-11-14T22:13:20Z", "topics": "go",
		"meta": {"author": 7, "section": "x"}, "likes": "12", "hits": 99, "title": "another", "in_feed": {"why": []}, "extra": null}`)
	put(t, client, index, "b", `{"doc_id": "b", "headline": "B", "published_at": 1700000000123}`)

	ids := []string{"a", "nowhere", "b", "row-1"}
	docs, err := c.Docs(t.Context(), ids)
	require.NoError(t, err)
	require.JSONEq(t, `{"id": "a", "title": "T", "update_time": 1700000000, "tags": ["go"], "author_id": "7", "likes": 12,
		"meta": {"section": "x"}, "extra": null}`, string(docs[0].JSON))
	require.True(t, docs[1].Missing())
	require.JSONEq(t, `{"id": "b", "title": "B", "update_time": 1700000000}`, string(docs[2].JSON))

	// Putting such an item replaces its existing document.
	_, err = c.Put(t.Context(), []feed.Item{{ID: "a", Title: "New", UpdateTime: 1700000001}})
	require.NoError(t, err)
	require.Equal(t, "New", raw(t, client, index, "row-1")["headline"])

	require.NoError(t, c.Remove(t.Context(), "a"))
	require.ErrorIs(t, c.Remove(t.Context(), "a"), feed.ErrNotFound)
	docs, err = c.Docs(t.Context(), []string{"a"})
	require.NoError(t, err)
	require.True(t, docs[0].Missing())
}

// TestListSkipsDocumentsWithoutID: a document without an id is not an item, and does not end a
// page.
func TestListSkipsDocumentsWithoutID(t *testing.T) {
	c, client, index := existing(t, mapped, `{"type": "date"}`)
	for i, id := range []string{`"a"`, "null", `"b"`, "null"} {
		put(t, client, index, fmt.Sprint("row-", i), fmt.Sprintf(`{"doc_id": %s, "headline": "T", "published_at": %d}`, id, 1700000000000+int64(i)))
	}
	s := catalog.Selection{Limit: 1}
	var ids []string
	for {
		page, err := c.List(t.Context(), s)
		require.NoError(t, err)
		for _, doc := range page.Items {
			ids = append(ids, doc.ID)
		}
		if s.Cursor = page.Next; s.Cursor == "" {
			break
		}
	}
	require.Equal(t, []string{"b", "a"}, ids)
}

// TestListForgedCursors: any cursor is either accepted or refused as invalid; none causes an
// error in Elasticsearch.
func TestListForgedCursors(t *testing.T) {
	c := own(t)
	for _, values := range []string{
		`[1e999,"a"]`, `[99999999999999999999,"a"]`, `[-1e30,"a"]`, `[1.5,"a"]`, `[1,"\ud800"]`, `[1,"a","b"]`, `[true,"a"]`, `[1,null]`, `[1,"` + strings.Repeat("x", 40_000) + `"]`,
	} {
		_, err := c.List(t.Context(), catalog.Selection{Limit: 1, Cursor: base64.RawURLEncoding.EncodeToString([]byte(values))})
		if err != nil {
			assert.ErrorIs(t, err, feed.ErrInvalid, "%.40s", values)
		}
	}
}

// TestUpdateKeepsNewerItem puts an item again between its read and its removal.
func TestUpdateKeepsNewerItem(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) *catalogelastic.Catalog{
		"own index": own,
		"mapped names": func(t *testing.T) *catalogelastic.Catalog {
			c, _, _ := existing(t, mapped, `{"type": "date"}`)
			return c
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := open(t)
			at := func(unix int64) []feed.Item { return []feed.Item{{ID: "a", Title: "T", UpdateTime: unix}} }
			_, err := c.Put(t.Context(), at(1700000000))
			require.NoError(t, err)
			young := errors.New("young")
			var seen []int64
			all, err := c.Update(t.Context(), []string{"a"}, func(it feed.Item) (feed.Item, error) {
				seen = append(seen, it.UpdateTime)
				if it.UpdateTime > 1700000000 {
					return it, young
				}
				_, err := c.Put(t.Context(), at(1700000060))
				require.NoError(t, err)
				return it, catalog.RemoveItem
			})
			require.NoError(t, err)
			require.ErrorIs(t, all[0].Err, young)
			require.False(t, all[0].Removed)
			require.Equal(t, []int64{1700000000, 1700000060}, seen)
			docs, err := c.Docs(t.Context(), []string{"a"})
			require.NoError(t, err)
			it, err := docs[0].Item()
			require.NoError(t, err)
			require.Equal(t, at(1700000060)[0], it)
		})
	}
}

func TestPutReportsRefusedItems(t *testing.T) {
	good := func(id string) feed.Item { return feed.Item{ID: id, Title: "T", UpdateTime: 1700000000} }
	with := func(id, field string) feed.Item {
		it := good(id)
		it.Business = map[string]json.RawMessage{field: json.RawMessage(`1`)}
		return it
	}
	t.Run("own index", func(t *testing.T) {
		c := own(t)
		errs, err := c.Put(t.Context(), []feed.Item{
			good("a"), with("b", "freshet_popularity"), with("c", "_id"), with("d", "title.x"), with("e", "fine"), with("f", ""),
		})
		require.NoError(t, err)
		require.Len(t, errs, 6)
		for i, want := range []string{"", "another name", "metadata field", "another name", "", "empty string"} {
			if want == "" {
				require.NoError(t, errs[i])
				continue
			}
			require.ErrorIs(t, errs[i], feed.ErrInvalid)
			require.ErrorContains(t, errs[i], want)
		}
		docs, err := c.Docs(t.Context(), []string{"a", "b", "c", "d", "e", "f"})
		require.NoError(t, err)
		for i, missing := range []bool{false, true, true, true, false, true} {
			assert.Equal(t, missing, docs[i].Missing(), docs[i].ID)
		}
	})
	t.Run("mapped names", func(t *testing.T) {
		c, _, _ := existing(t, mapped, `{"type": "date"}`)
		errs, err := c.Put(t.Context(), []feed.Item{with("a", "headline"), good("b"), with("c", "meta")})
		require.NoError(t, err)
		require.ErrorContains(t, errs[0], `"headline"`)
		require.NoError(t, errs[1])
		require.ErrorContains(t, errs[2], `"meta.author"`)
	})
}

func TestBatchSplitByBytes(t *testing.T) {
	testenv.WithoutRace(t)
	c := own(t)
	items := make([]feed.Item, 60)
	for i := range items {
		items[i] = feed.Item{ID: fmt.Sprint("big-", i), Title: "T", UpdateTime: 1700000000, Summary: strings.Repeat("word ", 40_000)}
	}
	items[59].ID = "big-0"
	items[59].Title = "later wins, batches apart"
	errs, err := c.Put(t.Context(), items)
	require.NoError(t, err)
	require.Nil(t, errs)
	docs, err := c.Docs(t.Context(), []string{"big-0", "big-58"})
	require.NoError(t, err)
	first, err := docs[0].Item()
	require.NoError(t, err)
	require.Equal(t, items[59], first)
	require.False(t, docs[1].Missing())
}

func TestErrors(t *testing.T) {
	t.Run("nobody listens", func(t *testing.T) {
		client, err := esindex.Connect(esindex.ClientConfig{Addresses: []string{"http://127.0.0.1:1"}})
		require.NoError(t, err)
		c := catalogelastic.New(client, catalogelastic.Config{Index: "x", Schema: ownSchema()})
		_, err = c.Docs(t.Context(), []string{"a"})
		require.ErrorIs(t, err, catalog.ErrUnavailable)
		_, err = c.Put(t.Context(), []feed.Item{{ID: "a", Title: "T", UpdateTime: 1}})
		require.ErrorIs(t, err, catalog.ErrUnavailable)
		_, err = c.Profile(t.Context(), "u")
		require.ErrorIs(t, err, catalog.ErrUnavailable)
		require.ErrorIs(t, catalogtest.PutProfile(t.Context(), c, "u", feed.Profile{}), catalog.ErrUnavailable)
	})
	t.Run("no index", func(t *testing.T) {
		client, index := connect(t)
		c := catalogelastic.New(client, catalogelastic.Config{Index: index, Schema: ownSchema()})
		_, err := c.Docs(t.Context(), []string{"a"})
		require.ErrorContains(t, err, "freshet doctor --fix")
		require.ErrorIs(t, err, catalog.ErrUnavailable, "the index may be restored or created")
		_, err = c.Put(t.Context(), []feed.Item{{ID: "a", Title: "T", UpdateTime: 1}})
		require.ErrorIs(t, err, catalog.ErrUnavailable)
		require.ErrorIs(t, c.Remove(t.Context(), "a"), catalog.ErrUnavailable, "nobody can tell that it is not in the snapshot")
		require.Error(t, esindex.Do(t.Context(), client, http.MethodHead, "/"+index, "", nil, nil), "nobody has made it")
		_, err = c.Profile(t.Context(), "u")
		require.ErrorIs(t, err, feed.ErrNotFound)
	})
}

// TestBusinessFieldNames: the upload refuses the field names that Elasticsearch refuses, so an
// item accepted by one catalog can be moved to the other.
func TestBusinessFieldNames(t *testing.T) {
	c, openSearch := own(t), testenv.OpenSearch(t)
	for name, fits := range map[string]bool{
		"": false, " ": false, "\t": false, ".": false, "a..b": false, ".a": false, "a. .b": false,
		"_id": false, "_source": false, "_seq_no": false, "_id.x": false, "_ignored_source": false, "_nested_path": false,
		"freshet_popularity": false, "freshet_popularity.x": false, "freshet_site": false, "title.x": false, "tags.x.y": false,
		"a": true, "a.b": true, "a b": true, "_x": true, "_": true, "x._id": true, "x.title": true, "titles": true, "-": true, "freshet": true,
	} {
		t.Run(name, func(t *testing.T) {
			field, err := json.Marshal(name)
			require.NoError(t, err)
			_, err = feed.ParseItem(fmt.Appendf(nil, `{"id":"a","title":"T","update_time":1700000000,%s:1}`, field))
			errs, putErr := c.Put(t.Context(), []feed.Item{{
				ID: "a", Title: "T", UpdateTime: 1700000000, Business: map[string]json.RawMessage{name: json.RawMessage("1")},
			}})
			require.NoError(t, putErr)
			if fits {
				require.NoError(t, err)
				require.Nil(t, errs)
				return
			}
			require.ErrorIs(t, err, feed.ErrInvalid)
			if openSearch && errs == nil { // it takes some of them
				return
			}
			require.ErrorIs(t, errs[0], feed.ErrInvalid)
		})
	}
}
