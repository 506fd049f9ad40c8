package server

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// TestLatePostsAreNew checks that posts which arrive minutes after their date count as new where they
// are in the next page: in new_count of both feeds and on a stream, also if the server that made them
// has a clock that is behind.
func TestLatePostsAreNew(t *testing.T) {
	t.Parallel()
	for mode, config := range map[string]func(testing.TB) configs.Config{"embedded": embedded, "services": withPostgres} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			clock := at(noon)
			a := open(t, config(t), WithClock(clock.Now))
			store := a.network.fanout.Store()
			create := func(p social.Post, reported time.Time) {
				p.Audience = social.Audience{Public: true}
				_, _, err := store.CreatePost(t.Context(), p, social.Creation{At: reported})
				require.NoError(t, err)
			}
			for _, author := range []string{"pal", "fed"} {
				_, err := store.Follow(t.Context(), "kim", author, time.Time{})
				require.NoError(t, err)
			}
			create(social.Post{Author: "pal", Caption: "Just now"}, time.Time{})
			waitSettled(t, a)
			clock.Advance(2 * time.Second)
			refreshed := map[feed.Name]string{feed.HomeFeed: "kim", feed.ForYou: "lee"}
			for name, agent := range refreshed {
				ask(t, a, engine.Request{Agent: agent, Feed: name, Action: engine.ActionRefresh, Limit: 20})
			}
			waitRecorded(t, a)
			badge := func(name feed.Name) int {
				refreshIndex(t, a)
				return ask(t, a, engine.Request{Agent: refreshed[name], Feed: name, Action: engine.ActionRefresh, Limit: 20, Silent: true}).NewCount
			}
			watch, err := a.network.watcher.WatchFrom(t.Context(), "kim", nil)
			require.NoError(t, err)
			defer watch.Close()
			begin := watch.StartPoint()
			clock.Advance(10 * time.Second)
			for i := range 5 {
				at := clock.Now().Add(-time.Duration(200+i) * time.Second)
				create(social.Post{ID: fmt.Sprint("post:late-", i), Author: "fed", Caption: fmt.Sprint("Written about ", i*7919), CreatedAt: at.Unix()}, at)
			}
			history := clock.Now().Add(-48 * time.Hour)
			create(social.Post{ID: "post:history", Author: "fed", Caption: "Long ago", CreatedAt: history.Unix()}, history)
			create(social.Post{Author: "pal", Caption: "By a server whose clock is behind", CreatedAt: clock.Now().Add(-4 * time.Minute).Unix()}, time.Time{})
			waitSettled(t, a)
			clock.Advance(2 * time.Second)
			a.network.watcher.Poll(t.Context())
			news := watch.Take()
			assert.Equal(t, 6, news.Count)
			a.network.watcher.Poll(t.Context())
			assert.Zero(t, watch.Take().Count)
			for point, want := range map[timeline.Point]int{begin: 6, {Position: news.Head, Arrived: news.Arrived}: 0} {
				again, err := a.network.watcher.WatchFrom(t.Context(), "kim", &point)
				require.NoError(t, err)
				assert.Equal(t, want, again.Take().Count)
				again.Close()
			}
			for name := range refreshed {
				assert.Equal(t, 6, badge(name), name)
			}
			page := ask(t, a, engine.Request{Agent: "kim", Feed: feed.HomeFeed, Action: engine.ActionRefresh, Limit: 20})
			assert.GreaterOrEqual(t, len(page.Docs), 6)
			assert.Zero(t, badge(feed.HomeFeed))
		})
	}
}
