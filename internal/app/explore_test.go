package app

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/signals/events"
)

// feedPage returns the ids of a page of POST /v1/feed, and those marked as explored.
func feedPage(t *testing.T, a *App, body string) (ids, explored []string) {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/v1/feed", strings.NewReader(body))
	r.Header.Set("X-Agent-ID", "u_1")
	w := httptest.NewRecorder()
	a.Handler.ServeHTTP(w, r)
	require.Equal(t, http.StatusOK, w.Code, w.Body.String())
	var answer struct {
		Data struct {
			Items []struct {
				ID     string `json:"id"`
				InFeed struct {
					Source string `json:"source"`
				} `json:"in_feed"`
			} `json:"items"`
		} `json:"data"`
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer))
	for _, it := range answer.Data.Items {
		ids = append(ids, it.ID)
		if it.InFeed.Source != "" {
			require.Equal(t, "explore", it.InFeed.Source)
			explored = append(explored, it.ID)
		}
	}
	return ids, explored
}

// TestExploration checks, from the configuration to the pages, that a refresh, the page after it
// and a retry of each mark the explored items, and that an explanation names the same ones.
func TestExploration(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	cfg.Ranking.Explore.Share = 0.5
	a := open(t, cfg, WithClock(at(noon).Now))
	items := authored(120)
	for i := range items {
		items[i].UpdateTime -= int64(i) * 60
	}
	put(t, a, items...)
	first, drawn := explores(t, a, 10)
	react(t, a, "u_1", act(events.Click, first), act(events.Click, drawn[0]), act(events.Click, drawn[1]))
	got := totals(t, a)[feed.Control]
	assert.EqualValues(t, 40, got.Counts["impressions"])
	assert.EqualValues(t, 20, got.Counts["explored"])
	assert.EqualValues(t, 2, got.Counts["explored_clicks"])
	assert.EqualValues(t, 3, got.Counts["click"])
}

// explores requests two pages, each twice, and returns the first item and all explored ones.
func explores(t *testing.T, a *App, drawn int) (first string, all []string) {
	x, err := a.Engine.Explain(t.Context(), engine.ExplainRequest{Agent: "u_1", Limit: 20})
	require.NoError(t, err)
	var explained []string
	for _, c := range x.Page() {
		if c.Variety.Source != "" {
			explained = append(explained, c.ID)
		}
	}

	seen := newOnce()
	for i, body := range []string{
		`{"action":"refresh","limit":20,"request_id":"first"}`,
		`{"action":"load_more","limit":20,"request_id":"second"}`,
	} {
		ids, explored := feedPage(t, a, body)
		require.Len(t, ids, 20)
		require.Len(t, explored, drawn)
		assert.NotContains(t, explored, ids[4], "the first five go by score")
		seen.add(t, body, ids)
		if i == 0 {
			assert.Equal(t, explored, explained, "explain draws the same")
		}
		if all = append(all, explored...); i == 0 {
			first = ids[0]
		}
		again, marked := feedPage(t, a, body)
		assert.Equal(t, ids, again)
		assert.Equal(t, explored, marked, "a retry marks the same")
	}
	return first, all
}
