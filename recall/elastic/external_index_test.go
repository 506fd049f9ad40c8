package elastic_test

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/recall"
	recallelastic "github.com/freshet/freshet/recall/elastic"
)

// mapped are the field names of an external index, with an inner object and with keywords as
// sub-fields of texts.
var mapped = esindex.Fields{
	ID: "doc_id", GroupID: "story", Title: "headline", UpdateTime: "published_at", Tags: "topics.keyword", Popularity: "hits",
	AuthorID: "meta.author", Lang: "meta.lang",
}

const mapping = `{"settings": {"number_of_shards": 2}, "mappings": {"properties": {
	"doc_id": {"type": "keyword"}, "story": {"type": "keyword"}, "headline": {"type": "text"}, "summary": {"type": "text"},
	"published_at": %s, "topics": {"type": "text", "fields": {"keyword": {"type": "keyword"}}}, "hits": {"type": "integer"},
	"meta": {"properties": {"author": {"type": "keyword"}, "lang": {"type": "keyword"}}}}}}`

func openExisting(t *testing.T, names esindex.Fields, timeField string, docs []map[string]any) *recallelastic.Source {
	t.Helper()
	client, name := connect(t)
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+name, "", fmt.Appendf(nil, mapping, timeField), nil))
	index(t, client, name, docs)
	report, err := esindex.Inspect(t.Context(), client, name, names)
	require.NoError(t, err)
	require.NoError(t, report.Schema.ReadLangs(t.Context(), client, name))
	require.NoError(t, report.Err())
	return recallelastic.New(client, recallelastic.Config{Index: name, Schema: esindex.Known(report.Schema)})
}

// story returns a document of the external index, dated age before the origin.
func story(id string, age time.Duration, date func(time.Time) any) map[string]any {
	return map[string]any{
		"doc_id": id, "headline": "about " + id, "published_at": date(time.Unix(origin, 0).Add(-age).UTC()), "topics": []string{"New York"},
	}
}

func stories(date func(time.Time) any) []map[string]any {
	a, b, c := story("a", time.Minute, date), story("b", 25*time.Hour, date), story("c", 49*time.Hour, date)
	b["story"], c["story"] = "s", "s"
	a["hits"] = 9
	c["topics"], c["meta"] = "rust", map[string]any{"author": "ann", "lang": "en"}
	return []map[string]any{a, b, c, story("later", -time.Second, date)}
}

