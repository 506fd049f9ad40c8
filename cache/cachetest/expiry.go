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
		at, err := env.B.Refreshed(t.Context(), agent, feed.ForYou)
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
	require.NoError(t, env.B.Restore(t.Context(), agent, page.Refs, cache.Call{}))
	assert.Equal(t, []bool{true, false, false, false, false, false}, pending(t, env, Start, all[0], all[3], all[4], all[5], all[6], all[7]))
	requirePage(t, all[3:10], false, pop(t, env.A, 10))

	require.NoError(t, env.A.Restore(t.Context(), agent, nil, cache.Call{}))
	requirePage(t, nil, false, pop(t, env.A, 10))
}

func restoreEnded(t *testing.T, open Open) {
	env := open(t, TTL)
	page := replace(t, env.A, 5, refs(0, 5))
	requirePage(t, refs(0, 5), false, page)
	env.Advance(time.Hour)
	require.NoError(t, env.A.Restore(t.Context(), agent, page.Refs, cache.Call{}))
	env.Advance(TTL - time.Minute)
	requirePage(t, refs(0, 2), true, pop(t, env.A, 2))
	env.Advance(2 * time.Minute)
	requirePage(t, nil, false, pop(t, env.A, 2))
}

func restoreKeepsTTL(t *testing.T, open Open) {
	env := open(t, TTL)
	page := replace(t, env.A, 5, refs(0, 50))
	env.Advance(20 * time.Minute)
	require.NoError(t, env.A.Restore(t.Context(), agent, page.Refs, cache.Call{}))
	env.Advance(9 * time.Minute)
	requirePage(t, refs(0, 5), true, pop(t, env.A, 5))
	env.Advance(2 * time.Minute)
	requirePage(t, nil, false, pop(t, env.A, 5))
}

// cancelled checks that a call with a cancelled context takes nothing.
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
