package elastic_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	catalogelastic "github.com/freshet/freshet/catalog/elastic"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
)

// live holds the live popularity fields of a document.
type live struct {
	short, long      feed.Sum
	last             int64
	count2h, count2d float64
}

func liveOf(t *testing.T, client esindex.Client, index, id string) live {
	t.Helper()
	var doc struct {
		Source struct {
			LastAct int64   `json:"freshet_last_act"`
			Count2h float64 `json:"freshet_count_2h"`
			Count2d float64 `json:"freshet_count_2d"`
			Sum2h   float64 `json:"freshet_sum_2h"`
			Epoch2h int64   `json:"freshet_epoch_2h"`
			Sum2d   float64 `json:"freshet_sum_2d"`
			Epoch2d int64   `json:"freshet_epoch_2d"`
		} `json:"_source"`
	}
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodGet, "/"+index+"/_doc/"+id, "", nil,
		func(b []byte) error { return json.Unmarshal(b, &doc) }))
	s := doc.Source
	return live{feed.Sum{Epoch: s.Epoch2h, Value: s.Sum2h}, feed.Sum{Epoch: s.Epoch2d, Value: s.Sum2d}, s.LastAct, s.Count2h, s.Count2d}
}

func assertCounts(t *testing.T, client esindex.Client, index, id string, want feed.Counts) {
	t.Helper()
	var all live
	if want.Last != 0 {
		all.short, all.long = want.Sums()
		all.last = want.Last
		all.count2h, all.count2d = want.Latest()
	}
	assert.Equal(t, all, liveOf(t, client, index, id))
}

// someCounts returns counts over weeks: with small sums, large ones, and ones that JSON writes with
// an exponent.
func someCounts() []feed.Counts {
	const noon = 1_772_798_400
	var all []feed.Counts
	for hours := range int64(40) {
		c := feed.Counts{}.Add(noon + hours*3600*11)
		all = append(all, c, c.Add(noon+hours*3600*11+1))
	}
	return all
}

// numbered returns items whose titles contain their number and version.
func numbered(from, to, version int) []feed.Item {
	items := make([]feed.Item, 0, to-from)
	for i := from; i < to; i++ {
		items = append(items, feed.Item{
			ID: fmt.Sprintf("i%d", i), Title: fmt.Sprintf("C++ number %d of version %d", i, version), UpdateTime: 1_700_000_000, Likes: int64(version),
			Business: map[string]json.RawMessage{"price": json.RawMessage(`1.50`)},
		})
	}
	return items
}

func putAll(t *testing.T, c *catalogelastic.Catalog, items []feed.Item) {
	t.Helper()
	errs, err := c.Put(t.Context(), items)
	require.NoError(t, err)
	require.Nil(t, errs)
}

// found returns the number of items whose tokens match the phrase.
func found(t *testing.T, client esindex.Client, index, field, phrase string) int {
	t.Helper()
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodPost, "/"+index+"/_refresh", "", nil, nil))
	var answer struct{ Count int }
	body := fmt.Appendf(nil, `{"query":{"match_phrase":{%q:%q}}}`, field, phrase)
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodPost, "/"+index+"/_count", "", body,
		func(b []byte) error { return json.Unmarshal(b, &answer) }))
	return answer.Count
}

// broken is a client on which requests to one path fail.
type broken struct {
	esindex.Client
	at string
}

func (b broken) Perform(req *http.Request) (*http.Response, error) {
	if strings.Contains(req.URL.Path, b.at) {
		return nil, errors.New("ended")
	}
	return b.Client.Perform(req)
}

// TestSetCounts checks that only the counts of a document change.
func TestSetCounts(t *testing.T) {
	t.Parallel()
	client, index := connect(t)
	_, err := esindex.Ensure(t.Context(), client, index, esindex.Fields{})
	require.NoError(t, err)
	kept := map[string]feed.Counts{}
	c := catalogelastic.New(client, catalogelastic.Config{Index: index, Schema: ownSchema(), Counts: func(context.Context, []string) (map[string]feed.Counts, error) { return kept, nil }})
	it := numbered(0, 1, 3)[0]
	it.Business["x"] = json.RawMessage(`{"freshet_sum_2h":1.0,"freshet_epoch_2h":2,"freshet_sum_2d":3,"freshet_epoch_2d":4}`)
	it.URL, it.Tags = "https://example.com/", []string{"go"}
	putAll(t, c, []feed.Item{it})
	assertCounts(t, client, index, it.ID, feed.Counts{})
	want, err := json.Marshal(it)
	require.NoError(t, err)
	for i, counts := range someCounts() {
		unknown, again, err := c.SetCounts(t.Context(), map[string]feed.Counts{it.ID: counts, "nobody": counts})
		require.NoError(t, err)
		assert.Equal(t, []string{"nobody"}, unknown)
		assert.Empty(t, again)
		assertCounts(t, client, index, it.ID, counts)
		docs, err := c.Docs(t.Context(), []string{it.ID, "nobody"})
		require.NoError(t, err)
		require.Equal(t, string(want), string(docs[0].JSON), "byte for byte")
		require.True(t, docs[1].Missing(), "it is not made")
		if i%10 == 0 {
			kept[it.ID] = counts
			putAll(t, c, []feed.Item{it})
			assertCounts(t, client, index, it.ID, counts)
		}
	}
	assert.Equal(t, 1, found(t, client, index, esindex.DefaultTitleTokens, "c++ number"), "its tokens are still there")
	require.NoError(t, c.Remove(t.Context(), it.ID))
	unknown, _, err := c.SetCounts(t.Context(), kept)
	require.NoError(t, err)
	assert.Equal(t, []string{it.ID}, unknown, "a deleted item is not brought back")
}

