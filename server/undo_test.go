package server

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/signals/events"
	"github.com/freshet/freshet/social"
)

// TestUndo takes a like of a post and a hide of an item back, on another server if there can be one:
// nothing of them remains, neither for the reader nor for others, and what was hidden is shown again.
func TestUndo(t *testing.T) {
	t.Parallel()
	for _, mode := range networks {
		t.Run(mode.name, func(t *testing.T) {
			t.Parallel()
			now, cfg := at(noon), mode.config(t)
			a := open(t, cfg, WithClock(now.Now))
			b := a
			if cfg.UsesRedis() {
				cfg.DataDir = t.TempDir()
				b = open(t, cfg, WithClock(now.Now))
			}
			does := func(a *App, method, path string) {
				t.Helper()
				require.Equal(t, http.StatusOK, asReader(t, a, method, path, ""))
				require.NoError(t, a.Flush(t.Context()))
			}
			post, _, err := a.network.fanout.Store().CreatePost(t.Context(),
				social.Post{Author: "ann", Caption: "Snow on the pass #ski", Audience: social.Audience{Public: true}}, social.Creation{})
			require.NoError(t, err)
			waitSettled(t, a)
			refreshIndex(t, a)
			items := authored(2)
			items[0].GroupID, items[1].GroupID = "story", "story"
			put(t, a, items...)
			require.NoError(t, a.Engine.Seen(t.Context(), "u_1", []string{post.ID}))
			require.Contains(t, ids(ask(t, a, refresh("u_1", 10))), items[0].ID)
			waitRecorded(t, a)
			require.NoError(t, a.Engine.PutProfile(t.Context(), "u_1", feed.Profile{Interests: map[string]float64{"snow": 1}}))

			like := "/v1/posts/" + post.ID + "/like"
			for range 2 {
				does(a, http.MethodPut, like)
				does(a, http.MethodPut, like)
				short, _ := popular(t, a, post.ID)
				require.InDelta(t, 1, short, 1e-9)
				require.Positive(t, learned(t, a, "u_1")["tag ski"].Score)
				does(b, http.MethodDelete, like)
				does(b, http.MethodDelete, like)
				short, long := popular(t, a, post.ID)
				assert.Zero(t, short+long)
				assert.Empty(t, learned(t, b, "u_1"))
			}

			acts := func(a *App, agent string, acts ...engine.Act) {
				t.Helper()
				require.Equal(t, len(acts), react(t, a, agent, acts...).Accepted)
				require.NoError(t, a.Flush(t.Context()))
			}
			item := items[0].ID
			acts(a, "u_1", act(events.Like, item))
			short, _ := popular(t, a, item)
			require.InDelta(t, 1, short, 1e-9)
			require.Positive(t, learned(t, a, "u_1")["author "+items[0].AuthorID].Score)
			for range 2 {
				acts(b, "u_1", act(events.Unlike, item))
				short, long := popular(t, a, item)
				assert.Zero(t, short+long)
				assert.Empty(t, learned(t, b, "u_1"))
			}
			require.NoError(t, a.Engine.Seen(t.Context(), "u_2", []string{item}))
			acts(a, "u_2", act(events.Click, item), act(events.Like, item), act(events.Unlike, item))
			require.NoError(t, a.Engine.Seen(t.Context(), "u_3", []string{item}))
			acts(b, "u_3", act(events.Unlike, item))
			assert.Equal(t, 2, react(t, a, "u_4", act(events.Unlike, item), act(events.Unlike, "nothing")).NotShown, "it would leave a record")
			short, _ = popular(t, a, item)
			assert.InDelta(t, 1, short, 1e-9, "a click, and what others have done, still count")

			require.Equal(t, 1, react(t, a, "u_1", act(events.Hide, items[0].ID)).Accepted)
			require.Positive(t, learned(t, a, "u_1")["author "+items[0].AuthorID].Factor)
			does(b, http.MethodDelete, "/v1/agents/u_1/muted/items/"+items[0].ID)
			assert.Empty(t, learned(t, b, "u_1"))
			profile, err := b.Engine.Profile(t.Context(), "u_1")
			require.NoError(t, err)
			assert.False(t, profile.Refuses(&items[1]), "its group is shown again, too")

			require.Equal(t, 1, react(t, a, "u_1", act(events.Hide, items[0].ID)).Accepted)
			require.Positive(t, learned(t, a, "u_1")["author "+items[0].AuthorID].Factor)
			require.NoError(t, b.Engine.PutProfile(t.Context(), "u_1", feed.Profile{MutedItems: []string{}}))
			assert.Empty(t, learned(t, b, "u_1"))
		})
	}
}