func TestExternalIndexTimes(t *testing.T) {
	t.Parallel()
	layout := func(l string) func(time.Time) any { return func(at time.Time) any { return at.Format(l) } }
	seconds := func(at time.Time) any { return at.Unix() }
	millis := func(at time.Time) any { return at.UnixMilli() }
	for i, c := range []struct {
		field string
		date  func(time.Time) any
	}{
		{`{"type": "date"}`, layout(time.RFC3339)},
		{`{"type": "date", "format": "epoch_millis"}`, millis},
		{`{"type": "date", "format": "epoch_second"}`, seconds},
		{`{"type": "date", "format": "yyyy-MM-dd HH:mm:ss||epoch_millis"}`, layout(time.DateTime)},
		{`{"type": "date", "format": "dd/MM/yyyy'T'HH:mm:ssXXX"}`, layout("02/01/2006T15:04:05Z07:00")},
		{`{"type": "long"}`, seconds},
		{`{"type": "long"}`, millis},
	} {
		t.Run(fmt.Sprint(i, c.field), func(t *testing.T) {
			s := openExisting(t, mapped, c.field, stories(c.date))
			q := ask(feed.Profile{Interests: map[string]float64{"New York": 1.9}})
			q.Ranking.PopularityWeight = 1
			r := recalled(t, s, q)
			require.Equal(t, []string{"a", "b"}, ids(r), "the story's later document is the better one")
			require.Equal(t, "s", r.Candidates[1].Group)
			require.EqualValues(t, origin-60, r.Candidates[0].UpdateTime)
			require.EqualValues(t, origin-25*3600, r.Candidates[1].UpdateTime)
			require.InEpsilon(t, 4, r.Candidates[0].Score, 1e-5, "relevance 2, no decay, popularity 1 + log10(10)")
			require.InEpsilon(t, 1, r.Candidates[1].Score, 1e-5, "relevance 2, decay 0.5")

			q.Since = time.Unix(origin-25*3600, 0)
			require.Equal(t, []string{"a"}, ids(recalled(t, s, q)))
			q.Since = time.Unix(origin-25*3600-1, 0)
			require.Equal(t, []string{"a", "b"}, ids(recalled(t, s, q)))
			q.Since = time.Time{}
			q.Origin = time.Unix(origin-25*3600, 0)
			require.Equal(t, []string{"b"}, ids(recalled(t, s, q)), "an item dated at the origin is in")

			q = ask(feed.Profile{MutedTags: []string{"New York"}})
			require.Equal(t, []string{"c"}, ids(recalled(t, s, q)))
			q = ask(feed.Profile{MutedAuthors: []string{"ann"}, Langs: []string{"fr"}})
			require.Equal(t, []string{"a", "b"}, ids(recalled(t, s, q)))
			q = ask(feed.Profile{MutedItems: []string{"s"}})
			require.Equal(t, []string{"a"}, ids(recalled(t, s, q)), "the whole story")
			q = ask(feed.Profile{MutedItems: []string{"a", "b"}})
			require.Equal(t, []string{"c"}, ids(recalled(t, s, q)), "by id, with or without a story")

			q = ask(feed.Profile{})
			q.N = 1
			var all []string
			for range 4 {
				r := recalled(t, s, q)
				all = append(all, ids(r)...)
				if q.After = r.Next; q.After == "" {
					break
				}
			}
			require.Equal(t, []string{"a", "b", "c"}, all)
		})
	}
}

// TestMetaID recalls in rounds from an index where the item id is the document's _id: ties are
// broken per document, and concurrent writes neither hide nor repeat other documents.
func TestMetaID(t *testing.T) {
	t.Parallel()
	names := mapped
	names.ID = esindex.MetaID
	client, name := connect(t)
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+name, "", fmt.Appendf(nil, mapping, `{"type": "date"}`), nil))
	report, err := esindex.Inspect(t.Context(), client, name, names)
	require.NoError(t, err)
	require.NoError(t, report.Schema.ReadLangs(t.Context(), client, name))
	require.NoError(t, report.Err())
	require.Equal(t, "id", report.Problems[0].Field, "it is warned of")
	put := func(id, group string) {
		doc := fmt.Appendf(nil, `{"headline": "x", "story": %q, "published_at": %d}`, group, int64(origin)*1000)
		require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+name+"/_doc/"+id, "refresh=true", doc, nil))
	}
	for i := range 20 {
		put(fmt.Sprintf("doc-%d", i), fmt.Sprintf("group-%d", i/2))
	}
	s := recallelastic.New(client, recallelastic.Config{Index: name, Schema: esindex.Known(report.Schema)})
	q := ask(feed.Profile{})
	q.N = 6
	seen, groups := map[string]bool{}, map[string]bool{}
	for round := 0; ; round++ {
		r, err := s.Recall(t.Context(), q)
		require.NoError(t, err)
		for _, c := range r.Candidates {
			require.False(t, seen[c.ID], "%s came twice", c.ID)
			seen[c.ID], groups[c.Group] = true, true
			require.EqualValues(t, origin, c.UpdateTime)
		}
		if q.After = r.Next; q.After == "" {
			require.Equal(t, 3, round)
			break
		}
		put("anew", "a-group") // later rounds continue after it
	}
	require.Len(t, groups, 10)
	require.False(t, seen["anew"])

	q.After = ""
	put("new", "group-new")
	put("loner", "")
	q.Profile.MutedItems, q.N = []string{"loner", "group-3", "doc-8"}, 50
	r, err := s.Recall(t.Context(), q)
	require.NoError(t, err)
	require.Len(t, r.Candidates, 11, "nine groups and the two new ones")
	for _, c := range r.Candidates {
		require.NotContains(t, []string{"loner", "group-3"}, c.Group)
	}
	q.Profile.MutedItems, q.N = nil, 6
	r, err = s.Recall(t.Context(), q)
	require.NoError(t, err)
	q.After = "bm9uc2Vuc2U=" + r.Next
	_, err = s.Recall(t.Context(), q)
	require.ErrorIs(t, err, recall.ErrBadCursor)
}

