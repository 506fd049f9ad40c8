package server

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog/catalogtest"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/recall"
	"github.com/freshet/freshet/server/connect"
	"github.com/freshet/freshet/server/doctor"
)

// TestExternalIndexInvalidDocuments checks that no document and no index behind the alias prevents
// a server from answering or starting; the doctor reports what is skipped. When an index with
// another mapping joins the alias, Elasticsearch fails the searches, and servers answer with their
// earlier recall and report the error in /readyz.
func TestExternalIndexInvalidDocuments(t *testing.T) {
	t.Parallel()
	cfg, send := externalIndex(t)
	index := cfg.Elasticsearch.Index
	document(send, index+"-1", "d1", `,"id":"one"`)
	running := open(t, cfg, WithClock(at(noon).Now), shortPauses, func(s *settings) { s.pauses.index.Fallback = 20 * time.Millisecond })
	assert.Equal(t, []string{"one"}, ids(ask(t, running, refresh("u_1", 10))))
	assert.Equal(t, doctor.OK, recallOf(t, cfg).Level)

	document(send, index+"-1", "d2", "")
	document(send, index+"-1", "d3", `,"id":"two","votes":-1`)
	send(http.MethodPut, "/"+index+"-2", externalMapping)
	document(send, index+"-2", "d4", `,"id":"three","votes":-7`)
	send(http.MethodPut, "/"+index+"-2/_alias/"+index, "")
	reader := 1
	testenv.WaitFor(t, func() bool {
		reader++ // a reader without impressions
		return len(ids(ask(t, running, refresh(fmt.Sprint("u_", reader), 10)))) == 3
	}, "the running server shows what can be used")
	cfg.DataDir = t.TempDir()
	fresh := open(t, cfg, WithClock(at(noon).Now), shortPauses)
	waitReady(t, fresh)
	assert.ElementsMatch(t, []string{"one", "two", "three"}, ids(ask(t, fresh, refresh("u_new", 10))))
	found := recallOf(t, cfg)
	assert.Equal(t, doctor.Warning, found.Level)
	assert.Contains(t, found.Detail, "1 with invalid id")

	waitReady(t, running)
	send(http.MethodPut, "/"+index+"-3", `{"mappings":{"properties":{"x":{"type":"keyword"}}}}`)
	document(send, index+"-3", "d5", `,"published_at":1`)
	send(http.MethodPut, "/"+index+"-3/_mapping", `{"properties":{"id":{"type":"text"}}}`)
	send(http.MethodPut, "/"+index+"-3/_alias/"+index, "")
	var state readiness
	// First the server knows that a search failed, and then why.
	testenv.WaitFor(t, func() bool {
		state = ready(t, running)
		return strings.Contains(state.error, "map the fields differently")
	}, "/readyz says why nothing can be recalled")
	assert.Equal(t, "degraded", state.state)
	assert.Equal(t, http.StatusOK, state.status, "all servers share Elasticsearch")
	answer := ask(t, running, refresh("u_refused", 10))
	assert.ElementsMatch(t, []string{"one", "two", "three"}, ids(answer))
	assert.Contains(t, answer.Degraded, "recall")

	send(http.MethodDelete, "/"+index+"-3/_alias/"+index, "")
	testenv.WaitFor(t, func() bool { return ready(t, running).state == "up" }, "recall works again")
	answer = ask(t, running, refresh("u_again", 10))
	assert.ElementsMatch(t, []string{"one", "two", "three"}, ids(answer))
	assert.Empty(t, answer.Degraded)
}

// TestExternalIndexMultipleAuthors checks items that are read by id instead of searched: trending
// and promoted ones, and those of an earlier answer. The document has all authors and languages.
func TestExternalIndexMultipleAuthors(t *testing.T) {
	t.Parallel()
	cfg, send := externalIndex(t)
	index := cfg.Elasticsearch.Index
	cfg.Elasticsearch.Fields.AuthorID, cfg.Elasticsearch.Fields.Lang = "by", "lang"
	send(http.MethodPut, "/"+index+"-1/_mapping", `{"properties":{"by":{"type":"keyword"},"lang":{"type":"keyword"}}}`)
	document(send, index+"-1", "d1", `,"id":"one","by":["ann","bob"],"lang":["en","fr"]`)
	document(send, index+"-1", "d2", `,"id":"two","by":"ann","lang":"en"`)
	a := open(t, cfg, WithClock(at(noon).Now), shortPauses)
	waitReady(t, a)
	for i, p := range []struct {
		profile feed.Profile
		want    []string
	}{
		{feed.Profile{MutedAuthors: []string{"bob"}}, []string{"two"}},
		{feed.Profile{Langs: []string{"fr"}}, []string{"one"}},
		{feed.Profile{Langs: []string{"de"}}, nil},
		{feed.Profile{Langs: []string{"en"}, MutedAuthors: []string{"cid"}}, []string{"one", "two"}},
	} {
		for where, agent := range map[string]string{"new": "u_new", "again": "u_again"} {
			agent = fmt.Sprint(agent, i)
			first := refresh(agent, 10)
			first.RequestID = "r-1"
			if where == "again" {
				assert.ElementsMatch(t, []string{"one", "two"}, ids(ask(t, a, first)))
			}
			require.NoError(t, a.Engine.PutProfile(t.Context(), agent, p.profile))
			assert.ElementsMatch(t, p.want, ids(ask(t, a, first)), "%s: %+v", where, p.profile)
		}
	}
	got := ask(t, a, refresh("u_anybody", 10)).Docs[0]
	if got.ID == "one" {
		assert.Contains(t, string(got.JSON), `"author_id":"ann"`)
		assert.Contains(t, string(got.JSON), `"freshet_author_ids":["ann","bob"],"freshet_langs":["en","fr"]`)
	}
}