// TestSetCountsEditedDocument checks that such a document is written, and the others of
// the call too.
func TestSetCountsEditedDocument(t *testing.T) {
	t.Parallel()
	client, index := connect(t)
	_, err := esindex.Ensure(t.Context(), client, index, esindex.Fields{})
	require.NoError(t, err)
	c := catalogelastic.New(client, catalogelastic.Config{Index: index, Schema: ownSchema()})
	putAll(t, c, numbered(0, 3, 1))
	edited := []byte("{\n  \"id\": \"i1\",\n  \"title\": \"Edited\",\n  \"update_time\": 1700000000,\n  \"price\": 1.50,\n  \"freshet_popularity\": 1\n}\n")
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+index+"/_doc/i1", "", edited, nil))
	for _, counts := range someCounts()[:2] {
		_, again, err := c.SetCounts(t.Context(), map[string]feed.Counts{"i0": counts, "i1": counts, "i2": counts})
		require.NoError(t, err)
		require.Empty(t, again)
		for i := range 3 {
			assertCounts(t, client, index, fmt.Sprintf("i%d", i), counts)
		}
	}
	docs, err := c.Docs(t.Context(), []string{"i1"})
	require.NoError(t, err)
	assert.Contains(t, string(docs[0].JSON), `"price":1.50`)
}

// between runs a hook once between reading and writing.
type between struct {
	esindex.Client
	do func()
}

func (b *between) Perform(req *http.Request) (*http.Response, error) {
	res, err := b.Client.Perform(req)
	if do := b.do; do != nil && req.URL.Path == "/_mget" {
		b.do = nil
		do()
	}
	return res, err
}

// TestSetCountsConcurrentWrites writes or deletes items between the read and the write of their
// counts.
func TestSetCountsConcurrentWrites(t *testing.T) {
	t.Parallel()
	client, index := connect(t)
	_, err := esindex.Ensure(t.Context(), client, index, esindex.Fields{})
	require.NoError(t, err)
	writer := catalogelastic.New(client, catalogelastic.Config{Index: index, Schema: ownSchema()})
	putAll(t, writer, numbered(0, 3, 1))
	slow := &between{Client: client, do: func() {
		putAll(t, writer, numbered(0, 1, 2))
		require.NoError(t, writer.Remove(t.Context(), "i1"))
	}}
	counts := map[string]feed.Counts{}
	for i := range 3 {
		counts[fmt.Sprintf("i%d", i)] = feed.Counts{}.Add(1_772_798_400)
	}
	c := catalogelastic.New(slow, catalogelastic.Config{Index: index, Schema: ownSchema()})
	unknown, again, err := c.SetCounts(t.Context(), counts)
	require.NoError(t, err)
	assert.Empty(t, unknown)
	assert.ElementsMatch(t, []string{"i0", "i1"}, again)
	assertCounts(t, client, index, "i2", counts["i2"])
	docs, err := writer.Docs(t.Context(), []string{"i0", "i1"})
	require.NoError(t, err)
	assert.Contains(t, string(docs[0].JSON), "version 2")
	assert.True(t, docs[1].Missing(), "it stays deleted")
	unknown, again, err = c.SetCounts(t.Context(), counts)
	require.NoError(t, err)
	assert.Empty(t, again)
	assert.Equal(t, []string{"i1"}, unknown)
	assertCounts(t, client, index, "i0", counts["i0"])
}