// The traits used to vary pages, in an external index: the site if its field is named, the author,
// and the alphabetically first tags.
func TestExternalIndexTraits(t *testing.T) {
	t.Parallel()
	names := mapped
	names.Site, names.Tags, names.AuthorID = "meta.lang", "story", "meta.author"
	names.GroupID, names.Lang = "doc_id2", "no_lang"
	millis := func(at time.Time) any { return at.UnixMilli() }
	a, b := story("a", time.Minute, millis), story("b", time.Hour, millis)
	a["story"], a["meta"] = []string{"zebra", "ape"}, map[string]any{"author": "ann", "lang": "example.com"}
	s := openExisting(t, names, `{"type": "date"}`, []map[string]any{a, b})
	r := recalled(t, s, ask(feed.Profile{}))
	require.Equal(t, []string{"a", "b"}, ids(r))
	require.Equal(t, feed.Traits{Author: "ann", Site: "example.com", Tag: "ape"}, r.Candidates[0].Traits)
	require.Zero(t, r.Candidates[1].Traits)
	require.False(t, r.Candidates[1].By(""))

	several := maps.Clone(a)
	several["meta"] = map[string]any{"author": []string{"zoe", "ann", "bob"}}
	both := recalled(t, openExisting(t, names, `{"type": "date"}`, []map[string]any{several}), ask(feed.Profile{})).Candidates[0]
	for _, author := range []string{"ann", "bob", "zoe"} {
		require.True(t, both.By(author), author)
	}
	for _, other := range []string{"", "an", "nn", "bob\x00zoe", "eve"} {
		require.False(t, both.By(other), other)
	}

	s = openExisting(t, mapped, `{"type": "date"}`, []map[string]any{a, b})
	require.Equal(t, feed.Traits{Author: "ann", Tag: "new york"}, recalled(t, s, ask(feed.Profile{})).Candidates[0].Traits)
}

// TestSmallResultWindow: if an index limits hits per search to fewer than N, candidates are
// returned in several rounds.
func TestSmallResultWindow(t *testing.T) {
	t.Parallel()
	client, name := connect(t)
	settings := strings.Replace(mapping, `"number_of_shards": 2`, `"number_of_shards": 2, "index.max_result_window": 3`, 1)
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+name, "", fmt.Appendf(nil, settings, `{"type": "date"}`), nil))
	var docs []map[string]any
	for i := range 8 {
		docs = append(docs, story(fmt.Sprintf("s%d", i), time.Duration(i)*time.Hour, func(at time.Time) any { return at.UnixMilli() }))
		docs[i]["hits"] = i + 1
	}
	index(t, client, name, docs)
	report, err := esindex.Inspect(t.Context(), client, name, mapped)
	require.NoError(t, err)
	require.NoError(t, report.Schema.ReadLangs(t.Context(), client, name))
	s := recallelastic.New(client, recallelastic.Config{Index: name, Schema: esindex.Known(report.Schema)})
	q := ask(feed.Profile{})
	q.N = 500
	var all []string
	for {
		r := recalled(t, s, q)
		all = append(all, ids(r)...)
		if q.After = r.Next; q.After == "" {
			break
		}
	}
	require.Equal(t, []string{"s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"}, all)
	lists, err := s.Popular(t.Context(), []recall.Span{{After: origin - 86400, Until: origin}}, 100)
	require.NoError(t, err)
	require.Len(t, lists[0], 3, "the most popular ones")
}
