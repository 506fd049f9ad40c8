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

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// homeAnswer is a page of home.
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

// sources are the sources of the page, one letter a position.
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

// home asks for a page of home.
func home(t *testing.T, a *App, agent, action string, limit int) homeAnswer {
	t.Helper()
	body := fmt.Sprintf(`{"feed":"home","action":%q,"limit":%d}`, action, limit)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/feed", strings.NewReader(body))
	r.Header.Set("X-Agent-ID", agent)
	w := httptest.NewRecorder()
	a.Handler.ServeHTTP(w, r)
	var answer homeAnswer
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &answer), w.Body)
	require.Equal(t, http.StatusOK, w.Code, w.Body)
	return answer
}

// fillHome makes 40 items, of 40 stories, and 30 posts of ann and of bob each, public and for followers
// in turn, both followed by u.
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
				ID: fmt.Sprintf("post:%s_%d", author, i), Author: author, Caption: fmt.Sprintf("%[2]s%[1]da %[2]s%[1]db %[2]s%[1]dc", i, author), CreatedAt: at.Unix(),
				Audience: social.Audience{Public: i%2 == 0, Followers: i%2 == 1},
			}, social.Creation{At: at})
			require.NoError(t, err)
		}
	}
	settled(t, a)
	refreshIndex(t, a)
}

// TestHome pages a reader's home to its end: the pattern holds while there is something,
// nothing comes twice, what is not public only to whom it is for.
func TestHome(t *testing.T) {
	t.Parallel()
	for _, m := range networks {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			a := open(t, m.config(t))
			fillHome(t, a)
			page := home(t, a, "u", "refresh", 20)
			require.Empty(t, page.Data.Degraded)
			assert.Equal(t, "fffdfffddffffdfffddf", page.sources(), "nothing trends and nothing is promoted")
			met := map[string]bool{}
			for n := 0; len(page.Data.Items) > 0; n++ {
				require.Less(t, n, 20)
				for _, id := range page.ids() {
					require.False(t, met[id], id)
					met[id] = true
				}
				page = home(t, a, "u", "load_more", 20)
			}
			assert.Len(t, met, 100, "60 posts and 40 items")
			forYou := ask(t, a, refresh("u", 20))
			assert.Empty(t, forYou.Docs, "what home has shown, for-you does not")

			page = home(t, a, "stranger", "refresh", 100)
			assert.Equal(t, strings.Repeat("d", 70), page.sources(), "who follows nobody discovers what is public")
		})
	}
}

// TestHomeFollowsTheReader unfollows, mutes and hides between two pages of one session:
// the next page knows.
func TestHomeFollowsTheReader(t *testing.T) {
	t.Parallel()
	for _, m := range networks {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			a := open(t, m.config(t))
			fillHome(t, a)
			store := a.network.fanout.Store()
			page := home(t, a, "u", "refresh", 5)
			require.Len(t, page.Data.Items, 5)
			_, err := store.Unfollow(t.Context(), "u", "bob", time.Time{})
			require.NoError(t, err)
			for range 20 {
				page = home(t, a, "u", "load_more", 5)
				for _, it := range page.Data.Items {
					assert.False(t, it.InFeed.Source == "following" && strings.HasPrefix(it.ID, "post:bob"), it.ID)
				}
			}

			page = home(t, a, "v", "refresh", 5)
			require.NoError(t, a.Engine.PutProfile(t.Context(), "v", feed.Profile{MutedAuthors: []string{"ann"}}))
			for range 20 {
				page = home(t, a, "v", "load_more", 5)
				for _, id := range page.ids() {
					assert.False(t, strings.HasPrefix(id, "post:ann"), id)
				}
			}
		})
	}
}
