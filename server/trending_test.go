package server

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/recall/trending"
	"github.com/freshet/freshet/social"
)

func trendOf(it *feed.Item, now time.Time) feed.Trend {
	hours := now.Sub(time.Unix(it.UpdateTime, 0)).Hours()
	return feed.Trend(float64(it.Likes+2*it.Comments) / ((hours + 1) * (hours + 1)))
}

// bestByTrend returns the n best posts of a week, by scoring every one.
func bestByTrend(posts []feed.Item, now time.Time, n int) []feed.Item {
	best := slices.DeleteFunc(slices.Clone(posts), func(it feed.Item) bool {
		age := now.Sub(time.Unix(it.UpdateTime, 0))
		return it.Likes+it.Comments == 0 || age < 0 || age >= 7*24*time.Hour
	})
	slices.SortFunc(best, func(a, b feed.Item) int {
		return cmp.Or(cmp.Compare(trendOf(&b, now), trendOf(&a, now)), cmp.Compare(b.UpdateTime, a.UpdateTime), cmp.Compare(a.ID, b.ID))
	})
	return best[:min(n, len(best))]
}

// TestTrendingSetOnRealPosts compares the set with a scoring of every post: with the original
// dates, and with half a year compressed into a week.
func TestTrendingSetOnRealPosts(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	posts := testenv.Posts(t)
	now := time.Date(2016, 3, 10, 12, 0, 0, 0, time.UTC)
	crowded := slices.Clone(posts)
	for i := range crowded {
		crowded[i].UpdateTime = now.Unix() - (now.Unix()-posts[i].UpdateTime)/26
	}
	for name, c := range map[string]struct {
		posts []feed.Item
		size  int
	}{"original dates": {posts, 302}, "compressed into a week": {crowded, 500}} {
		want := bestByTrend(c.posts, now, 500)
		require.Len(t, want, c.size)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := at(now.Add(-time.Hour))
			a := open(t, embedded(t), WithClock(clock.Now))
			put(t, a, c.posts...)
			clock.Advance(time.Hour)
			set := waitTrending(t, a)
			require.Len(t, set.Entries, c.size)
			for i, e := range set.Entries {
				assert.Equal(t, want[i].ID, e.ID, "place %d", i)
				assert.InEpsilon(t, float64(trendOf(&want[i], now)), float64(e.Trend), 1e-12, e.ID)
				assert.Equal(t, want[i].AuthorID, e.Author, e.ID)
				assert.True(t, slices.Equal(want[i].Tags, e.Tags), e.ID)
			}
			checkGuestFeed(t, a, want, now)
			checkHomeMarks(t, a, want, now)
		})
	}
}

// checkGuestFeed checks the guest feed against these posts.
func checkGuestFeed(t *testing.T, a *App, posts []feed.Item, now time.Time) {
	t.Helper()
	for limit, query := range map[int]string{20: "", 1: "?limit=1", 100: "?limit=100"} {
		g := guestFeed(t, a, query)
		require.Len(t, g.Data.Items, limit)
		for _, it := range g.Data.Items {
			i := slices.IndexFunc(posts, func(p feed.Item) bool { return p.ID == it.ID })
			require.GreaterOrEqual(t, i, 0)
			assert.Equal(t, "trending", it.InFeed.Source)
			assert.Equal(t, markOf(&posts[i], now), it.InFeed.Trend, it.ID)
		}
		assert.Equal(t, g.raw, guestFeed(t, a, query).raw, "the same bytes")
	}
}

// checkHomeMarks checks home: its items have trend marks, whatever their source.
func checkHomeMarks(t *testing.T, a *App, posts []feed.Item, now time.Time) {
	t.Helper()
	answer := ask(t, a, engine.Request{Agent: "reader", Feed: feed.HomeFeed, Action: engine.ActionRefresh, Limit: 50})
	require.Len(t, answer.Trends, len(answer.Docs))
	marks := map[string]int{}
	for k, doc := range answer.Docs {
		want := ""
		if i := slices.IndexFunc(posts, func(p feed.Item) bool { return p.ID == doc.ID }); i >= 0 {
			want = markOf(&posts[i], now)
		}
		assert.Equal(t, want, answer.Trends[k].Mark(), doc.ID)
		marks[want]++
	}
	assert.Positive(t, marks["hot"])
}

func markOf(p *feed.Item, now time.Time) string {
	switch trend := trendOf(p, now); {
	case trend > 5:
		return "hot"
	case trend > 2:
		return "warm"
	}
	return ""
}

// TestTrendingOthersActs checks that a post does not trend by what its author does to it.
func TestTrendingOthersActs(t *testing.T) {
	t.Parallel()
	for mode, config := range map[string]func(testing.TB) configs.Config{"embedded": embedded, "services": withPostgres} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			clock := at(noon)
			a := open(t, config(t), WithClock(clock.Now))
			store := a.network.fanout.Store()
			publish := func(author, caption, to string) string {
				p, _, err := store.CreatePost(t.Context(), social.Post{Author: author, Caption: caption, Audience: social.Audience{Public: to == ""}, ReplyTo: to}, social.Creation{})
				require.NoError(t, err)
				return p.ID
			}
			vain, nice := publish("vain", "Look at this, everybody", ""), publish("nice", "A quiet thought of mine", "")
			publish("vain", "First!", vain)
			for _, like := range [][2]string{{"vain", vain}, {"r1", nice}, {"r2", nice}, {"nice", nice}} {
				card, _, err := store.Like(t.Context(), like[0], like[1])
				require.NoError(t, err)
				require.True(t, card.HasLiked)
			}
			waitSettled(t, a)
			likesIndexed(t, a, clock)
			set := waitTrending(t, a)
			require.Len(t, set.Entries, 1)
			assert.Equal(t, nice, set.Entries[0].ID)
			assert.InDelta(t, 2/(1.2*1.2), float64(set.Entries[0].Trend), 0.01, "two likes, after twelve minutes")
		})
	}
}

// TestTrendingDemoPosts checks that posts trend from the start, so that the first new reader gets
// suggestions of their authors.
func TestTrendingDemoPosts(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	set, _ := open(t, embedded(t), WithDemo()).trending.Set()
	assert.True(t, slices.ContainsFunc(set.Entries, func(e trending.Entry) bool { return feed.IsPost(e.ID) }))
}
