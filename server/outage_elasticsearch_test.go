package server

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/ranking"
	"github.com/freshet/freshet/recall"
)

// TestElasticsearchDown cuts the link to Elasticsearch: sessions continue, a refresh uses an
// earlier recall, and readers of whom too little is known get an error.
func TestElasticsearchDown(t *testing.T) {
	t.Parallel()
	cfg, es := elasticsearchLink(t)
	clock := at(noon)
	a := open(t, cfg, WithClock(clock.Now))
	put(t, a, madeItems(600)...)
	_, err := a.Catalog.Docs(t.Context(), []string{"doc_0000"})
	require.NoError(t, err)
	seen := newOnce()
	first := ask(t, a, refresh("u_1", 10))
	seen.add(t, "before", ids(first))
	for _, agent := range []string{"u_2", "u_3", "u_4"} {
		ask(t, a, refresh(agent, 5))
	}
	mine := feed.Profile{Interests: map[string]float64{"tag-3": 2}}
	require.NoError(t, a.Engine.PutProfile(t.Context(), "u_2", mine))
	cacheAllItems(t, a)

	es.set(true)
	clock.Advance(time.Minute)
	answer := ask(t, a, loadMore("u_1", 10))
	assert.Nil(t, answer.Degraded, "load_more is unaffected while contents are cached")
	seen.add(t, "load_more", ids(answer))
	answer = ask(t, a, refresh("u_1", 10))
	assert.Equal(t, []string{"recall"}, answer.Degraded, "an earlier recall stands in")
	assert.Len(t, answer.Docs, 10)
	seen.add(t, "stale", ids(answer))

	answer = ask(t, a, refresh("u_2", 10))
	assert.Equal(t, []string{"recall"}, answer.Degraded, "no recall for this profile: the old session's next page")
	assert.Len(t, answer.Docs, 10)

	badge := ask(t, a, engine.Request{Agent: "u_1", Action: engine.ActionRefresh, Limit: 10, Silent: true})
	assert.Empty(t, badge.Docs)
	assert.Equal(t, []string{"recall"}, badge.Degraded, "what is new is not known")

	answer = ask(t, a, refresh("u_3", 10))
	assert.Equal(t, []string{"recall"}, answer.Degraded, "u_3 has no profile, like u_1: the same query")
	_, err = a.Engine.Feed(t.Context(), refresh("u_new", 10))
	require.ErrorIs(t, err, catalog.ErrUnavailable, "whether u_new mutes anything cannot be told")
	clock.Advance(staleFor)
	require.NoError(t, a.stores.sessions.Delete(t.Context(), "u_4"))
	_, err = a.Engine.Feed(t.Context(), refresh("u_4", 10))
	require.ErrorIs(t, err, recall.ErrUnavailable, "too old, and no session: an error")

	es.set(false)
	waitHealthy(t, a)
	answer = ask(t, a, refresh("u_1", 10))
	assert.Nil(t, answer.Degraded)
	seen.add(t, "after", ids(answer))
}

func mixed() []feed.Item {
	items := madeItems(100)
	for i := range items {
		items[i].AuthorID = fmt.Sprintf("author-%d", i%2)
		items[i].Lang = []string{"en", "de"}[i%3%2]
	}
	return items
}