// TestUpdateKeepsCounts writes live popularity counts while an item is being updated.
func TestUpdateKeepsCounts(t *testing.T) {
	t.Parallel()
	client, index := connect(t)
	_, err := esindex.Ensure(t.Context(), client, index, esindex.Fields{})
	require.NoError(t, err)
	putAll(t, catalogelastic.New(client, catalogelastic.Config{Index: index, Schema: ownSchema()}), numbered(0, 2, 1))
	kept := map[string]feed.Counts{}
	counts := func(context.Context, []string) (map[string]feed.Counts, error) { return kept, nil }
	slow := &between{Client: client, do: func() {
		kept["i0"] = feed.Counts{}.Add(1_772_798_400)
		_, again, err := catalogelastic.New(client, catalogelastic.Config{Index: index, Schema: ownSchema()}).SetCounts(t.Context(), kept)
		require.NoError(t, err)
		require.Empty(t, again)
	}}
	c := catalogelastic.New(slow, catalogelastic.Config{Index: index, Schema: ownSchema(), Counts: counts})
	all, err := c.Update(t.Context(), []string{"i0", "i1"}, func(it feed.Item) (feed.Item, error) {
		it.Likes = 7
		return it, nil
	})
	require.NoError(t, err)
	for _, u := range all {
		require.NoError(t, u.Err)
	}
	assertCounts(t, client, index, "i0", kept["i0"])
	assertCounts(t, client, index, "i1", feed.Counts{})
	docs, err := c.Docs(t.Context(), []string{"i0", "i1"})
	require.NoError(t, err)
	for _, d := range docs {
		assert.Contains(t, string(d.JSON), `"likes":7`)
	}
}

// TestSetCountsElasticsearchDown fails at the read or the write, and checks that the remaining
// items are returned.
func TestSetCountsElasticsearchDown(t *testing.T) {
	t.Parallel()
	client, index := connect(t)
	_, err := esindex.Ensure(t.Context(), client, index, esindex.Fields{})
	require.NoError(t, err)
	putAll(t, catalogelastic.New(client, catalogelastic.Config{Index: index, Schema: ownSchema()}), numbered(0, 2, 1))
	counts := map[string]feed.Counts{"i0": feed.Counts{}.Add(1_772_798_400), "i1": feed.Counts{}.Add(1_772_798_400), "nobody": {}}
	for _, at := range []string{"_mget", "_bulk"} {
		_, again, err := catalogelastic.New(broken{client, at}, catalogelastic.Config{Index: index, Schema: ownSchema()}).SetCounts(t.Context(), counts)
		require.Error(t, err)
		assert.Subset(t, again, []string{"i0", "i1"}, at)
	}
	failing := errors.New("the store of counts is away")
	c := catalogelastic.New(client, catalogelastic.Config{Index: index, Schema: ownSchema(), Counts: func(context.Context, []string) (map[string]feed.Counts, error) { return nil, failing }})
	_, err = c.Put(t.Context(), numbered(0, 1, 2))
	require.ErrorIs(t, err, failing, "an item is not put without the counts it has")
}

// TestSetCountsExternalIndex writes counts into an external index under the configured field
// names, and nothing if none are configured.
func TestSetCountsExternalIndex(t *testing.T) {
	t.Parallel()
	named := mapped
	named.Sum2h, named.Epoch2h, named.Sum2d, named.Epoch2d = "live.a", "live.ae", "live.b", "live.be"
	const date = `{"type": "date"}, "live": {"properties": {"a": {"type": "double"}, "ae": {"type": "long"}, "b": {"type": "double"}, "be": {"type": "keyword"}}}`
	for _, live := range []bool{false, true} {
		names := mapped
		if live {
			names = named
		}
		c, client, index := existing(t, names, date)
		const doc = `{"doc_id":"a","headline":"A","published_at":"2026-03-06T12:00:00Z","price":1.50,"live":{"a":1,"other":2}}`
		require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, "/"+index+"/_doc/random", "refresh=true", []byte(doc), nil))
		counts := feed.Counts{}.Add(1_772_798_400)
		unknown, again, err := c.SetCounts(t.Context(), map[string]feed.Counts{"a": counts})
		require.NoError(t, err)
		assert.Empty(t, append(unknown, again...))
		var got struct {
			Source json.RawMessage `json:"_source"`
		}
		require.NoError(t, esindex.Do(t.Context(), client, http.MethodGet, "/"+index+"/_doc/random", "", nil,
			func(b []byte) error { return json.Unmarshal(b, &got) }))
		if !live {
			assert.Equal(t, doc, string(got.Source), "nothing was written")
			continue
		}
		short, long := counts.Sums()
		assert.Contains(t, string(got.Source), `"price":1.50`)
		assert.JSONEq(t, fmt.Sprintf(`{"doc_id":"a","headline":"A","published_at":"2026-03-06T12:00:00Z","price":1.50,"live":{"other":2},
			"live.a":%v,"live.ae":%d,"live.b":%v,"live.be":%d}`, short.Value, short.Epoch, long.Value, long.Epoch), string(got.Source))
		docs, err := c.Docs(t.Context(), []string{"a"})
		require.NoError(t, err)
		assert.NotContains(t, string(docs[0].JSON), "live.a", "readers are not given them")
	}
}
