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

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server/demo"
	"github.com/freshet/freshet/signals/events"
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

func waitRanking(t *testing.T, a *App, version int) {
	t.Helper()
	testenv.WaitFor(t, func() bool { return a.ranking.InForce().Version == version }, "version %d is in force", version)
}

// newAndLiked returns two items: the configured ranking prefers the new one, a ranking with a
// weight of popularity the liked one.
func newAndLiked() []feed.Item {
	return []feed.Item{
		{ID: "new", Title: "New", UpdateTime: noon.Add(-2 * time.Hour).Unix()},
		{ID: "liked", Title: "Liked", UpdateTime: noon.Add(-10 * time.Hour).Unix(), Likes: 1_000_000},
	}
}

var newReaders atomic.Int64

// firstItem returns the first item for a reader without impressions.
func firstItem(t *testing.T, a *App) string {
	t.Helper()
	return ids(ask(t, a, refresh(fmt.Sprint("somebody_", newReaders.Add(1)), 2)))[0]
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

// TestRankingChangeReachesEveryServer changes the ranking on one server: the next refresh on each
// server uses it, and it survives a restart.
func TestRankingChangeReachesEveryServer(t *testing.T) {
	t.Parallel()
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			var cfg configs.Config
			all := adminServers(t, m, &cfg)
			a, b := all[0], all[len(all)-1]
			put(t, a, newAndLiked()...)
			require.Equal(t, "new", firstItem(t, a))
			require.Equal(t, "new", firstItem(t, b))

			v := putRanking(t, a, `{"ranking":{"popularity":{"weight":5}},"by":"ana","why":"likes count"}`)
			require.Equal(t, 1, v.Version)
			require.Equal(t, "liked", firstItem(t, a), "at once on this server, a kept recall notwithstanding")
			waitRanking(t, b, 1)
			require.Equal(t, "liked", firstItem(t, b))

			v, status, _ := rank(t, b, http.MethodGet, "/v1/ranking", "", "")
			require.Equal(t, http.StatusOK, status)
			require.Equal(t, "ana", v.By)
			require.Equal(t, "weight=5", v.Ranking.Changes(cfg.Ranking))

			// The revert is sent to the other server; the first one follows.
			v, status, msg := rank(t, b, http.MethodPost, "/v1/ranking/revert", `{"version":0,"by":"bob"}`, `"1"`)
			require.Equal(t, http.StatusOK, status, msg)
			require.Equal(t, 2, v.Version)
			waitRanking(t, a, 2)
			require.Equal(t, "new", firstItem(t, a))
			putRanking(t, a, `{"ranking":{"popularity":{"weight":7}}}`)

			closeApp(t, a)
			again := open(t, cfg, WithClock(at(noon).Now))
			require.Equal(t, 3, again.ranking.InForce().Version, "stored, and in force from the start")
			require.Equal(t, "liked", firstItem(t, again))
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

// TestRankingElasticsearchDown checks that the ranking and its experiments stay in force, and that
// changes are refused until the catalog is back.
func TestRankingElasticsearchDown(t *testing.T) {
	cfg, es := elasticsearchLink(t)
	cfg.Auth.AdminToken = rankingSecret
	a := open(t, cfg, WithClock(at(noon).Now))
	direct := cfg
	direct.DataDir, direct.Elasticsearch.Addresses = t.TempDir(), []string{"http://" + es.to}
	b := open(t, direct, WithClock(at(noon).Now))
	put(t, b, madeItems(600)...)
	putRanking(t, a, `{"ranking":{"popularity":{"weight":5}},"experiments":[{"name":"half","share":0.5,"ranking":{"base":1}}]}`)
	ask(t, a, refresh("u_1", 10))
	cacheAllItems(t, a)

	es.set(true)
	testenv.WaitFor(t, func() bool {
		_, status, _ := rank(t, a, http.MethodPut, "/v1/ranking", `{"ranking":{"base":2}}`, "")
		return status == http.StatusServiceUnavailable
	}, "a change is refused")
	testenv.WaitFor(t, func() bool { return strings.Contains(scrape(t, a), "\nfreshet_ranking_stale 1\n") },
		"the server notices that it cannot read the ranking")
	waitRanking(t, b, 1)
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
	waitRanking(t, a, 2)
	waitHealthy(t, a)
}

func scrape(t *testing.T, a *App) string {
	t.Helper()
	w := httptest.NewRecorder()
	a.Handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	return w.Body.String()
}

// TestRankingExperimentNameReused starts an experiment, ends it and reuses its name: the report has
// no data of the first one.
func TestRankingExperimentNameReused(t *testing.T) {
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			var cfg configs.Config
			all := adminServers(t, m, &cfg)
			a, b := all[0], all[len(all)-1]
			put(t, a, authored(60)...)
			shown := func(agent string) int64 {
				ask(t, a, refresh(agent, 5))
				require.NoError(t, a.tally.Flush(t.Context()))
				var report struct{ Variants []api.ReportRow }
				r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/ranking/report", nil)
				r.Header.Set("X-Admin-Token", rankingSecret)
				w := httptest.NewRecorder()
				b.Handler.ServeHTTP(w, r)
				require.NoError(t, json.Unmarshal(w.Body.Bytes(), &struct{ Data any }{&report}))
				for _, row := range report.Variants {
					if row.Name == "new" {
						return row.Impressions
					}
				}
				return -1
			}
			require.EqualValues(t, -1, shown("u_0"))
			putRanking(t, a, `{"experiments":[{"name":"new","share":1,"ranking":{"base":1}}]}`)
			require.EqualValues(t, 5, shown("u_1"))
			putRanking(t, b, `{"experiments":[{"name":"new","share":1}]}`)
			waitRanking(t, a, 2)
			require.EqualValues(t, 10, shown("u_2"), "it goes on")
			_, status, msg := rank(t, b, http.MethodPut, "/v1/ranking", `{"experiments":[{"name":"new","share":1,"ranking":{"base":2}}]}`, "")
			require.Equal(t, http.StatusBadRequest, status)
			require.Contains(t, msg, "use another name, or end it first")
			putRanking(t, a, `{"experiments":[]}`)
			require.EqualValues(t, 10, shown("u_3"), "of the one that has ended")
			putRanking(t, a, `{"experiments":[{"name":"new","share":1,"ranking":{"base":2}}]}`)
			require.EqualValues(t, 5, shown("u_4"))
		})
	}
}

