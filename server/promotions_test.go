package server

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/signals/events"
	"github.com/freshet/freshet/social"
)

// askAdmin makes a call as an admin and as an agent, and returns the data of its answer.
func askAdmin[T any](t *testing.T, a *App, method, path, body string) (data T) {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("X-Admin-Token", a.cfg.Auth.AdminToken)
	r.Header.Set("X-Agent-ID", "u_1")
	w := httptest.NewRecorder()
	a.Handler.ServeHTTP(w, r)
	require.Equal(t, http.StatusOK, w.Code, w.Body.String())
	answer := struct {
		Data *T `json:"data"`
	}{&data}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer))
	return data
}

// TestPromotions follows the promotion of a post from PUT /v1/promoted to home, and from there to
// the report.
func TestPromotions(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	cfg.Auth.AdminToken = "an-admin-token-for-promotions"
	a := open(t, cfg, WithClock(at(noon).Now))
	put(t, a, authored(20)...)
	post, _, err := a.Social.CreatePost(t.Context(), social.Post{
		ID: "post:ad", Author: "ana", Caption: "Rain at last", CreatedAt: noon.Unix() - 60, Audience: social.Audience{Public: true},
	}, social.Creation{})
	require.NoError(t, err)
	start := func(id, item, more string) social.PromotionState {
		body := fmt.Sprintf(`{"item_id":%q,"from":"2026-03-06T12:00:00Z","until":%d%s}`, item, noon.Unix()+3600, more)
		return askAdmin[social.PromotionState](t, a, "PUT", "/v1/promoted/"+id, body)
	}
	promotion := social.Promotion{ID: "one", ItemID: post.ID, From: noon.Unix(), Until: noon.Unix() + 3600, Weight: 1}
	assert.Equal(t, social.PromotionState{Promotion: promotion, Runs: true}, start("one", post.ID, ""))
	none := start("two", "nothing", `,"tags":["go","go"]`)
	assert.Equal(t, "there is no item with this id", none.Why)
	assert.Equal(t, []string{"go"}, none.Tags)
	require.NoError(t, a.network.promotions.Refresh(t.Context()))

	page := home(t, a, "u_1", "refresh", 10).Data.Items
	require.Len(t, page, 10)
	assert.Equal(t, post.ID, page[8].ID)
	assert.Equal(t, "promoted", page[8].InFeed.Source)
	require.NoError(t, a.Flush(t.Context()))
	react(t, a, "u_1", act(events.Click, post.ID), act(events.Like, post.ID))
	require.NoError(t, a.Flush(t.Context()))
	shown := api.Shown{Impressions: 1, Clicks: 1, CTR: 1, CTRInterval: events.Wilson(1, 1)}
	assert.Equal(t, []api.ReportPromotion{{ID: "one", Shown: shown, Likes: 1}}, askAdmin[api.Report](t, a, "GET", "/v1/ranking/report", "").Promotions)

	askAdmin[struct{}](t, a, "DELETE", "/v1/promoted/one", "")
	assert.Equal(t, []social.PromotionState{none}, askAdmin[social.PromotionPage](t, a, "GET", "/v1/promoted", "").Promotions)
}
