package elastic_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/recall"
	recallelastic "github.com/freshet/freshet/recall/elastic"
)

const dataMapping = `{"settings": {"number_of_shards": 3}, "mappings": {"properties": {
	"doc_id": {"type": "keyword", "ignore_above": 256}, "story": {"type": "keyword"}, "headline": {"type": "text"},
	"published_at": {"type": "date"}, "hits": {"type": "double"}, "meta": {"properties": {"author": {"type": "keyword"}}},
	"clicks": {"properties": {"s2": {"type": "double", "index": false}, "e2": {"type": "keyword"}, "s48": {"type": "double", "index": false}, "e48": {"type": "keyword"},
		"last": {"type": "long"}, "c2": {"type": "double", "index": false}, "c48": {"type": "double", "index": false}}}}}}`

// dataNames returns the field names of an index that has all the data recall uses.
func dataNames() esindex.Fields {
	names := mapped
	names.Sum2h, names.Epoch2h, names.Sum2d, names.Epoch2d = "clicks.s2", "clicks.e2", "clicks.s48", "clicks.e48"
	names.LastAct, names.Count2h, names.Count2d = "clicks.last", "clicks.c2", "clicks.c48"
	return names
}

// TestUnusableDocuments: unusable documents in an external index must not displace other items.
// They are left out in every round.
func TestUnusableDocuments(t *testing.T) {
	t.Parallel()
	at := func(age time.Duration) string { return time.Unix(origin, 0).Add(-age).UTC().Format(time.RFC3339) }
	epoch := func(halfLife time.Duration) string { return fmt.Sprint(feed.LiveEpochs(halfLife, origin)[0].Number) }
	clicks := func(sum any) map[string]any {
		return map[string]any{"s2": sum, "e2": epoch(feed.ShortHalfLife), "s48": sum, "e48": epoch(feed.LongHalfLife)}
	}
	latest := func(after int64, count any) map[string]any {
		all := clicks(9)
		all["last"], all["c2"], all["c48"] = origin+after, count, count
		return all
	}
	docs := []map[string]any{
		{"doc_id": "good", "published_at": at(time.Minute), "hits": 9},
		{"published_at": at(time.Second)},
		{"published_at": at(time.Second)},
		{"doc_id": "https://news.example/" + strings.Repeat("a", 300), "published_at": at(time.Second)},
		{"doc_id": nil, "published_at": at(time.Second), "story": "s"},
		{"doc_id": "two words", "published_at": at(time.Second)},
		{"doc_id": "grouped", "published_at": at(time.Second), "story": "two words"},
		{"doc_id": "undated"},
		{"doc_id": "dates", "published_at": []any{at(9 * time.Hour), nil, at(2 * time.Minute)}},
		{"doc_id": "notyet", "published_at": []any{at(time.Hour), at(-time.Hour)}},
		{"doc_id": "minus1", "published_at": at(3 * time.Minute), "hits": -1},
		{"doc_id": "minus7", "published_at": at(4 * time.Minute), "hits": -7},
		{"doc_id": "half", "published_at": at(5 * time.Minute), "hits": -0.5},
		{"doc_id": "mixed", "published_at": at(6 * time.Minute), "hits": []any{-3, 5}},
		{"doc_id": "sum", "published_at": at(7 * time.Minute), "clicks": clicks(-1e9)},
		{"doc_id": "sums", "published_at": at(8 * time.Minute), "clicks": clicks([]any{-2, 7})},
		{"doc_id": "epoch", "published_at": at(9 * time.Minute), "clicks": map[string]any{"e2": "soon", "s2": 3, "e48": []string{"a", "1"}}},
		{"doc_id": "later", "published_at": at(10 * time.Minute), "clicks": latest(60, []any{-1, 3})},
		{"doc_id": "ahead", "published_at": at(11 * time.Minute), "clicks": latest(3600, 9)},
	}
	want := []string{"good", "dates", "minus1", "minus7", "half", "mixed", "sum", "sums", "epoch", "later", "ahead"}
	client, name := connect(t)
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+name, "", []byte(dataMapping), nil))
	report, err := esindex.Inspect(t.Context(), client, name, dataNames())
	require.NoError(t, err)
	require.NoError(t, report.Err())
	require.True(t, report.Schema.Acts)
	index(t, client, name, docs)
	s := recallelastic.New(client, recallelastic.Config{Index: name, Schema: esindex.Known(report.Schema)})

	q := ask(feed.Profile{})
	q.Ranking.PopularityWeight, q.Ranking.Popularity2h, q.Ranking.Popularity2d = 1, 1, 1
	all := recalled(t, s, q)
	require.Equal(t, want, ids(all))
	require.EqualValues(t, origin-120, all.Candidates[1].UpdateTime, "of several dates the latest")
	for _, c := range all.Candidates[1:] {
		require.InDelta(t, all.Candidates[1].Score, c.Score, 1e-6, "%s: what is below zero counts as nothing", c.ID)
	}
	for _, n := range []int{1, 2, 5} {
		rounds := q
		rounds.N = n
		var got []string
		for round := 0; ; round++ {
			require.LessOrEqual(t, round, len(docs))
			r := recalled(t, s, rounds)
			got = append(got, ids(r)...)
			if rounds.After = r.Next; rounds.After == "" {
				break
			}
		}
		require.Equal(t, want, got, "%d at a time", n)
	}

	factors, err := s.Explain(t.Context(), q, append(slices.Clone(want), "two words", "undated"))
	require.NoError(t, err)
	for i, c := range all.Candidates {
		require.True(t, factors[i].Known)
		require.InEpsilon(t, c.Score, factors[i].Score, 1e-5, c.ID)
	}
	lists, err := s.Popular(t.Context(), []recall.Span{{After: origin - 86400, Until: origin}}, 10)
	require.NoError(t, err)
	require.Equal(t, "good", lists[0][0].ID)
}

