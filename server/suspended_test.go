package server

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
)

// TestPagesWithoutProlificAuthor suspends an author who has all that trends and all that is new: more posts than the set of
// what trends, lists of new posts and the first recall have. No page has one of them, and none is shorter for it.
func TestPagesWithoutProlificAuthor(t *testing.T) {
	t.Parallel()
	const posts, others, limit = 700, 100, 20
	for _, m := range networks {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			clock := at(noon)
			cfg := m.config(t)
			cfg.Auth.AdminToken = testAdmin
			a := open(t, cfg, WithClock(clock.Now))
			items := madeItems(others)
			for i := range items {
				items[i].Title = fmt.Sprintf("i%da i%db i%dc", i, i, i)
				items[i].UpdateTime = noon.Add(-2*time.Hour - time.Duration(i)*time.Minute).Unix()
				items[i].Likes = 3
			}
			put(t, a, items...)
			store := a.network.fanout.Store()
			for i := range posts {
				p := social.Post{
					ID: fmt.Sprintf("post:spam_%d", i), Author: "spammer", Caption: fmt.Sprintf("s%da s%db s%dc", i, i, i),
					CreatedAt: noon.Add(-time.Duration(i) * time.Second).Unix(), Audience: social.Audience{Public: true},
				}
				_, _, err := store.CreatePost(t.Context(), p, social.Creation{})
				require.NoError(t, err)
				require.NoError(t, store.SetCounts(t.Context(), p.ID, social.Counts{Likes: 50}, time.Time{}))
			}
			waitSettled(t, a)
			likesIndexed(t, a, clock)
			trends := waitTrending(t, a)
			spam := func(id string) bool { return strings.HasPrefix(id, "post:spam_") }
			require.Len(t, trends.Entries, 500)
			for _, e := range trends.Entries {
				require.True(t, spam(e.ID), "the test proves nothing: %s trends", e.ID)
			}
			until := clock.Now().Add(time.Hour).Unix()
			askAdmin[any](t, a, "POST", "/v1/moderation", fmt.Sprintf(`{"object":{"kind":"author","id":"spammer"},"action":"suspend","until":%d}`, until))
			full := func(name string, ids []string) {
				t.Helper()
				assert.Len(t, ids, limit, name)
				for _, id := range ids {
					assert.False(t, spam(id), "%s has %s", name, id)
				}
			}
			full("the guest feed", guestFeed(t, a, "?limit=20").ids())
			for _, name := range []string{"for_you", "home"} {
				for n, action := range []string{"refresh", "load_more", "load_more"} {
					page, err := askFeed(t.Context(), a, "reader_of_"+name, name, action, limit)
					require.NoError(t, err)
					full(fmt.Sprintf("page %d of %s", n+1, name), page.ids())
				}
			}
		})
	}
}
