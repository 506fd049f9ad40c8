package cachetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/feed"
)

// firstRefresh checks that the first refresh of an agent is distinguished from later ones, in all
// steps of its call, in its retries and in their answers from the record.
func firstRefresh(t *testing.T, open Open) {
	for _, of := range []struct {
		name  string
		first bool
		known bool
		// before makes earlier calls as the agent.
		before func(t *testing.T, env Env)
		passed time.Duration // time since before ran
	}{
		{name: "nothing before", first: true},
		{name: "known from elsewhere", known: true},
		{name: "a load_more that found nothing", first: true, before: func(t *testing.T, env Env) { pop(t, env.A, 2) }},
		{name: "a refresh", before: func(t *testing.T, env Env) { replace(t, env.A, 2, refs(50, 60)) }},
		{name: "a refresh that found nothing", before: func(t *testing.T, env Env) { replace(t, env.A, 2, nil) }},
		{name: "a refresh that is nearly forgotten", before: func(t *testing.T, env Env) { replace(t, env.A, 2, refs(50, 60)) }, passed: 7 * 24 * time.Hour},
		{
			name: "a refresh that is forgotten", first: true, before: func(t *testing.T, env Env) { replace(t, env.A, 2, refs(50, 60)) },
			passed: 8*24*time.Hour + time.Hour,
		},
		{name: "a refresh whose session was deleted", before: func(t *testing.T, env Env) {
			replace(t, env.A, 2, refs(50, 60))
			require.NoError(t, env.A.Delete(t.Context(), agent))
		}},
		{name: "a refresh that was erased", first: true, before: func(t *testing.T, env Env) {
			replace(t, env.A, 2, refs(50, 60))
			require.NoError(t, env.A.Forget(t.Context(), agent))
		}},
		{name: "a refresh of another agent", first: true, before: func(t *testing.T, env Env) {
			_, err := env.A.Replace(t.Context(), cache.Replace{Agent: "u_2", Ranked: refs(50, 60), Limit: 2, Now: Start})
			require.NoError(t, err)
		}},
	} {
		for _, name := range []feed.Name{feed.ForYou, feed.HomeFeed} {
			t.Run(of.name+", "+string(name), func(t *testing.T) {
				env := open(t, TTL)
				if of.before != nil {
					of.before(t, env)
				}
				env.Advance(of.passed)
				firstOf(t, env, Start.Add(of.passed), name, of.known, of.first)
			})
		}
	}
}

func firstOf(t *testing.T, env Env, now time.Time, name feed.Name, known, first bool) {
	t.Helper()
	ctx, call := t.Context(), retryOf("r1", "refresh")
	call.Feed = name
	step := cache.Replace{Agent: agent, Ranked: refs(0, 9), Limit: 5, Now: now, Call: call, Known: known}
	page, err := env.A.Replace(ctx, step)
	require.NoError(t, err)
	require.False(t, page.Recorded)
	assert.Equal(t, first, page.First)

	further := call
	further.Step = page.Next
	page, err = env.A.Pop(ctx, cache.Pop{Agent: agent, Limit: 2, Now: now, Call: further})
	require.NoError(t, err)
	assert.False(t, page.First, "what the refresh is filled up with")
	retry := retryOf("r1", "refresh")
	retry.Feed = name
	for range 2 {
		page, ok, err := env.B.Replay(ctx, agent, retry)
		require.NoError(t, err)
		require.True(t, ok)
		assert.Equal(t, first, page.First, "a retry")
	}
	require.NoError(t, env.A.Discard(ctx, agent, refs(0, 1), call))
	retry.Owner += "again"
	step.Call, step.Known = retry, true
	page, err = env.B.Replace(ctx, step)
	require.NoError(t, err)
	require.True(t, page.Replayed)
	assert.Equal(t, first, page.First, "the record says it, whatever is known by now")

	for _, next := range []feed.Name{feed.ForYou, feed.HomeFeed} {
		page, err = env.A.Replace(ctx, cache.Replace{Agent: agent, Ranked: refs(10, 19), Limit: 5, Now: now, Call: cache.Call{Feed: next}})
		require.NoError(t, err)
		assert.False(t, page.First, "a later refresh of %s", next)
	}
}
