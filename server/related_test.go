package server

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/signals/coread"
	"github.com/freshet/freshet/social"
)

// relatedIDs returns the ids of what is related to an item for an agent.
func relatedIDs(t *testing.T, a *App, agent, item string) []string {
	t.Helper()
	got, err := a.Engine.Related(t.Context(), agent, item, 100)
	require.NoError(t, err)
	ids := []string{}
	for _, d := range got.Docs {
		ids = append(ids, d.ID)
	}
	return ids
}

// TestRelatedAudience: what many people have read together is named only to those who may see it, and not
// across a block.
func TestRelatedAudience(t *testing.T) {
	for _, m := range networks {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			now, cfg := at(noon), m.config(t)
			cfg.Ranking.CoRead.Weight = 3
			a := open(t, cfg, WithClock(now.Now))
			items := madeItems(6)
			for i := range items {
				items[i].Tags, items[i].AuthorID = nil, ""
			}
			put(t, a, items...)
			about := items[0].ID
			_, err := a.Social.Block(t.Context(), "writer", "blocked")
			require.NoError(t, err)
			_, err = a.Social.Follow(t.Context(), "follower", "writer", now.Now())
			require.NoError(t, err)
			posts := map[string]social.Audience{"post:public": {Public: true}, "post:followers": {Followers: true}}
			for id, audience := range posts {
				_, _, err := a.Social.CreatePost(t.Context(), social.Post{ID: id, Author: "writer", Caption: "A caption of " + id, Audience: audience}, social.Creation{})
				require.NoError(t, err)
			}
			for i := range 3 {
				reader := fmt.Sprint("other", i)
				_, err := a.Social.Follow(t.Context(), reader, "writer", now.Now())
				require.NoError(t, err)
				readsItems(t, a, reader, about, items[1].ID, "post:public", "post:followers")
				if i < coread.LeastPeople-1 {
					readsItems(t, a, reader, items[2].ID)
				}
			}
			require.NoError(t, a.Flush(t.Context()))
			assert.ElementsMatch(t, []string{items[1].ID, "post:public"}, relatedIDs(t, a, "follower", about), "what not everybody may see is not counted")
			assert.ElementsMatch(t, []string{items[1].ID, "post:public"}, relatedIDs(t, a, "stranger", about))
			assert.Equal(t, []string{items[1].ID}, relatedIDs(t, a, "blocked", about))
			_, err = a.Engine.Related(t.Context(), "stranger", "post:followers", 10)
			require.ErrorIs(t, err, feed.ErrNotFound)
			assert.Empty(t, relatedIDs(t, a, "follower", "post:followers"))
			require.NoError(t, a.Social.DeletePost(t.Context(), "post:public", "writer", now.Now()))
			assert.Equal(t, []string{items[1].ID}, relatedIDs(t, a, "follower", about))
		})
	}
}
