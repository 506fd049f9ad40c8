package cachetest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/feed"
)

func sessionTTL(t *testing.T, open Open) {
	env := open(t, TTL)
	replace(t, env.A, 5, refs(0, 50))
	env.Advance(20 * time.Minute)
	requirePage(t, refs(5, 10), true, pop(t, env.A, 5))
	env.Advance(9 * time.Minute)
	requirePage(t, refs(10, 15), true, pop(t, env.A, 5))
	env.Advance(2 * time.Minute)
	requirePage(t, nil, false, pop(t, env.A, 5)) // no page has extended the TTL

	requirePage(t, refs(15, 20), true, replace(t, env.A, 5, refs(0, 50)))
	env.Advance(29 * time.Minute)
	requirePage(t, refs(20, 25), true, pop(t, env.A, 5))
}

func refreshed(t *testing.T, open Open) {
	env := open(t, TTL)
	now := Start.Add(1234 * time.Millisecond)
	_, err := env.A.Replace(t.Context(), cache.Replace{Agent: agent, Ranked: refs(0, 5), Limit: 2, Now: now})
	require.NoError(t, err)
	ask := func() time.Time {
		t.Helper()
		at, err := env.B.Refreshed(t.Context(), agent)
		require.NoError(t, err)
		return at
	}
	assert.True(t, now.Equal(ask()), "%s", ask())
	pop(t, env.A, 2)
	require.NoError(t, env.A.Delete(t.Context(), agent))
	assert.True(t, now.Equal(ask()), "only a refresh changes it")

	env.Advance(7 * 24 * time.Hour)
	assert.True(t, now.Equal(ask()))
	env.Advance(25 * time.Hour)
	assert.True(t, ask().IsZero(), "forgotten after eight days")
}

func restore(t *testing.T, open Open) {
	env := open(t, TTL)
	all := refs(0, 10)
	replace(t, env.A, 3, all)
	page := pop(t, env.A, 4)
	require.NoError(t, env.B.Restore(t.Context(), agent, page.Refs, cache.Retry{}))
	assert.Equal(t, []bool{true, false, false, false, false, false}, pending(t, env, Start, all[0], all[3], all[4], all[5], all[6], all[7]))
	requirePage(t, all[3:10], false, pop(t, env.A, 10))

	require.NoError(t, env.A.Restore(t.Context(), agent, nil, cache.Retry{}))
	requirePage(t, nil, false, pop(t, env.A, 10))
}

func restoreEnded(t *testing.T, open Open) {
	env := open(t, TTL)
	page := replace(t, env.A, 5, refs(0, 5))
	requirePage(t, refs(0, 5), false, page)
	env.Advance(time.Hour)
	require.NoError(t, env.A.Restore(t.Context(), agent, page.Refs, cache.Retry{}))
	env.Advance(TTL - time.Minute)
	requirePage(t, refs(0, 2), true, pop(t, env.A, 2))
	env.Advance(2 * time.Minute)
	requirePage(t, nil, false, pop(t, env.A, 2))
}

func restoreKeepsTTL(t *testing.T, open Open) {
	env := open(t, TTL)
	page := replace(t, env.A, 5, refs(0, 50))
	env.Advance(20 * time.Minute)
	require.NoError(t, env.A.Restore(t.Context(), agent, page.Refs, cache.Retry{}))
	env.Advance(9 * time.Minute)
	requirePage(t, refs(0, 5), true, pop(t, env.A, 5))
	env.Advance(2 * time.Minute)
	requirePage(t, nil, false, pop(t, env.A, 5))
}

// cancelled: a call that ends before it began has taken nothing.
func cancelled(t *testing.T, open Open) {
	env := open(t, TTL)
	replace(t, env.A, 2, refs(0, 10))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := env.A.Replace(ctx, cache.Replace{Agent: agent, Ranked: refs(20, 30), Limit: 2, Now: Start})
	require.Error(t, err)
	_, err = env.A.Pop(ctx, cache.Pop{Agent: agent, Limit: 2, Now: Start})
	require.Error(t, err)
	assert.NotContains(t, pending(t, env, Start, append(refs(2, 10), refs(20, 30)...)...), true)
	requirePage(t, refs(2, 10), false, pop(t, env.A, 10))
}

func restoreForgets(t *testing.T, open Open) {
	env := open(t, TTL)
	retry := cache.Retry{RequestID: "r1", Action: "refresh", Limit: 3}
	r := cache.Replace{Agent: agent, Ranked: refs(0, 10), Limit: 3, Now: Start, Retry: retry}
	page, err := env.A.Replace(t.Context(), r)
	require.NoError(t, err)
	require.NoError(t, env.A.Restore(t.Context(), agent, page.Refs, retry))
	_, ok, err := env.B.Replay(t.Context(), agent, retry)
	require.NoError(t, err)
	assert.False(t, ok)
	again, err := env.B.Replace(t.Context(), r)
	require.NoError(t, err)
	assert.False(t, again.Replayed)
	requirePage(t, page.Refs, true, again)
	assert.Equal(t, feed.IDs(page.Refs), feed.IDs(again.Refs))
}

func restorePart(t *testing.T, open Open) {
	env := open(t, TTL)
	retry := retryOf("r1", "refresh")
	list := append(refs(0, 4), feed.Ref{Group: "story", ID: "doc"})
	requirePage(t, list, false, refreshWith(t, env.A, retry, list))
	require.NoError(t, env.A.Restore(t.Context(), agent, list[3:], retry))
	requireReplay(t, env.B, retry, list[:3], true)
	requirePage(t, list[3:], false, pop(t, env.A, 5))
}

// restoreAfterRetry: the first try fails after the second was given its page.
// The page stays with the second one, or it would be shown twice.
func restoreAfterRetry(t *testing.T, open Open) {
	for name, again := range map[string]func(t *testing.T, s cache.Sessions, retry cache.Retry){
		"replay": func(t *testing.T, s cache.Sessions, retry cache.Retry) { requireReplay(t, s, retry, refs(5, 10), true) },
		"pop": func(t *testing.T, s cache.Sessions, retry cache.Retry) {
			requirePage(t, refs(5, 10), true, popWith(t, s, retry, 5))
		},
		"replace": func(t *testing.T, s cache.Sessions, retry cache.Retry) {
			requirePage(t, refs(5, 10), true, refreshWith(t, s, retry, nil))
		},
	} {
		t.Run(name, func(t *testing.T) {
			env := open(t, TTL)
			retry := retryOf("r1", "load_more")
			replace(t, env.A, 5, refs(0, 20))
			page := popWith(t, env.A, retry, 5)
			requirePage(t, refs(5, 10), true, page)
			again(t, env.B, retry)
			require.NoError(t, env.A.Restore(t.Context(), agent, page.Refs, retry))
			requirePage(t, refs(10, 15), true, pop(t, env.A, 5))
			requireReplay(t, env.A, retry, refs(5, 10), true)
		})
	}
}