// TestExternalIndexMutesCopyToTags has tags filled by copy_to, which are in no document. While the
// index cannot be searched, a reader who mutes a tag gets no substitute.
func TestExternalIndexMutesCopyToTags(t *testing.T) {
	t.Parallel()
	cfg, send := externalIndex(t)
	index := cfg.Elasticsearch.Index
	cfg.Elasticsearch.Fields.Tags = "tags"
	send(http.MethodPut, "/"+index+"-1/_mapping", `{"properties":{"tags":{"type":"keyword"},"section":{"type":"keyword","copy_to":"tags"}}}`)
	document(send, index+"-1", "d1", `,"id":"one","section":"sport"`)
	document(send, index+"-1", "d2", `,"id":"two","tags":["news"]`)
	a := open(t, cfg, WithClock(at(noon).Now), shortPauses, func(s *settings) { s.pauses.index.Fallback = 20 * time.Millisecond })
	waitReady(t, a)
	require.NoError(t, catalogtest.PutProfile(t.Context(), a.Catalog, "u_up", feed.Profile{MutedTags: []string{"sport"}}))
	require.NoError(t, catalogtest.PutProfile(t.Context(), a.Catalog, "u_down", feed.Profile{MutedTags: []string{"sport", "opera"}}))
	assert.Equal(t, []string{"two"}, ids(ask(t, a, refresh("u_up", 10))))
	first := refresh("u_again", 10)
	first.RequestID = "r-1"
	assert.ElementsMatch(t, []string{"one", "two"}, ids(ask(t, a, first)))
	require.NoError(t, a.Engine.PutProfile(t.Context(), "u_again", feed.Profile{MutedTags: []string{"sport"}}))
	assert.Equal(t, []string{"two"}, ids(ask(t, a, first)), "a retry shows nothing that was muted meanwhile")
	testenv.WaitFor(t, func() bool { return a.stores.shared.FallbackLeft() > 0 }, "a list that stands in")

	send(http.MethodPost, "/"+index+"-1/_close", "")
	answer := ask(t, a, refresh("u_anybody", 10))
	assert.ElementsMatch(t, []string{"one", "two"}, ids(answer))
	assert.Contains(t, answer.Degraded, "recall")
	_, err := a.Engine.Feed(t.Context(), refresh("u_down", 10))
	require.ErrorIs(t, err, recall.ErrUnavailable, "whether they mute an item is not known")
}

// recallOf returns the doctor's finding about recall.
func recallOf(t *testing.T, cfg configs.Config) doctor.Finding {
	t.Helper()
	var found []doctor.Finding
	for _, f := range doctor.Check(t.Context(), cfg, doctor.Options{}) {
		if f.What == "recall" {
			found = append(found, f)
		}
	}
	require.Len(t, found, 1)
	return found[0]
}

// TestExternalIndexExample runs the example of an external index in examples/own-index, changing
// only the address and the name.
func TestExternalIndexExample(t *testing.T) {
	t.Parallel()
	const dir = "../examples/own-index/"
	read := func(name string) []byte {
		data, err := os.ReadFile(dir + name)
		require.NoError(t, err)
		return data
	}
	cfg, err := configs.Load(configs.Options{Path: dir + "freshet.yaml"})
	require.NoError(t, err)
	address, index := testenv.Elastic(t)
	cfg.Elasticsearch.Addresses, cfg.Elasticsearch.Index = []string{address}, index
	cfg.DataDir = t.TempDir()
	send := func(method, path, contentType string, body []byte) {
		req, err := http.NewRequestWithContext(t.Context(), method, address+"/"+index+path, bytes.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", contentType)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		_ = res.Body.Close()
		require.Equal(t, http.StatusOK, res.StatusCode)
	}
	send(http.MethodPut, "", "application/json", read("mapping.json"))
	send(http.MethodPost, "/_bulk?refresh=true", "application/x-ndjson", read("posts.ndjson"))

	for _, f := range doctor.Check(t.Context(), cfg, doctor.Options{Fix: true}) {
		if strings.HasPrefix(f.What, "index ") { // the test Elasticsearch is a single node
			assert.Equal(t, doctor.OK, f.Level, "%s: %s", f.What, f.Detail)
		}
	}
	now := time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)
	cfg.Ranking.PopularityWeight = 1
	a := open(t, cfg, WithClock(at(now).Now))
	answer := ask(t, a, refresh("u_1", 10))
	assert.Equal(t, []string{"art-3", "art-1"}, ids(answer), "one story is shown once, by its better document")
	assert.JSONEq(t, `{"id":"art-1","group_id":"storm","title":"Storm closes the harbour","update_time":1772697600,
		"author_id":"lee","tags":["weather"],"paywall":false}`, string(answer.Docs[1].JSON))

	require.NoError(t, a.Engine.PutProfile(t.Context(), "u_2", feed.Profile{MutedAuthors: []string{"lee"}, Keywords: feed.Keywords("harbour"), Langs: []string{"en"}}))
	assert.Equal(t, []string{"art-2", "art-3"}, ids(ask(t, a, refresh("u_2", 10))))
}

