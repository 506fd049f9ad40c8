package cachetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/feed"
)

// homePage returns a call of the home feed with a request id.
func homePage(requestID, owner, action string, limit int) cache.Call {
	return cache.Call{RequestID: requestID, Owner: owner, Feed: feed.HomeFeed, Action: action, Limit: limit}
}

// feedsApart checks that each feed of an agent has a separate session, retry records and time of
// the last refresh.
func feedsApart(t *testing.T, open Open) {
	env := open(t, TTL)
	ctx := t.Context()
	forYou := cache.Call{RequestID: "r-1", Owner: "o1", Action: "refresh", Limit: 2}
	page, err := env.A.Replace(ctx, cache.Replace{Agent: agent, Ranked: refs(0, 6), Limit: 2, Now: Start, Call: forYou})
	require.NoError(t, err)
	requirePage(t, refs(0, 2), true, page)
	home := homePage("r-0", "o2", "refresh", 3)
	page, err = env.B.Replace(ctx, cache.Replace{Agent: agent, Ranked: refs(10, 16), Limit: 3, Now: Start.Add(time.Second), Call: home})
	require.NoError(t, err)
	requirePage(t, refs(10, 13), true, page)
	requirePage(t, refs(2, 3), true, pop(t, env.B, 1))
	page, err = env.A.Pop(ctx, cache.Pop{Agent: agent, Limit: 2, Now: Start, Call: homePage("r-2", "o3", "load_more", 2)})
	require.NoError(t, err)
	requirePage(t, refs(13, 15), true, page)
	for name, want := range map[feed.Name]time.Time{feed.ForYou: Start, "": Start, feed.HomeFeed: Start.Add(time.Second)} {
		at, err := env.A.Refreshed(ctx, agent, name)
		require.NoError(t, err)
		assert.True(t, want.Equal(at), "%q: %s", name, at)
	}
	before, ok, err := env.B.Replay(ctx, agent, homePage("r-0", "o4", "refresh", 3))
	require.NoError(t, err)
	require.True(t, ok)
	assert.Equal(t, refs(10, 13), before.Refs)

	require.NoError(t, env.A.Restore(ctx, agent, refs(13, 15), homePage("r-2", "o3", "load_more", 2)))
	require.NoError(t, env.A.Discard(ctx, agent, refs(1, 2), forYou))
	page, err = env.A.Pop(ctx, cache.Pop{Agent: agent, Limit: 9, Now: Start, Call: cache.Call{Feed: feed.HomeFeed}})
	require.NoError(t, err)
	requirePage(t, refs(13, 16), false, page)
	requirePage(t, refs(3, 6), false, pop(t, env.A, 9))
}

// feedsSharePending checks that a feed does not hand out refs that the other feed has handed out.
func feedsSharePending(t *testing.T, open Open) {
	env := open(t, TTL)
	ctx := t.Context()
	replace(t, env.A, 2, refs(0, 6))
	home := cache.Call{Feed: feed.HomeFeed}
	page, err := env.B.Replace(ctx, cache.Replace{Agent: agent, Ranked: refs(1, 8), Limit: 2, Now: Start, Call: home})
	require.NoError(t, err)
	requirePage(t, refs(2, 4), true, page)
	requirePage(t, refs(4, 6), false, pop(t, env.A, 5))
	page, err = env.A.Pop(ctx, cache.Pop{Agent: agent, Limit: 5, Now: Start, Call: home})
	require.NoError(t, err)
	requirePage(t, refs(6, 8), false, page)
}

// feedsEndTogether checks that deleting an agent's session, or withdrawing from it, affects both
// feeds.
func feedsEndTogether(t *testing.T, open Open) {
	env := open(t, TTL)
	ctx := t.Context()
	home := cache.Call{Feed: feed.HomeFeed}
	fill := func() {
		t.Helper()
		replace(t, env.A, 0, refs(0, 6))
		_, err := env.B.Replace(ctx, cache.Replace{Agent: agent, Ranked: refs(3, 9), Now: Start, Call: home})
		require.NoError(t, err)
	}
	fill()
	out := []string{"doc_4", "doc_0", "doc_8"}
	require.NoError(t, env.A.Withdraw(ctx, agent, out, Start))
	require.NoError(t, env.Seen.Forget(ctx, agent), "sessions outlast what is pending")
	requirePage(t, refs(1, 4), true, pop(t, env.B, 3))
	page, err := env.B.Pop(ctx, cache.Pop{Agent: agent, Limit: 9, Now: Start, Call: home})
	require.NoError(t, err)
	requirePage(t, refs(5, 8), false, page)
	fill()
	require.NoError(t, env.A.Delete(ctx, agent))
	requirePage(t, nil, false, pop(t, env.B, 9))
	page, err = env.B.Pop(ctx, cache.Pop{Agent: agent, Limit: 9, Now: Start, Call: home})
	require.NoError(t, err)
	requirePage(t, nil, false, page)
}
