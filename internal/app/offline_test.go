package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine/offline"
	"github.com/freshet/freshet/internal/demo"
	"github.com/freshet/freshet/internal/testenv"
)

// studied opens a system with the demo catalog as of a moment.
func studied(t *testing.T, m mode, now time.Time) *App {
	cfg := m.config(t)
	cfg.Auth.AdminToken = "a-token-for-tests"
	a := open(t, cfg, WithClock(at(now).Now))
	put(t, a, demo.Generate(7, 1500, now)...)
	for agent, p := range demo.Profiles() {
		require.NoError(t, a.Engine.PutProfile(t.Context(), agent, p))
	}
	return a
}

// callAdmin calls a route with the admin token and decodes its data.
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

var studiedAt = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

const everyone = `["u_1","u_2","u_3","u_4","u_5","u_6","u_7","u_8"]`

// TestCompareShowsKnownEffects changes one parameter at a time, whose effect is
// known. Both recall backends must tell the same figures.
func TestCompareShowsKnownEffects(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	said := map[string][]offline.Comparison{}
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			a := studied(t, m, studiedAt)
			compare := func(b string) offline.Comparison {
				c := callAdmin[offline.Comparison](t, a, "/v1/compare", fmt.Sprintf(`{"b":%q,"agents":%s}`, b, everyone))
				assert.Equal(t, studiedAt, c.At)
				said[m.name] = append(said[m.name], c)
				return c
			}
			same := compare("")
			assert.Equal(t, 8, same.Figures.Overlap.N)
			assert.Equal(t, []float64{1, 1, 1, 0}, []float64{
				same.Figures.Overlap.Min, same.Figures.RBO.Min, same.Figures.KendallTau.Min, same.Figures.NewShare.Max,
			}, "the live ranking is itself")
			assert.Equal(t, same.Figures.MedianAgeA, same.Figures.MedianAgeB)

			last := same
			for i, scale := range []string{"48h", "120h", "300h"} {
				longer := compare("scale=" + scale)
				assert.Equal(t, same.Figures.MedianAgeA, longer.Figures.MedianAgeA, "A stays what it is")
				assert.Greater(t, longer.Figures.MedianAgeB.Mean, last.Figures.MedianAgeB.Mean, "a longer scale shows older items")
				assert.Less(t, longer.Figures.Overlap.Mean, last.Figures.Overlap.Mean, "the further away, the less in common")
				assert.Less(t, longer.Figures.RBO.Mean, last.Figures.RBO.Mean, "%d", i)
				last = longer
			}
			shorter := compare("scale=3h,offset=0s")
			assert.Less(t, shorter.Figures.MedianAgeB.Mean, same.Figures.MedianAgeB.Mean, "a shorter one younger ones")
			onlyNew := compare("base=1000")
			assert.Less(t, onlyNew.Figures.MedianAgeB.Mean, same.Figures.MedianAgeB.Mean, "interests drown in a large base: what is left is freshness")
		})
	}
	if len(said) == 2 {
		assert.Equal(t, said["embedded"], said["services"], "both backends say the same")
	}
}

// TestCompareChangesNothing asks for comparisons between two pages: they are
// those that come anyway.
func TestCompareChangesNothing(t *testing.T) {
	t.Parallel()
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			a := studied(t, m, studiedAt)
			seen := newOnce()
			seen.add(t, "refresh", ids(ask(t, a, refresh("u_1", 10))))
			recorded(t, a)
			before := callAdmin[offline.Comparison](t, a, "/v1/compare", `{"b":"scale=72h","agents":["u_1"],"lists":true}`)
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
			seen.add(t, "load more", ids(ask(t, a, loadMore("u_1", 10))))
			totals := a.Totals()
			after := callAdmin[offline.Comparison](t, a, "/v1/compare", `{"b":"scale=72h","agents":["u_1"],"lists":true}`)
			assert.Equal(t, before, after)
			assert.Equal(t, totals.Delivered, a.Totals().Delivered)
		})
	}
}

func TestCompareDrawsAgents(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			a := studied(t, m, studiedAt)
			require.Eventually(t, func() bool { // profiles are drawn once their index has refreshed
				agents, err := a.stores.agents.Agents(t.Context(), 200, 1)
				return err == nil && len(agents) == 8
			}, time.Minute, 50*time.Millisecond)
			all := callAdmin[offline.Comparison](t, a, "/v1/compare", `{"b":"scale=72h","sample":200}`)
			assert.Equal(t, 8, all.Figures.Agents)
			some := callAdmin[offline.Comparison](t, a, "/v1/compare", `{"b":"scale=72h","sample":3,"seed":5}`)
			assert.Len(t, some.PerAgent, 3)
			assert.Equal(t, some, callAdmin[offline.Comparison](t, a, "/v1/compare", `{"b":"scale=72h","sample":3,"seed":5}`))
		})
	}
}

// TestReplayPrefersWhatMadeTheClicks makes clicks on the tops of a ranking, so
// that this ranking must score best.
func TestReplayPrefersWhatMadeTheClicks(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	type outcomes struct {
		Outcomes []offline.Outcome `json:"outcomes"`
	}
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			a := studied(t, m, studiedAt)
			var clicks []string
			for i := range 8 {
				moment := studiedAt.Add(-time.Duration(i) * 3 * time.Hour)
				c := callAdmin[offline.Comparison](t, a, "/v1/compare",
					fmt.Sprintf(`{"b":"scale=96h","agents":["u_%d"],"lists":true,"k":5,"at":%d}`, i+1, moment.Unix()))
				for _, p := range c.Lists.B {
					clicks = append(clicks, fmt.Sprintf(`{"agent_id":"u_%d","id":%q,"at":%q}`, i+1, p.ID, moment.Format(time.RFC3339)))
				}
			}
			got := callAdmin[outcomes](t, a, "/v1/replay",
				fmt.Sprintf(`{"clicks":[%s],"rankings":["","scale=96h","scale=6h"]}`, strings.Join(clicks, ",")))
			board := offline.NewScoreboard(3, 5)
			for i, o := range got.Outcomes {
				require.Equal(t, offline.Ranked, o.State)
				assert.Equal(t, i%5+1, o.Ranks[1], "where it stood when it was clicked")
				board.Add("u_1", o.Ranks)
			}
			scores := board.Standings()
			assert.Equal(t, 1.0, scores[1].Scores.HitRate)
			for _, other := range []int{0, 2} {
				assert.Greater(t, scores[1].Scores.HitRate, scores[other].Scores.HitRate)
				assert.Greater(t, scores[1].Scores.NDCG, scores[other].Scores.NDCG)
				assert.Greater(t, scores[1].Scores.MRR, scores[other].Scores.MRR)
			}
		})
	}
}
