package server

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
	"github.com/freshet/freshet/server/demo"
)

// studied opens a system with the demo catalog as of a time.
func studied(t *testing.T, now time.Time) *App {
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

var studiedAt = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

// TestCompareChangesNothing makes comparisons between two pages, which must be the same as without
// them. The requested rankings are compared and replayed, for the agents with profiles.
func TestCompareChangesNothing(t *testing.T) {
	t.Parallel()
	a := studied(t, studiedAt)
	seen := newOnce()
	seen.add(t, "refresh", ids(ask(t, a, refresh("u_1", 10))))
	recorded(t, a)
	compare := func(body string) offline.Comparison { return callAdmin[offline.Comparison](t, a, "/v1/compare", body) }
	before := compare(`{"b":"scale=72h","agents":["u_1"],"lists":true}`)
	assert.Equal(t, studiedAt, before.At)
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

	replay := fmt.Sprintf(`{"clicks":[{"agent_id":"u_1","id":%q,"at":%d}],"rankings":["","scale=72h"]}`, before.Lists.B[4].ID, studiedAt.Unix())
	replayed := callAdmin[struct{ Outcomes []offline.Outcome }](t, a, "/v1/replay", replay)
	require.Len(t, replayed.Outcomes, 1)
	assert.Equal(t, 5, replayed.Outcomes[0].Ranks[1], "where it stands")
	assert.Equal(t, 8, compare(`{"b":"scale=72h","sample":200}`).Figures.Agents, "all who have a profile")

	assert.Equal(t, before, compare(`{"b":"scale=72h","agents":["u_1"],"lists":true}`))
	assert.Equal(t, totals.Delivered, a.Totals().Delivered)
}
