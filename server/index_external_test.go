package server

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog/catalogtest"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/recall"
	"github.com/freshet/freshet/server/doctor"
)

const othersMapping = `{"mappings":{"properties":{"id":{"type":"keyword"},"title":{"type":"text"},"published":{"type":"date"},"votes":{"type":"integer"},"freshet_popularity":{"type":"alias","path":"votes"}}}}`

// othersIndex returns a configuration over an external index, with a name that is an alias of one
// index, and a function that sends requests to that Elasticsearch.
func othersIndex(t *testing.T) (configs.Config, func(method, path, body string)) {
	t.Helper()
	cfg := services(t)
	ownIndices(t, &cfg)
	cfg.Elasticsearch.ManageIndex = false
	cfg.Elasticsearch.Fields = configs.Fields{ID: "id", Title: "title", UpdateTime: "published"}
	cfg.Ranking.PopularityWeight = 1
	send := sender(t, cfg)
	index := cfg.Elasticsearch.Index
	send(http.MethodPut, "/"+index+"-1", othersMapping)
	send(http.MethodPut, "/"+index+"-1/_alias/"+index, "")
	return cfg, send
}

// document adds a document to the index; rest has its other fields.
func document(send func(method, path, body string), index, id, rest string) {
	send(http.MethodPut, "/"+index+"/_doc/"+id+"?refresh=true", fmt.Sprintf(`{"title":%q,"published":%d%s}`, "About "+id, noon.UnixMilli(), rest))
}

// TestOthersDocuments checks that no document and no index behind the alias prevents a server from
// answering or starting; the doctor reports what is skipped. When an index with another mapping
// joins the alias, Elasticsearch fails the searches, and servers answer with their earlier recall
// and report the error in /readyz.
func TestOthersDocuments(t *testing.T) {
	t.Parallel()
	cfg, send := othersIndex(t)
	index := cfg.Elasticsearch.Index
	document(send, index+"-1", "d1", `,"id":"one"`)
	running := open(t, cfg, WithClock(at(noon).Now), quick, func(s *settings) { s.pauses.index.Fallback = 20 * time.Millisecond })
	assert.Equal(t, []string{"one"}, ids(ask(t, running, refresh("u_1", 10))))
	assert.Equal(t, doctor.OK, recallOf(t, cfg).Level)

	document(send, index+"-1", "d2", "")
	document(send, index+"-1", "d3", `,"id":"two","votes":-1`)
	send(http.MethodPut, "/"+index+"-2", othersMapping)
	document(send, index+"-2", "d4", `,"id":"three","votes":-7`)
	send(http.MethodPut, "/"+index+"-2/_alias/"+index, "")
	reader := 1
	testenv.WaitFor(t, func() bool {
		reader++ // a reader without impressions
		return len(ids(ask(t, running, refresh(fmt.Sprint("u_", reader), 10)))) == 3
	}, "the running server shows what can be used")
	cfg.DataDir = t.TempDir()
	fresh := open(t, cfg, WithClock(at(noon).Now), quick)
	becomesReady(t, fresh)
	assert.ElementsMatch(t, []string{"one", "two", "three"}, ids(ask(t, fresh, refresh("u_new", 10))))
	found := recallOf(t, cfg)
	assert.Equal(t, doctor.Warning, found.Level)
	assert.Contains(t, found.Detail, "1 with invalid id")

	becomesReady(t, running)
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

// TestItemsOfSeveralAuthors checks items that are read by id instead of searched: trending and
// promoted ones, and those of an earlier answer. The document has all authors and languages.
func TestItemsOfSeveralAuthors(t *testing.T) {
	t.Parallel()
	cfg, send := othersIndex(t)
	index := cfg.Elasticsearch.Index
	cfg.Elasticsearch.Fields.AuthorID, cfg.Elasticsearch.Fields.Lang = "by", "lang"
	send(http.MethodPut, "/"+index+"-1/_mapping", `{"properties":{"by":{"type":"keyword"},"lang":{"type":"keyword"}}}`)
	document(send, index+"-1", "d1", `,"id":"one","by":["ann","bob"],"lang":["en","fr"]`)
	document(send, index+"-1", "d2", `,"id":"two","by":"ann","lang":"en"`)
	a := open(t, cfg, WithClock(at(noon).Now), quick)
	becomesReady(t, a)
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

// TestMutesThatOnlyTheIndexKnows has tags filled by copy_to, which are in no document. While the
// index cannot be searched, a reader who mutes a tag gets no substitute.
func TestMutesThatOnlyTheIndexKnows(t *testing.T) {
	t.Parallel()
	cfg, send := othersIndex(t)
	index := cfg.Elasticsearch.Index
	cfg.Elasticsearch.Fields.Tags = "tags"
	send(http.MethodPut, "/"+index+"-1/_mapping", `{"properties":{"tags":{"type":"keyword"},"section":{"type":"keyword","copy_to":"tags"}}}`)
	document(send, index+"-1", "d1", `,"id":"one","section":"sport"`)
	document(send, index+"-1", "d2", `,"id":"two","tags":["news"]`)
	a := open(t, cfg, WithClock(at(noon).Now), quick, func(s *settings) { s.pauses.index.Fallback = 20 * time.Millisecond })
	becomesReady(t, a)
	require.NoError(t, catalogtest.PutProfile(t.Context(), a.Catalog, "u_up", feed.Profile{MutedTags: []string{"sport"}}))
	require.NoError(t, catalogtest.PutProfile(t.Context(), a.Catalog, "u_down", feed.Profile{MutedTags: []string{"sport", "opera"}}))
	assert.Equal(t, []string{"two"}, ids(ask(t, a, refresh("u_up", 10))))
	first := refresh("u_again", 10)
	first.RequestID = "r-1"
	assert.ElementsMatch(t, []string{"one", "two"}, ids(ask(t, a, first)))
	require.NoError(t, a.Engine.PutProfile(t.Context(), "u_again", feed.Profile{MutedTags: []string{"sport"}}))
	assert.Equal(t, []string{"two"}, ids(ask(t, a, first)), "a retry shows nothing that was muted meanwhile")
	testenv.WaitFor(t, func() bool { return a.stores.front.FallbackLeft() > 0 }, "a list that stands in")

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
