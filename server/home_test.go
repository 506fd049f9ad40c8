package server

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/signals/events"
	"github.com/freshet/freshet/signals/experiment"
	"github.com/freshet/freshet/social"
)

// TestHomePagesFollowPattern pages a reader's home to its end. The pattern holds as long as its
// sources have entries, nothing is repeated, and posts that are not public are shown only to their
// audience.
func TestHomePagesFollowPattern(t *testing.T) {
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

// hidingAction is an action that hides things from a reader, and a check of what must never be
// shown afterwards.
type hidingAction struct {
	name string
	do   func(t *testing.T, a *App, reader string)
	gone func(id, source, reason string) bool
}

// hiddenPosts are far down in the readers' sessions.
var hiddenPosts = []string{"post:ann_20", "post:ann_22", "post:bob_24", "doc_30"}

var hidingActions = []hidingAction{
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

// TestHomeNextPageReflectsHideAndMute has a reader hide, mute or unfollow between two pages of one
// session. The next page must reflect it, in both feeds and on every server.
func TestHomeNextPageReflectsHideAndMute(t *testing.T) {
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
			for _, away := range hidingActions {
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
func (away *hidingAction) check(t *testing.T, one, two *App, reader, name string) {
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
	shown := api.Shown{Impressions: 1, Clicks: 1, CTR: 1, CTRInterval: experiment.Wilson(1, 1)}
	assert.Equal(t, []api.ReportPromotion{{ID: "one", Shown: shown, Likes: 1}}, askAdmin[api.Report](t, a, "GET", "/v1/ranking/report", "").Promotions)

	askAdmin[struct{}](t, a, "DELETE", "/v1/promoted/one", "")
	assert.Equal(t, []social.PromotionState{none}, askAdmin[social.PromotionPage](t, a, "GET", "/v1/promoted", "").Promotions)
}
