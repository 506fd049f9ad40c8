package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
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

type readiness struct {
	status      int
	state       string
	error       string
	secondsLeft *int64
}

func ready(t *testing.T, a *App) readiness {
	t.Helper()
	w := httptest.NewRecorder()
	a.Handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", nil))
	var got struct {
		Data struct {
			Dependencies map[string]struct {
				State       string `json:"state"`
				Error       string `json:"error"`
				SecondsLeft *int64 `json:"seconds_left"`
			} `json:"dependencies"`
		} `json:"data"`
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &got))
	es := got.Data.Dependencies["elasticsearch"]
	return readiness{w.Code, es.State, es.Error, es.SecondsLeft}
}

func becomesReady(t *testing.T, a *App) {
	t.Helper()
	testenv.WaitFor(t, func() bool { return ready(t, a).status == http.StatusOK }, "the server is ready")
}

func mixed() []feed.Item {
	items := madeItems(100)
	for i := range items {
		items[i].AuthorID = fmt.Sprintf("author-%d", i%2)
		items[i].Lang = []string{"en", "de"}[i%3%2]
	}
	return items
}

// TestStandby checks that while Elasticsearch is down a reader without a session gets the list that
// the server recalled for all readers, without what they have muted. No content is cached in Redis.
func TestStandby(t *testing.T) {
	t.Parallel()
	cfg, es := cutOff(t)
	cfg.Ranking.Diversity = unvaried
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
	healthy(t, a)
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

// TestStartWithoutElasticsearch checks that the server starts, serves what it can, and becomes
// ready after Elasticsearch has answered a search. The index is external, so the server must not
// guess its fields. The stored ranking is in force before the first recall, which must not use the
// configured one.
func TestStartWithoutElasticsearch(t *testing.T) {
	t.Parallel()
	cfg := services(t)
	ownIndices(t, &cfg)
	fields := &cfg.Elasticsearch.Fields
	fields.ID, fields.Title, fields.UpdateTime = "doc_id", "headline", "published_at"
	before := open(t, cfg, WithClock(at(noon).Now))
	put(t, before, madeItems(600)...)
	first := ask(t, before, refresh("u_1", 10))
	require.Nil(t, first.Degraded)
	cacheAll(t, before)
	_, err := before.ranking.Change(t.Context(), ranking.Change{
		By: "test", Why: "test", Edit: func(r *feed.Ranking) error { r.Decay.Scale = 3 * time.Hour; return nil },
	})
	require.NoError(t, err)

	es := startCold(t, &cfg)
	es.set(true)
	cfg.DataDir = t.TempDir()
	a := open(t, cfg, WithClock(at(noon).Now), quick)
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
	becomesReady(t, a)
	answer = ask(t, a, refresh("u_1", 10))
	assert.Nil(t, answer.Degraded)
	assert.Len(t, answer.Docs, 10)
	seen.add(t, "after", ids(answer))
	es.set(true)
	state = ready(t, a)
	assert.Equal(t, http.StatusOK, state.status)
	assert.Equal(t, "degraded", state.state)
}

// testElastic returns the address of the real Elasticsearch, without a link.
func testElastic(t *testing.T) string {
	address, _ := testenv.Elastic(t)
	return address
}

// TestAWrongIndexFoundLate checks that an unusable index prevents a start, and that one found
// unusable later makes the server not ready until it is repaired.
func TestAWrongIndexFoundLate(t *testing.T) {
	t.Parallel()
	cfg, es := cutOff(t)
	ownIndices(t, &cfg)
	cfg.Elasticsearch.ManageIndex = false
	index := testElastic(t) + "/" + cfg.Elasticsearch.Index
	do := func(method, path, body string) {
		req, err := http.NewRequestWithContext(t.Context(), method, index+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		_ = res.Body.Close()
		require.Equal(t, http.StatusOK, res.StatusCode)
	}
	do(http.MethodPut, "", `{"mappings": {"dynamic": false, "properties": {"id": {"type": "keyword"}, "title": {"type": "text"}}}}`)
	_, err := Open(t.Context(), cfg, WithLogger(slog.New(slog.DiscardHandler)))
	require.ErrorContains(t, err, "update_time")

	es.set(true)
	log := &lines{}
	a := open(t, cfg, WithClock(at(noon).Now), WithLogger(slog.New(slog.NewTextHandler(log, nil))), quick)
	es.set(false)
	testenv.WaitFor(t, func() bool {
		state := ready(t, a)
		return state.status == http.StatusServiceUnavailable && strings.Contains(state.error, "update_time")
	}, "/readyz says what the index lacks")
	assert.Contains(t, log.String(), "update_time")
	do(http.MethodPut, "/_mapping", `{"properties": {"update_time": {"type": "date", "format": "epoch_second"}}}`)
	becomesReady(t, a)
}

// lines is a log that may be read and written concurrently.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}
