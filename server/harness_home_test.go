package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/recall/trending"
	"github.com/freshet/freshet/social"
)

// homeAnswer is a page of home or of another feed.
type homeAnswer struct {
	Code int    `json:"code"`
	Msg  string `json:"msg"`
	Data struct {
		Items []struct {
			ID     string `json:"id"`
			InFeed struct {
				Source string  `json:"source"`
				Reason *string `json:"reason"`
			} `json:"in_feed"`
		} `json:"items"`
		HasMore  bool     `json:"has_more"`
		Degraded []string `json:"degraded"`
	} `json:"data"`
}

// sources returns the sources of the page, as one letter per position.
func (h *homeAnswer) sources() string {
	var b strings.Builder
	for _, it := range h.Data.Items {
		b.WriteString((it.InFeed.Source + "-")[:1])
	}
	return b.String()
}

func (h *homeAnswer) ids() []string {
	ids := make([]string, len(h.Data.Items))
	for i, it := range h.Data.Items {
		ids[i] = it.ID
	}
	return ids
}

func home(t *testing.T, a *App, agent, action string, limit int) homeAnswer {
	t.Helper()
	answer, err := askHome(t.Context(), a, agent, action, limit)
	require.NoError(t, err)
	return answer
}

func askHome(ctx context.Context, a *App, agent, action string, limit int) (homeAnswer, error) {
	return askFeed(ctx, a, agent, "home", action, limit)
}

func askFeed(ctx context.Context, a *App, agent, name, action string, limit int) (answer homeAnswer, err error) {
	body := fmt.Sprintf(`{"feed":%q,"action":%q,"limit":%d}`, name, action, limit)
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/v1/feed", strings.NewReader(body))
	r.Header.Set("X-Agent-ID", agent)
	w := httptest.NewRecorder()
	a.Handler.ServeHTTP(w, r)
	if err = json.Unmarshal(w.Body.Bytes(), &answer); err == nil && w.Code != http.StatusOK {
		err = fmt.Errorf("%d: %s", w.Code, w.Body)
	}
	return answer, err
}

// fillHome creates 40 items with 40 stories, and 30 posts each of ann and bob, alternately public
// and for followers. u follows both.
func fillHome(t *testing.T, a *App) {
	t.Helper()
	now := a.clock()
	items := make([]feed.Item, 40)
	for i := range items {
		items[i] = feed.Item{ID: fmt.Sprintf("doc_%d", i), Title: fmt.Sprintf("i%da i%db i%dc", i, i, i), UpdateTime: now.Add(-time.Duration(i+1) * time.Minute).Unix()}
	}
	put(t, a, items...)
	store := a.network.fanout.Store()
	for _, author := range []string{"ann", "bob"} {
		_, err := store.Follow(t.Context(), "u", author, time.Time{})
		require.NoError(t, err)
		for i := range 30 {
			at := now.Add(-time.Duration(i+1) * time.Minute)
			_, _, err := store.CreatePost(t.Context(), social.Post{
				ID: fmt.Sprintf("post:%s_%d", author, i), Author: author, Tags: map[string][]string{"bob": {"dull"}}[author], Caption: fmt.Sprintf("%[2]s%[1]da %[2]s%[1]db %[2]s%[1]dc", i, author), CreatedAt: at.Unix(),
				Audience: social.Audience{Public: i%2 == 0, Followers: i%2 == 1},
			}, social.Creation{At: at})
			require.NoError(t, err)
		}
	}
	waitSettled(t, a)
	refreshIndex(t, a)
}

// waitTrending waits until the trending set is of the clock's current time.
func waitTrending(t testing.TB, a *App) *trending.Set {
	t.Helper()
	now := a.clock().Unix()
	testenv.WaitFor(t, func() bool {
		_ = a.trending.Update(t.Context())
		set, _ := a.trending.Set()
		return set != nil && set.At == now
	}, "what is trending is computed")
	set, _ := a.trending.Set()
	return set
}

// promote starts promotions of items to everybody.
func promote(t *testing.T, a *App, items ...string) {
	t.Helper()
	for i, id := range items {
		require.NoError(t, a.network.fanout.Store().PutPromotion(t.Context(), social.Promotion{
			ID: fmt.Sprint("p", i), ItemID: id, From: noon.Unix() - 1, Until: noon.Unix() + 3600, Weight: 1,
		}))
	}
	require.NoError(t, a.network.promotions.Refresh(t.Context()))
}

// guestAnswer is a page of the guest feed.
type guestAnswer struct {
	Code int `json:"code"`
	Data struct {
		Items []struct {
			ID     string `json:"id"`
			InFeed struct {
				Source     string `json:"source"`
				Trend      string `json:"trend"`
				IsPromoted bool   `json:"is_promoted"`
			} `json:"in_feed"`
		} `json:"items"`
		Degraded []string `json:"degraded"`
	} `json:"data"`
	header http.Header
	raw    string
}

func (g guestAnswer) ids() (ids []string) {
	for _, it := range g.Data.Items {
		ids = append(ids, it.ID)
	}
	return ids
}

func guestFeed(t testing.TB, a *App, query string) guestAnswer {
	t.Helper()
	w := httptest.NewRecorder()
	a.Handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/v1/feed/guest"+query, nil))
	g := guestAnswer{header: w.Result().Header, raw: w.Body.String()}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &g), g.raw)
	return g
}
