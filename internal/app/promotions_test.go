package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/feed"
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

// TestPromotions follows a promotion from PUT /v1/promoted to the source of home, and from a page
// with its item to the report.
func TestPromotions(t *testing.T) {
	t.Parallel()
	cfg := embedded(t)
	cfg.Auth.AdminToken = "an-admin-token-for-promotions"
	clock := at(noon)
	a := open(t, cfg, WithClock(clock.Now))
	items := authored(3)
	put(t, a, items...)
	post, _, err := a.Social.CreatePost(t.Context(), social.Post{
		ID: "post:ad", Author: "ana", Caption: "Rain at last", CreatedAt: noon.Unix() - 60, Audience: social.Audience{Public: true},
	}, social.Creation{})
	require.NoError(t, err)

	type view struct {
		social.Promotion
		Runs bool
		Why  string
	}
	body := func(item string, more string) string {
		return fmt.Sprintf(`{"item_id":%q,"from":%q,"until":%d%s}`, item, "2026-03-06T12:00:00Z", noon.Unix()+3600, more)
	}
	for id, item := range map[string]string{"one": items[0].ID, "two": post.ID} {
		got := askAdmin[view](t, a, "PUT", "/v1/promoted/"+id, body(item, ""))
		assert.Equal(t, view{social.Promotion{ID: id, ItemID: item, From: noon.Unix(), Until: noon.Unix() + 3600, Weight: 1}, true, ""}, got)
	}
	got := askAdmin[view](t, a, "PUT", "/v1/promoted/three", body("nothing", `,"tags":["go","go"]`))
	assert.Equal(t, "there is no item with this id", got.Why)
	assert.Equal(t, []string{"go"}, got.Tags)
	require.NoError(t, a.network.promotions.Refresh(t.Context()))

	proposed, err := a.network.promotions.Propose(t.Context(), feed.Query{Agent: "u_1", Origin: clock.Now(), N: 10})
	require.NoError(t, err)
	require.Len(t, proposed.Proposals, 2)
	var refs []feed.Ref
	for _, p := range proposed.Proposals {
		refs = append(refs, feed.Ref{ID: p.ID, Group: p.Group, Source: feed.SourcePromoted})
	}
	// As a refresh of home does: the first page is popped, the rest is the session.
	ranked := append([]feed.Ref{{ID: items[2].ID, Group: items[2].ID}}, refs...)
	_, err = a.stores.sessions.Replace(t.Context(), cache.Replace{Agent: "u_1", Ranked: ranked, Limit: 1, Now: clock.Now()})
	require.NoError(t, err)
	type page struct {
		Items []struct {
			ID     string
			InFeed struct {
				Source     string
				IsPromoted bool `json:"is_promoted"`
			} `json:"in_feed"`
		}
	}
	shown := askAdmin[page](t, a, "POST", "/v1/feed", `{"action":"load_more","limit":2}`)
	require.Len(t, shown.Items, 2)
	for i, it := range shown.Items {
		assert.Equal(t, refs[i].ID, it.ID)
		assert.Equal(t, "promoted", it.InFeed.Source)
		assert.True(t, it.InFeed.IsPromoted)
	}
	require.NoError(t, a.Flush(t.Context()))
	require.Equal(t, 2, react(t, a, "u_1", act(events.Click, items[0].ID), act(events.Like, post.ID)).Accepted)
	require.NoError(t, a.Flush(t.Context()))
	report := func() []api.ReportPromotion {
		return askAdmin[api.Report](t, a, "GET", "/v1/ranking/report", "").Promotions
	}
	assert.Equal(t, []api.ReportPromotion{
		{ID: "one", Shown: api.Shown{Impressions: 1, Clicks: 1, CTR: 1, CTRInterval: events.Wilson(1, 1)}},
		{ID: "two", Shown: api.Shown{Impressions: 1, CTRInterval: events.Wilson(0, 1)}, Likes: 1},
	}, report())

	// A promoted item that is deleted is not shown, and the list reports it.
	require.NoError(t, a.Catalog.Remove(t.Context(), items[0].ID))
	require.NoError(t, a.Social.DeletePost(t.Context(), post.ID, "", noon))
	list := askAdmin[struct{ Promotions []view }](t, a, "GET", "/v1/promoted", "").Promotions
	require.Len(t, list, 3)
	for _, p := range list {
		assert.False(t, p.Runs, p.ID)
	}
	ids, err := a.network.promotions.Propose(t.Context(), feed.Query{Agent: "u_2", Origin: clock.Now(), N: 10})
	require.NoError(t, err)
	require.Len(t, ids.Proposals, 2, "until the next refresh")
	require.NoError(t, a.network.promotions.Refresh(t.Context()))
	ids, err = a.network.promotions.Propose(t.Context(), feed.Query{Agent: "u_2", Origin: clock.Now(), N: 10})
	require.NoError(t, err)
	assert.Empty(t, ids.Proposals)

	askAdmin[struct{}](t, a, "DELETE", "/v1/promoted/one", "")
	assert.Len(t, askAdmin[struct{ Promotions []view }](t, a, "GET", "/v1/promoted", "").Promotions, 2)
}