// TestElasticsearchDownFallbackList checks that while Elasticsearch is down a reader without a
// session gets the list that the server recalled for all readers, without what they have muted. No
// content is cached in Redis.
func TestElasticsearchDownFallbackList(t *testing.T) {
	t.Parallel()
	cfg, es := elasticsearchLink(t)
	cfg.Ranking.Diversity = noDiversity
	put(t, open(t, cfg, WithClock(at(noon).Now)), mixed()...)
	cfg.DataDir = t.TempDir()
	clock := at(noon)
	a := open(t, cfg, WithClock(clock.Now))
	mine := feed.Profile{
		Interests: map[string]float64{"tag-3": 2}, Langs: []string{"en"},
		MutedAuthors: []string{"author-1"}, MutedTags: []string{"tag-2"}, MutedItems: []string{"doc_0000"},
	}
	for _, agent := range []string{"u_1", "u_late"} {
		require.NoError(t, a.Engine.PutProfile(t.Context(), agent, mine))
	}
	require.NoError(t, a.Catalog.Remove(t.Context(), "doc_0006"))
	retitled := mixed()[12]
	retitled.Title = "Corrected"
	_, err := a.Catalog.Put(t.Context(), []feed.Item{retitled})
	require.NoError(t, err)

	patched := mixed()[18]
	_, err = catalog.UpdateOne(t.Context(), a.Catalog, patched.ID, func(it feed.Item) (feed.Item, error) {
		it.Title = "Corrected"
		return it, nil
	})
	require.NoError(t, err)

	es.set(true)
	var want []string
	for _, it := range mixed() {
		if !mine.Refuses(&it) && it.ID != "doc_0006" {
			want = append(want, it.ID)
		}
	}
	answer := ask(t, a, refresh("u_1", 10))
	assert.Equal(t, []string{"recall"}, answer.Degraded)
	assert.Equal(t, want[:10], ids(answer))
	for _, it := range items(t, answer) {
		if it.ID == retitled.ID || it.ID == patched.ID {
			assert.Equal(t, "Corrected", it.Title, "what was written since is shown as it is")
		}
	}
	assert.True(t, answer.HasMore)
	answer = ask(t, a, loadMore("u_1", 10))
	assert.Nil(t, answer.Degraded)
	assert.Equal(t, want[10:20], ids(answer))
	answer = ask(t, a, refresh("u_1", 100))
	assert.Equal(t, want[20:], ids(answer), "never twice")

	_, err = a.Engine.Feed(t.Context(), refresh("u_new", 10))
	require.ErrorIs(t, err, catalog.ErrUnavailable, "whether u_new mutes anything cannot be told")
	badge := ask(t, a, engine.Request{Agent: "u_late", Action: engine.ActionRefresh, Limit: 10, Silent: true})
	assert.Equal(t, []string{"recall"}, badge.Degraded)

	clock.Advance(staleFor - time.Minute)
	state := ready(t, a)
	assert.Equal(t, http.StatusOK, state.status, "all servers share Elasticsearch")
	assert.Equal(t, "degraded", state.state)
	require.NotNil(t, state.secondsLeft)
	assert.EqualValues(t, 60, *state.secondsLeft)
	clock.Advance(time.Minute)
	_, err = a.Engine.Feed(t.Context(), refresh("u_late", 10))
	require.ErrorIs(t, err, recall.ErrUnavailable, "too old")
	state = ready(t, a)
	assert.Equal(t, http.StatusOK, state.status)
	assert.Equal(t, "down", state.state)

	es.set(false)
	waitHealthy(t, a)
	assert.Equal(t, readiness{status: http.StatusOK, state: "up"}, ready(t, a))
}

// coldNode is an Elasticsearch behind a link that can be cut. Until it is warm it answers, but
// fails searches of items, like a node that has just started.
type coldNode struct {
	*link
	warm    func()        // from then on it answers searches
	refused chan struct{} // receives when a recall fails
}

func startCold(t *testing.T, cfg *configs.Config) *coldNode {
	t.Helper()
	warm := make(chan struct{})
	n := &coldNode{warm: sync.OnceFunc(func() { close(warm) }), refused: make(chan struct{})}
	pass := testenv.Forward(t, cfg.Elasticsearch.Addresses[0], nil)
	search := "/" + cfg.Elasticsearch.Index + "/_search"
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == search {
			body, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(body))
			told := n.refused
			if bytes.Contains(body, []byte(`"terminate_after"`)) { // a check of the mapping
				told = make(chan struct{}, 1)
			}
			select {
			case <-warm:
			case told <- struct{}{}:
				w.Header().Set("X-Elastic-Product", "Elasticsearch")
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
		}
		pass.ServeHTTP(w, r)
	}))
	t.Cleanup(node.Close)
	t.Cleanup(n.warm)
	n.link = newLink(t, node.Listener.Addr().String())
	cfg.Elasticsearch.Addresses = []string{"http://" + n.l.Addr().String()}
	return n
}

