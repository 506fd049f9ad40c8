package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

const rankingSecret = "a-token-for-ranking"

type ranked struct {
	Version     int
	By, Why     string
	Ranking     feed.Ranking
	Experiments []struct {
		Name    string
		Share   float64
		Ranking feed.Ranking
	}
}

func rank(t testing.TB, a *App, method, path, body, ifMatch string) (v ranked, status int, msg string) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	r.Header.Set("X-Admin-Token", rankingSecret)
	if ifMatch != "" {
		r.Header.Set("If-Match", ifMatch)
	}
	w := httptest.NewRecorder()
	a.Handler.ServeHTTP(w, r)
	answer := struct {
		Msg  string
		Data *ranked
	}{Data: &v}
	if err := json.Unmarshal(w.Body.Bytes(), &answer); err != nil {
		t.Errorf("%s %s: %v: %s", method, path, err, w.Body)
	}
	return v, w.Code, answer.Msg
}

func putRanking(t *testing.T, a *App, body string) ranked {
	t.Helper()
	v, status, msg := rank(t, a, http.MethodPut, "/v1/ranking", body, "")
	require.Equal(t, http.StatusOK, status, msg)
	return v
}

func inForce(t *testing.T, a *App, version int) {
	t.Helper()
	testenv.WaitFor(t, func() bool { return a.ranking.InForce().Version == version }, "version %d is in force", version)
}

// contest returns two items: the configured ranking prefers the new one, a ranking with a weight of
// popularity the liked one.
func contest() []feed.Item {
	return []feed.Item{
		{ID: "new", Title: "New", UpdateTime: noon.Add(-2 * time.Hour).Unix()},
		{ID: "liked", Title: "Liked", UpdateTime: noon.Add(-10 * time.Hour).Unix(), Likes: 1_000_000},
	}
}

var newcomers atomic.Int64

// first returns the first item for a reader without impressions.
func first(t *testing.T, a *App) string {
	t.Helper()
	return ids(ask(t, a, refresh(fmt.Sprint("somebody_", newcomers.Add(1)), 2)))[0]
}

// adminServers opens servers with open admin routes. Recalls are cached and the clock stands still,
// so a cached recall never expires: a change of the ranking must take effect all the same.
func adminServers(t *testing.T, m mode, cfg *configs.Config) []*App {
	t.Helper()
	return servers(t, m, func(c *configs.Config) {
		c.Auth.AdminToken = rankingSecret
		*cfg = *c
	}, WithRecallCache(time.Minute, staleFor))
}

// TestRankingReachesEveryServer changes the ranking on one server: the next refresh on each server
// uses it, and it survives a restart.
func TestRankingReachesEveryServer(t *testing.T) {
	t.Parallel()
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			var cfg configs.Config
			all := adminServers(t, m, &cfg)
			a, b := all[0], all[len(all)-1]
			put(t, a, contest()...)
			require.Equal(t, "new", first(t, a))
			require.Equal(t, "new", first(t, b))

			v := putRanking(t, a, `{"ranking":{"popularity":{"weight":5}},"by":"ana","why":"likes count"}`)
			require.Equal(t, 1, v.Version)
			require.Equal(t, "liked", first(t, a), "at once on this server, a kept recall notwithstanding")
			inForce(t, b, 1)
			require.Equal(t, "liked", first(t, b))

			v, status, _ := rank(t, b, http.MethodGet, "/v1/ranking", "", "")
			require.Equal(t, http.StatusOK, status)
			require.Equal(t, "ana", v.By)
			require.Equal(t, "weight=5", v.Ranking.Changes(cfg.Ranking))

			// The revert is sent to the other server; the first one follows.
			v, status, msg := rank(t, b, http.MethodPost, "/v1/ranking/revert", `{"version":0,"by":"bob"}`, `"1"`)
			require.Equal(t, http.StatusOK, status, msg)
			require.Equal(t, 2, v.Version)
			inForce(t, a, 2)
			require.Equal(t, "new", first(t, a))
			putRanking(t, a, `{"ranking":{"popularity":{"weight":7}}}`)

			closeApp(t, a)
			again := open(t, cfg, WithClock(at(noon).Now))
			require.Equal(t, 3, again.ranking.InForce().Version, "stored, and in force from the start")
			require.Equal(t, "liked", first(t, again))
			var history struct{ Versions []ranked }
			r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/ranking/history", nil)
			r.Header.Set("X-Admin-Token", rankingSecret)
			w := httptest.NewRecorder()
			again.Handler.ServeHTTP(w, r)
			require.NoError(t, json.Unmarshal(w.Body.Bytes(), &struct{ Data any }{&history}))
			require.Len(t, history.Versions, 4)
		})
	}
}

// TestRankingWhileTheCatalogIsDown checks that the ranking and its experiments stay in force, and
// that changes are refused until the catalog is back.
func TestRankingWhileTheCatalogIsDown(t *testing.T) {
	cfg, es := cutOff(t)
	cfg.Auth.AdminToken = rankingSecret
	a := open(t, cfg, WithClock(at(noon).Now))
	direct := cfg
	direct.DataDir, direct.Elasticsearch.Addresses = t.TempDir(), []string{"http://" + es.to}
	b := open(t, direct, WithClock(at(noon).Now))
	put(t, b, madeItems(600)...)
	putRanking(t, a, `{"ranking":{"popularity":{"weight":5}},"experiments":[{"name":"half","share":0.5,"ranking":{"base":1}}]}`)
	ask(t, a, refresh("u_1", 10))
	cacheAll(t, a)

	es.set(true)
	testenv.WaitFor(t, func() bool {
		_, status, _ := rank(t, a, http.MethodPut, "/v1/ranking", `{"ranking":{"base":2}}`, "")
		return status == http.StatusServiceUnavailable
	}, "a change is refused")
	testenv.WaitFor(t, func() bool { return strings.Contains(scrape(t, a), "\nfreshet_ranking_stale 1\n") },
		"the server notices that it cannot read the ranking")
	inForce(t, b, 1)
	putRanking(t, b, `{"ranking":{"popularity":{"weight":0}}}`)
	v, status, _ := rank(t, a, http.MethodGet, "/v1/ranking", "", "")
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, 1, v.Version, "what is in force is told")
	variants := map[string]int{}
	for i := range 50 {
		variant, r := a.ranking.For(fmt.Sprint("u_", i))
		variants[variant]++
		require.InDelta(t, 5, r.PopularityWeight, 0)
	}
	require.Len(t, variants, 2, "experiments go on")
	answer := ask(t, a, refresh("u_1", 10))
	require.Equal(t, []string{"recall"}, answer.Degraded)
	require.Len(t, answer.Docs, 10, "readers are answered")

	es.set(false)
	inForce(t, a, 2)
	healthy(t, a)
}

func scrape(t *testing.T, a *App) string {
	t.Helper()
	w := httptest.NewRecorder()
	a.Handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	return w.Body.String()
}
