package cachetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/feed"
)

// next checks that each feed's remaining session can be read without changing it.
func next(t *testing.T, open Open) {
	env := open(t, TTL)
	left := func(name feed.Name, n int) []feed.Ref {
		t.Helper()
		got, err := env.B.Next(t.Context(), agent, name, n)
		require.NoError(t, err)
		return got
	}
	assert.Empty(t, left(feed.ForYou, 5), "no session")
	drawn := feed.Ref{Group: "story", ID: "doc", Source: feed.SourceExplore}
	list := append(refs(0, 4), drawn)
	replace(t, env.A, 2, list)
	_, err := env.A.Replace(t.Context(), cache.Replace{Agent: agent, Ranked: refs(10, 16), Limit: 2, Now: Start, Call: cache.Call{Feed: feed.HomeFeed}})
	require.NoError(t, err)
	for range 2 {
		assert.Equal(t, list[2:4], left(feed.ForYou, 2))
		assert.Equal(t, list[2:], left(feed.ForYou, 9), "with what is known of each")
		assert.Equal(t, refs(12, 15), left(feed.HomeFeed, 3))
		assert.Empty(t, left(feed.ForYou, 0))
	}
	assert.Equal(t, []bool{false, false}, pending(t, env, Start, refs(2, 4)...), "it is not handed out")
	requirePage(t, list[2:4], true, pop(t, env.A, 2))
	ahead(t, env)
	assert.Equal(t, list[4:], left(feed.ForYou, 2))
	requirePage(t, list[4:], false, pop(t, env.A, 2))
	assert.Empty(t, left(feed.ForYou, 2))
	env.Advance(TTL + time.Second)
	assert.Empty(t, left(feed.HomeFeed, 2), "the session has ended")
}

// ahead checks that a page lists what is left of its session, or nothing.
func ahead(t *testing.T, env Env) {
	t.Helper()
	const reader = "reads_ahead"
	_, err := env.A.Replace(t.Context(), cache.Replace{Agent: reader, Ranked: append(refs(0, 8), feed.Ref{Group: "story", ID: "doc", Source: feed.SourceExplore}), Now: Start})
	require.NoError(t, err)
	for _, n := range []int{0, 1, 3, 20, 20, 20} {
		page, err := env.A.Pop(t.Context(), cache.Pop{Agent: reader, Limit: 2, Now: Start, Ahead: n})
		require.NoError(t, err)
		left, err := env.B.Next(t.Context(), reader, feed.ForYou, n)
		require.NoError(t, err)
		if page.Ahead != nil {
			assert.Equal(t, left, page.Ahead, n)
		}
		assert.Equal(t, page.HasMore, len(left) > 0 || n == 0)
	}
}