// TestItemManyDocumentsLatest checks that only an item's latest document is proposed,
// whatever the group and score of the others. If several have the same time all are proposed, and
// reading the item decides.
func TestItemManyDocumentsLatest(t *testing.T) {
	t.Parallel()
	client, name := connect(t)
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+name, "", []byte(dataMapping), nil))
	report, err := esindex.Inspect(t.Context(), client, name, mapped)
	require.NoError(t, err)
	at := func(seconds int) int64 { return int64(origin-seconds) * 1000 }
	index(t, client, name, []map[string]any{
		{"doc_id": "a", "published_at": at(10), "story": "new"},
		{"doc_id": "a", "published_at": at(20), "story": "old", "hits": 1000},
		{"doc_id": "b", "published_at": at(5), "story": "was", "hits": 1000},
		{"doc_id": "b", "published_at": at(4)},
		{"doc_id": "c", "published_at": at(30), "story": "s", "hits": 2},
		{"doc_id": "c", "published_at": at(30), "story": "t", "hits": 1},
		{"doc_id": "ancient", "published_at": -at(0)},
		{"doc_id": "ancient", "published_at": -at(-1), "story": "older"},
		{"doc_id": []string{"b", "a"}, "published_at": at(40), "story": "of two"},
	})
	s := recallelastic.New(client, recallelastic.Config{Index: name, Schema: esindex.Known(report.Schema)})
	q := ask(feed.Profile{})
	q.Ranking.PopularityWeight = 1
	var got []string
	for _, c := range recalled(t, s, q).Candidates {
		got = append(got, c.Group+"|"+c.ID)
	}
	require.ElementsMatch(t, []string{"new|a", "b|b", "s|c", "t|c", "ancient|ancient"}, got)
}

// TestTryReportsOmittedDocuments: the reasons are those in docs/own-index.md.
func TestTryReportsOmittedDocuments(t *testing.T) {
	t.Parallel()
	client, name := connect(t)
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+name, "", []byte(dataMapping), nil))
	report, err := esindex.Inspect(t.Context(), client, name, mapped)
	require.NoError(t, err)
	index(t, client, name, []map[string]any{
		{"doc_id": "good", "published_at": int64(origin) * 1000},
		{"published_at": int64(origin) * 1000},
		{"doc_id": "a b", "published_at": int64(origin) * 1000},
		{"doc_id": "a", "story": "a b", "published_at": int64(origin) * 1000},
		{"doc_id": "late", "published_at": []int64{0, int64(origin+1) * 1000}},
	})
	s := recallelastic.New(client, recallelastic.Config{Index: name, Schema: esindex.Known(report.Schema)})
	found, left, err := s.Try(t.Context(), ask(feed.Profile{}))
	require.NoError(t, err)
	require.Equal(t, []string{"good"}, ids(found))
	require.Equal(t, "2 with invalid id, 1 with invalid group_id, 1 with invalid update_time", left)
}

// requests records the URLs of requests.
type requests struct{ urls []*url.URL }

func (r *requests) RoundTrip(req *http.Request) (*http.Response, error) {
	r.urls = append(r.urls, req.URL)
	return http.DefaultTransport.RoundTrip(req)
}

// TestMetaIDClosesSearchContext: a round without a following one must not leave a search context
// open in the cluster.
func TestMetaIDClosesSearchContext(t *testing.T) {
	t.Parallel()
	names := mapped
	names.ID = esindex.MetaID
	client, name := connect(t)
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+name, "", []byte(dataMapping), nil))
	report, err := esindex.Inspect(t.Context(), client, name, names)
	require.NoError(t, err)
	var bulk []byte
	for i := range 40 { // all are equal: every page ends between documents with the same number in three shards
		bulk = fmt.Appendf(bulk, "{\"index\":{\"_id\":\"d %d\"}}\n{\"published_at\":%d}\n", i, int64(origin)*1000)
		bulk = fmt.Appendf(bulk, "{\"index\":{\"_id\":\"d%d\"}}\n{\"published_at\":%d}\n", i, int64(origin)*1000)
	}
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodPost, "/"+name+"/_bulk", "refresh=true", bulk, nil))
	address, _ := testenv.Elastic(t)
	var sent requests
	client, err = esindex.Connect(esindex.ClientConfig{Addresses: []string{address}, Transport: &sent})
	require.NoError(t, err)
	s := recallelastic.New(client, recallelastic.Config{Index: name, Schema: esindex.Known(report.Schema)})
	for _, n := range []int{1, 2, 7} {
		q := ask(feed.Profile{})
		q.N = n
		seen := map[string]bool{}
		for {
			r, err := s.Recall(t.Context(), q)
			require.NoError(t, err)
			for _, c := range r.Candidates {
				require.False(t, seen[c.ID], "%s came twice", c.ID)
				seen[c.ID] = true
			}
			if q.After = r.Next; q.After == "" {
				break
			}
		}
		require.Len(t, seen, 40, "%d at a time", n)
	}
	q := ask(feed.Profile{})
	q.N = 3
	for range 20 {
		r, err := s.Recall(t.Context(), q)
		require.NoError(t, err)
		require.NotEmpty(t, r.Next)
	}
	require.NotEmpty(t, sent.urls)
	for _, u := range sent.urls {
		if u.Path == "/" { // which product is it?
			continue
		}
		// Checked by URL: Elasticsearch's count of open contexts includes plain searches until just after their answers.
		require.Equal(t, "/"+name+"/_search", u.Path, "no point in time")
		require.Empty(t, u.Query()["scroll"])
	}
}