// TestRankingExploration checks, from the configuration to the counts, that a page has its share of
// explored items, and that clicks on them are counted.
func TestRankingExploration(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	cfg.Ranking.Explore.Share = 0.5
	a := open(t, cfg, WithClock(at(noon).Now))
	put(t, a, authored(120)...)
	page := ask(t, a, refresh("u_1", 20))
	var clicks []engine.Act
	for i, ref := range page.Refs {
		if ref.Source == feed.SourceExplore {
			clicks = append(clicks, act(events.Click, page.Docs[i].ID))
		}
	}
	require.Len(t, clicks, 10)
	react(t, a, "u_1", act(events.Click, page.Docs[0].ID), clicks[0], clicks[1])
	n := totals(t, a)[feed.Control].Counts
	assert.Equal(t, []int64{20, 10, 3, 2}, []int64{n["impressions"], n["explored"], n["click"], n["explored_clicks"]})
}

// demoSystem opens a system with the demo catalog as of a time.
func demoSystem(t *testing.T, now time.Time) *App {
	cfg := embedded(t)
	cfg.Auth.AdminToken = "a-token-for-tests"
	a := open(t, cfg, WithClock(at(now).Now))
	put(t, a, demo.Generate(7, 1500, now)...)
	for agent, p := range demo.Profiles() {
		require.NoError(t, a.Engine.PutProfile(t.Context(), agent, p))
	}
	return a
}

func callAdmin[T any](t *testing.T, a *App, path, body string) T {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+a.cfg.Auth.AdminToken)
	w := httptest.NewRecorder()
	a.Handler.ServeHTTP(w, r)
	require.Equal(t, http.StatusOK, w.Code, w.Body.String())
	var envelope struct{ Data T }
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &envelope))
	return envelope.Data
}

var demoTime = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

// TestCompareAndReplayAreReadOnly makes comparisons between two pages, which must be the same as
// without them. The requested rankings are compared and replayed, for the agents with profiles.
func TestCompareAndReplayAreReadOnly(t *testing.T) {
	t.Parallel()
	a := demoSystem(t, demoTime)
	seen := newOnce()
	seen.add(t, "refresh", ids(ask(t, a, refresh("u_1", 10))))
	waitRecorded(t, a)
	compare := func(body string) offline.Comparison { return callAdmin[offline.Comparison](t, a, "/v1/compare", body) }
	before := compare(`{"b":"scale=72h","agents":["u_1"],"lists":true}`)
	assert.Equal(t, demoTime, before.At)
	require.Len(t, before.Lists.A, 20)
	shown := 0
	for _, p := range before.Lists.A {
		if _, was := seen.seen[p.ID]; was {
			shown++
		}
		assert.InEpsilon(t, float64(p.Score), p.Relevance*p.Decay*p.Popularity, 1e-5, p.ID)
		assert.NotEmpty(t, p.Title)
	}
	assert.Equal(t, 10, shown, "what the agent has been shown is still ranked")
	assert.Greater(t, before.Figures.MedianAgeB.Mean, before.Figures.MedianAgeA.Mean, "a longer scale shows older items")
	seen.add(t, "load more", ids(ask(t, a, loadMore("u_1", 10))))
	totals := a.Totals()

	replay := fmt.Sprintf(`{"clicks":[{"agent_id":"u_1","id":%q,"at":%d}],"rankings":["","scale=72h"]}`, before.Lists.B[4].ID, demoTime.Unix())
	replayed := callAdmin[struct{ Outcomes []offline.Outcome }](t, a, "/v1/replay", replay)
	require.Len(t, replayed.Outcomes, 1)
	assert.Equal(t, 5, replayed.Outcomes[0].Ranks[1], "where it stands")
	assert.Equal(t, 8, compare(`{"b":"scale=72h","sample":200}`).Figures.Agents, "all who have a profile")

	assert.Equal(t, before, compare(`{"b":"scale=72h","agents":["u_1"],"lists":true}`))
	assert.Equal(t, totals.Delivered, a.Totals().Delivered)
}