// plainIndex creates the index of a configuration with the fields of Freshet's own index, except
// for the fields that Freshet fills in, and with the given mapping of the time.
func plainIndex(t *testing.T, cfg configs.Config, kept string) (mapping func() string) {
	t.Helper()
	client, err := connect.Elastic(cfg, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	body := `{"mappings":{"dynamic":false,"properties":{"id":{"type":"keyword"},"title":{"type":"text"},` +
		`"update_time":` + kept + `}}}`
	path := "/" + cfg.Elasticsearch.Index
	require.NoError(t, esindex.Do(t.Context(), client, http.MethodPut, path, "", []byte(body), nil))
	return func() (found string) {
		require.NoError(t, esindex.Do(t.Context(), client, http.MethodGet, path+"/_mapping", "", nil,
			func(b []byte) error { found = string(b); return nil }))
		return found
	}
}

// inSeconds is the mapping of the time in Freshet's own index.
const inSeconds = `{"type":"date","format":"epoch_second"}`

// TestIndexUnusableRefusesStart checks that a server does not start over an index managed by
// Freshet that has no token fields, nor over an external one with a time that cannot be decayed.
// The index is not changed.
func TestIndexUnusableRefusesStart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, kept string
		managed    bool
		says       string
	}{
		{"managed, without token fields", inSeconds, true, "name another one in elasticsearch.index"},
		{"external, with its time as text", `{"type":"text"}`, false, "a date or a number is required"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg := services(t)
			ownIndices(t, &cfg)
			cfg.Elasticsearch.ManageIndex = c.managed
			mapping := plainIndex(t, cfg, c.kept)
			before := mapping()
			_, err := Open(t.Context(), cfg, WithLogger(slog.New(slog.DiscardHandler)))
			require.ErrorIs(t, err, esindex.ErrUnusable)
			require.ErrorContains(t, err, c.says)
			for _, fix := range []bool{false, true} {
				said := map[doctor.Level][]string{}
				for _, f := range doctor.Check(t.Context(), cfg, doctor.Options{Fix: fix}) {
					if f.What == "index "+cfg.Elasticsearch.Index {
						said[f.Level] = append(said[f.Level], f.Detail)
					}
				}
				require.Len(t, said[doctor.Broken], 1, "%v", said)
				assert.Contains(t, said[doctor.Broken][0], c.says)
				for _, m := range said[doctor.OK] {
					assert.Contains(t, m, "created", "the indices beside it")
				}
			}
			assert.Equal(t, before, mapping())
		})
	}
}

// TestExternalIndexWithoutTokenFields checks that an external index without token fields is used
// with its own analyzer.
func TestExternalIndexWithoutTokenFields(t *testing.T) {
	t.Parallel()
	t.Run("external", func(t *testing.T) {
		t.Parallel()
		cfg := services(t)
		ownIndices(t, &cfg)
		cfg.Elasticsearch.ManageIndex = false
		plainIndex(t, cfg, inSeconds)
		waitReady(t, open(t, cfg))
	})
}

// TestExternalIndexWithFreshetFields has an external index with exactly the fields of Freshet's own
// index, and documents with other ids.
func TestExternalIndexWithFreshetFields(t *testing.T) {
	t.Parallel()
	cfg := services(t)
	ownIndices(t, &cfg)
	cfg.Elasticsearch.ManageIndex = false
	send, index := elasticsearchSender(t, cfg), cfg.Elasticsearch.Index
	client, err := connect.Elastic(cfg, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	_, err = esindex.Ensure(t.Context(), client, index, esindex.Fields{})
	require.NoError(t, err)
	send(http.MethodPut, "/"+index+"/_doc/x1?refresh=true", fmt.Sprintf(`{"id":"one","title":"One","update_time":%d,"freshet_popularity":-3}`, noon.Unix()))
	cfg.Ranking.PopularityWeight = 1
	a := open(t, cfg, WithClock(at(noon).Now), shortPauses)
	waitReady(t, a)
	answer := ask(t, a, refresh("u_1", 10))
	assert.Equal(t, []string{"one"}, ids(answer))
	assert.Empty(t, answer.Degraded)
	require.NoError(t, a.Catalog.Remove(t.Context(), "one"))
	docs, err := a.Catalog.Docs(t.Context(), []string{"one"})
	require.NoError(t, err)
	assert.True(t, docs[0].Missing())
}
