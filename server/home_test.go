package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

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
	settled(t, a)
	refreshIndex(t, a)
}

// TestHome pages a reader's home to its end. The pattern holds as long as its sources have entries,
// nothing is repeated, and posts that are not public are shown only to their audience.
func TestHome(t *testing.T) {
	t.Parallel()
	a := open(t, embedded(t))
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
}

// turningAway is an action that hides things from a reader, and a check of what must never be shown
// afterwards.
type turningAway struct {
	name string
	do   func(t *testing.T, a *App, reader string)
	gone func(id, source, reason string) bool
}

// hiddenPosts are far down in the readers' sessions.
var hiddenPosts = []string{"post:ann_20", "post:ann_22", "post:bob_24", "doc_30"}

var turningsAway = []turningAway{
	{"hide", func(t *testing.T, a *App, reader string) {
		react(t, a, reader, hiding(hiddenPosts)...)
	}, func(id, _, _ string) bool { return slices.Contains(hiddenPosts, id) }},
	{"mute an author", func(t *testing.T, a *App, reader string) {
		require.NoError(t, a.Engine.PutProfile(t.Context(), reader, feed.Profile{MutedAuthors: []string{"bob"}}))
	}, func(id, _, _ string) bool { return strings.HasPrefix(id, "post:bob") }},
	{"mute a tag", func(t *testing.T, a *App, reader string) {
		require.NoError(t, a.Engine.PutProfile(t.Context(), reader, feed.Profile{MutedTags: []string{"dull"}}))
	}, func(id, _, _ string) bool { return strings.HasPrefix(id, "post:bob") }},
	{"unfollow", func(t *testing.T, a *App, reader string) {
		_, err := a.network.fanout.Store().Unfollow(t.Context(), reader, "bob", time.Time{})
		require.NoError(t, err)
	}, func(id, source, reason string) bool {
		odd := strings.HasPrefix(id, "post:bob") && (id[len(id)-1]-'0')%2 == 1 // for followers
		return odd || strings.HasPrefix(id, "post:bob") && (source == "following" || reason == "follow")
	}},
	{"block", func(t *testing.T, a *App, reader string) {
		_, err := a.network.fanout.Store().Block(t.Context(), reader, "bob")
		require.NoError(t, err)
	}, func(id, _, _ string) bool { return strings.HasPrefix(id, "post:bob") }},
	{"be blocked", func(t *testing.T, a *App, reader string) {
		_, err := a.network.fanout.Store().Block(t.Context(), "bob", reader)
		require.NoError(t, err)
	}, func(id, _, _ string) bool { return strings.HasPrefix(id, "post:bob") }},
}

// TestTheNextPageKnows has a reader hide, mute or unfollow between two pages of one session. The
// next page must reflect it, in both feeds and on every server.
func TestTheNextPageKnows(t *testing.T) {
	t.Parallel()
	for _, m := range networks {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			cfg := m.config(t)
			one := open(t, cfg)
			two := one
			if m.name == "services" {
				cfg.DataDir = t.TempDir()
				two = open(t, cfg)
			}
			fillHome(t, one)
			for _, away := range turningsAway {
				for _, name := range []string{"home", "for_you"} {
					t.Run(away.name+" "+name, func(t *testing.T) {
						t.Parallel()
						reader := strings.ReplaceAll(away.name+"_"+name, " ", "_")
						for _, author := range []string{"ann", "bob"} {
							_, err := one.network.fanout.Store().Follow(t.Context(), reader, author, time.Time{})
							require.NoError(t, err)
						}
						away.check(t, one, two, reader, name)
					})
				}
			}
		})
	}
}

// check creates a session on one server, performs the action there, and reads to the end,
// alternately on another server and on this one.
func (away *turningAway) check(t *testing.T, one, two *App, reader, name string) {
	ctx, met := t.Context(), 0
	page, err := askFeed(ctx, one, reader, name, "refresh", 5)
	require.NoError(t, err)
	require.Len(t, page.Data.Items, 5)
	away.do(t, one, reader)
	for n := 0; n < 30; n++ {
		page, err = askFeed(ctx, []*App{two, one}[n%2], reader, name, "load_more", 5)
		require.NoError(t, err)
		for _, it := range page.Data.Items {
			reason := ""
			if it.InFeed.Reason != nil {
				reason = *it.InFeed.Reason
			}
			assert.False(t, away.gone(it.ID, it.InFeed.Source, reason), "%s of %s, page %d", it.ID, it.InFeed.Source, n+2)
			met++
		}
	}
	assert.Empty(t, page.Data.Items, "it was not read to its end")
	assert.Greater(t, met, 30, "others stay")
}