// TestElasticsearchDownAtStart checks that the server starts, serves what it can, and becomes ready
// after Elasticsearch has answered a search. The index is external, so the server must not guess
// its fields. The stored ranking is in force before the first recall, which must not use the
// configured one.
func TestElasticsearchDownAtStart(t *testing.T) {
	t.Parallel()
	cfg := services(t)
	ownIndices(t, &cfg)
	fields := &cfg.Elasticsearch.Fields
	fields.ID, fields.Title, fields.UpdateTime = "doc_id", "headline", "published_at"
	before := open(t, cfg, WithClock(at(noon).Now))
	put(t, before, madeItems(600)...)
	first := ask(t, before, refresh("u_1", 10))
	require.Nil(t, first.Degraded)
	cacheAllItems(t, before)
	_, err := before.ranking.Change(t.Context(), ranking.Change{
		By: "test", Why: "test", Edit: func(r *feed.Ranking) error { r.Decay.Scale = 3 * time.Hour; return nil },
	})
	require.NoError(t, err)

	es := startCold(t, &cfg)
	es.set(true)
	cfg.DataDir = t.TempDir()
	a := open(t, cfg, WithClock(at(noon).Now), shortPauses)
	state := ready(t, a)
	assert.Equal(t, http.StatusServiceUnavailable, state.status)
	assert.Equal(t, "down", state.state)
	assert.NotEmpty(t, state.error)
	answer := ask(t, a, loadMore("u_1", 10))
	seen := newOnce()
	seen.add(t, "before", ids(first))
	seen.add(t, "without Elasticsearch", ids(answer))
	_, err = a.Engine.Feed(t.Context(), refresh("u_new", 10))
	require.ErrorIs(t, err, catalog.ErrUnavailable)
	_, err = a.Catalog.Put(t.Context(), madeItems(1))
	require.ErrorIs(t, err, catalog.ErrUnavailable, "nothing is written under names that are guessed")
	_, err = a.ranking.Current(t.Context())
	require.ErrorIs(t, err, ranking.ErrUnavailable, "what is configured may not be what is in force")

	es.set(false)
	<-es.refused // the first recall
	assert.Equal(t, 3*time.Hour, a.ranking.InForce().Live.Ranking.Decay.Scale)
	<-es.refused
	assert.Equal(t, http.StatusServiceUnavailable, ready(t, a).status, "it answers pings, but no search")
	es.warm()
	waitReady(t, a)
	answer = ask(t, a, refresh("u_1", 10))
	assert.Nil(t, answer.Degraded)
	assert.Len(t, answer.Docs, 10)
	seen.add(t, "after", ids(answer))
	es.set(true)
	state = ready(t, a)
	assert.Equal(t, http.StatusOK, state.status)
	assert.Equal(t, "degraded", state.state)
}

// TestElasticsearchErrorStatuses checks that, whatever status Elasticsearch or a proxy before it
// answers, known readers get degraded answers, writes are refused for now, and readiness reports
// it.
func TestElasticsearchErrorStatuses(t *testing.T) {
	t.Parallel()
	cfg := services(t)
	var status atomic.Int64
	var own atomic.Bool // Elasticsearch answers itself
	behind := testenv.Forward(t, cfg.Elasticsearch.Addresses[0], nil)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		code := int(status.Load())
		switch {
		case code == 0:
			behind.ServeHTTP(w, r)
		case own.Load():
			w.Header().Set("X-Elastic-Product", "Elasticsearch")
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(code)
			_, _ = fmt.Fprintf(w, `{"error":{"type":"security_exception","reason":"x"},"status":%d}`, code)
		default:
			w.Header().Set("Location", "/login")
			w.WriteHeader(code)
			_, _ = fmt.Fprint(w, "<html>error</html>")
		}
	}))
	t.Cleanup(proxy.Close)
	cfg.Elasticsearch.Addresses = []string{proxy.URL}
	a := open(t, cfg, WithClock(at(noon).Now))
	put(t, a, madeItems(600)...)
	cacheAllItems(t, a)
	call := func(method, path, agent, body string) (int, string) {
		r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
		r.Header.Set("X-Agent-ID", agent)
		w := httptest.NewRecorder()
		a.Handler.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	n := 0
	for _, answer := range []struct {
		status int
		own    bool
	}{
		{401, true},
		{403, true},
		{500, true},
		{302, false},
		{401, false},
		{403, false},
		{404, false},
		{408, false},
		{413, false},
		{500, false},
		{520, false},
		{400, false},
	} {
		n++
		agent, name := fmt.Sprintf("known_%d", n), fmt.Sprintf("%d own=%t", answer.status, answer.own)
		code, body := call("POST", "/v1/feed", agent, `{"action":"refresh","limit":10}`)
		require.Equal(t, http.StatusOK, code, body)
		own.Store(answer.own)
		status.Store(int64(answer.status))
		for _, action := range []string{"load_more", "refresh"} {
			code, body = call("POST", "/v1/feed", agent, `{"action":"`+action+`","limit":10}`)
			assert.Equal(t, http.StatusOK, code, "%s, %s: %s", name, action, body)
		}
		assert.Contains(t, body, `"degraded":["recall"]`, "%s: %s", name, body)
		code, body = call("PUT", "/v1/agents/"+agent+"/profile", agent, `{"interests":{"a":1}}`)
		assert.Equal(t, http.StatusServiceUnavailable, code, "%s: %s", name, body)
		_, body = call("GET", "/readyz", "", "")
		assert.Contains(t, body, fmt.Sprintf("responds %d", answer.status), name)
		status.Store(0)
	}
}
