package cachetest

import (
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/feed"
)

var owners atomic.Int64

// retryOf returns a new call with a request id: the first with that id, or a client's retry.
func retryOf(id, action string) cache.Call {
	return cache.Call{RequestID: id, Owner: strconv.FormatInt(owners.Add(1), 10), Action: action, Limit: 5}
}

func refreshWith(t *testing.T, s cache.Sessions, call cache.Call, ranked []feed.Ref) cache.Page {
	t.Helper()
	page, err := s.Replace(t.Context(), cache.Replace{Agent: agent, Ranked: slices.Clone(ranked), Limit: 5, Now: Start, Call: call})
	require.NoError(t, err)
	return page
}

func popWith(t *testing.T, s cache.Sessions, call cache.Call, limit int) cache.Page {
	t.Helper()
	page, err := s.Pop(t.Context(), cache.Pop{Agent: agent, Limit: limit, Now: Start, Call: call})
	require.NoError(t, err)
	return page
}

// requireReplay checks the response to a client's retry.
func requireReplay(t *testing.T, s cache.Sessions, call cache.Call, want []feed.Ref, more bool) {
	t.Helper()
	page, ok, err := s.Replay(t.Context(), agent, retryOf(call.RequestID, call.Action))
	require.NoError(t, err)
	require.True(t, ok)
	require.True(t, page.Replayed)
	requirePage(t, want, more, page)
}

func retrySame(t *testing.T, open Open) {
	env := open(t, TTL)
	list := append([]feed.Ref{{Group: "story", ID: "doc"}}, refs(1, 20)...)
	first := refreshWith(t, env.A, retryOf("r1", "refresh"), list)
	assert.False(t, first.Replayed)
	requirePage(t, list[:5], true, first)
	again := refreshWith(t, env.A, retryOf("r1", "refresh"), refs(100, 120))
	assert.True(t, again.Replayed)
	requirePage(t, list[:5], true, again)

	requirePage(t, list[5:10], true, popWith(t, env.A, retryOf("r2", "load_more"), 5))
	for range 3 {
		page := popWith(t, env.A, retryOf("r2", "load_more"), 5)
		assert.True(t, page.Replayed)
		requirePage(t, list[5:10], true, page)
	}
	requirePage(t, list[10:15], true, popWith(t, env.A, retryOf("r3", "load_more"), 5))
	requirePage(t, list[15:20], false, popWith(t, env.A, retryOf("r4", "load_more"), 5))
	requireReplay(t, env.A, retryOf("r3", "load_more"), list[10:15], true)
	requireReplay(t, env.A, retryOf("r4", "load_more"), list[15:20], false)
}

func retryOtherServer(t *testing.T, open Open) {
	env := open(t, TTL)
	refreshWith(t, env.A, retryOf("r1", "refresh"), refs(0, 20))
	page := refreshWith(t, env.B, retryOf("r1", "refresh"), refs(100, 120))
	assert.True(t, page.Replayed)
	requirePage(t, refs(0, 5), true, page)
	requirePage(t, refs(5, 10), true, pop(t, env.B, 5))
}

func retryConflict(t *testing.T, open Open) {
	env := open(t, TTL)
	refreshWith(t, env.A, retryOf("r1", "refresh"), refs(0, 20))
	ctx := t.Context()
	for name, call := range map[string]cache.Call{
		"action": {RequestID: "r1", Action: "load_more", Limit: 5},
		"limit":  {RequestID: "r1", Action: "refresh", Limit: 6},
	} {
		_, err := env.A.Replace(ctx, cache.Replace{Agent: agent, Ranked: refs(30, 40), Limit: 5, Now: Start, Call: call})
		require.ErrorIs(t, err, cache.ErrConflict, name)
		_, err = env.B.Pop(ctx, cache.Pop{Agent: agent, Limit: 5, Now: Start, Call: call})
		require.ErrorIs(t, err, cache.ErrConflict, name)
		_, ok, err := env.B.Replay(ctx, agent, call)
		require.ErrorIs(t, err, cache.ErrConflict, name)
		require.False(t, ok)
	}
	requirePage(t, refs(5, 10), true, pop(t, env.A, 5)) // nothing was taken or replaced

	page, err := env.A.Pop(ctx, cache.Pop{
		Agent: "u_2", Limit: 5, Now: Start, Call: cache.Call{RequestID: "r1", Action: "load_more", Limit: 5},
	})
	require.NoError(t, err, "another agent's request id is another one")
	requirePage(t, nil, false, page)
}

// callsOf returns the ways in which a call can ask for its page.
func callsOf(s cache.Sessions, call cache.Call) map[string]func(t *testing.T) (cache.Page, error) {
	return map[string]func(t *testing.T) (cache.Page, error){
		"replay": func(t *testing.T) (cache.Page, error) {
			page, _, err := s.Replay(t.Context(), agent, call)
			return page, err
		},
		"pop": func(t *testing.T) (cache.Page, error) {
			return s.Pop(t.Context(), cache.Pop{Agent: agent, Limit: 5, Now: Start, Call: call})
		},
		"replace": func(t *testing.T) (cache.Page, error) {
			return s.Replace(t.Context(), cache.Replace{Agent: agent, Ranked: refs(30, 40), Limit: 5, Now: Start, Call: call})
		},
	}
}

// retryOtherFeed checks that a request id belongs to one feed, and to neither once nothing is left
// of its page.
func retryOtherFeed(t *testing.T, open Open) {
	eachOrder(t, open, func(t *testing.T, env Env, uses, other feed.Name) {
		first := retryOf("r1", "refresh")
		first.Feed = uses
		requirePage(t, refs(0, 5), true, refreshWith(t, env.A, first, refs(0, 20)))
		fill(t, env.A, other, refs(50, 60))
		for _, action := range []string{"refresh", "load_more"} {
			again := retryOf("r1", action)
			again.Feed = other
			for name, ask := range callsOf(env.B, again) {
				page, err := ask(t)
				require.ErrorIs(t, err, cache.ErrConflict, "%s %s", name, action)
				require.Empty(t, page.Refs, "%s %s", name, action)
			}
		}
		retry := retryOf("r1", "refresh")
		retry.Feed = uses
		requirePage(t, refs(0, 5), true, refreshWith(t, env.B, retry, refs(30, 40)))
		requirePage(t, refs(50, 53), true, popOf(t, env.A, cache.Call{Feed: other}, 3))

		again := retryOf("r1", "load_more")
		again.Feed = other
		env.Advance(cache.RetryTTL + time.Second)
		requirePage(t, refs(53, 58), true, popWith(t, env.B, again, 5))
		for name, ask := range callsOf(env.A, first) {
			_, err := ask(t)
			require.ErrorIs(t, err, cache.ErrConflict, "%s of the first feed", name)
		}
		require.NoError(t, env.A.Restore(t.Context(), agent, refs(53, 58), again))
		requirePage(t, refs(5, 10), true, popWith(t, env.A, func() cache.Call {
			call := retryOf("r1", "load_more")
			call.Feed = uses
			return call
		}(), 5))
	})
}

// retryFeedsAtOnce checks that of simultaneous calls of both feeds with one request id only those
// of one feed get a page.
func retryFeedsAtOnce(t *testing.T, open Open) {
	env := open(t, TTL)
	for round := range 20 {
		fill(t, env.A, feed.ForYou, refs(100*round, 100*round+10))
		fill(t, env.A, feed.HomeFeed, refs(100*round+50, 100*round+60))
		var wg sync.WaitGroup
		pages, errs := make([]cache.Page, 4), make([]error, 4)
		for i := range pages {
			call := retryOf("r"+strconv.Itoa(round), "load_more")
			call.Feed = []feed.Name{feed.ForYou, feed.HomeFeed}[i%2]
			wg.Go(func() {
				pages[i], errs[i] = env.B.Pop(t.Context(), cache.Pop{Agent: agent, Limit: 5, Now: Start, Call: call})
			})
		}
		wg.Wait()
		won := 0
		if errs[0] != nil {
			won = 1
		}
		for i := range pages {
			if i%2 == won {
				require.NoError(t, errs[i])
				requirePage(t, pages[won].Refs, true, pages[i])
			} else {
				require.ErrorIs(t, errs[i], cache.ErrConflict)
			}
		}
	}
}

func retryEmptyPop(t *testing.T, open Open) {
	env := open(t, TTL)
	call := retryOf("r1", "load_more")
	requirePage(t, nil, false, popWith(t, env.A, call, 5))
	_, ok, err := env.A.Replay(t.Context(), agent, call)
	require.NoError(t, err)
	assert.False(t, ok)
	replace(t, env.A, 5, refs(0, 20))
	page := popWith(t, env.A, call, 5)
	assert.False(t, page.Replayed)
	requirePage(t, refs(5, 10), true, page)
}

func retryEmptyReplace(t *testing.T, open Open) {
	env := open(t, TTL)
	call := retryOf("r1", "refresh")
	requirePage(t, nil, false, refreshWith(t, env.A, call, nil))
	requireReplay(t, env.B, call, nil, false)
	page := refreshWith(t, env.B, retryOf("r1", "refresh"), refs(0, 20))
	assert.True(t, page.Replayed)
	requirePage(t, nil, false, page)
}

func retryExtend(t *testing.T, open Open) {
	env := open(t, TTL)
	call := retryOf("r1", "load_more")
	further := call
	further.Step = 1
	replace(t, env.A, 5, refs(0, 13))
	requirePage(t, refs(5, 10), true, popWith(t, env.A, call, 5))
	topUp := popWith(t, env.A, further, 2)
	assert.False(t, topUp.Replayed)
	requirePage(t, refs(10, 12), true, topUp)
	requireReplay(t, env.B, call, refs(5, 12), true)

	require.Equal(t, 2, topUp.Next)
	further.Step = topUp.Next
	page := refreshWith(t, env.A, further, refs(20, 23))
	assert.False(t, page.Replayed)
	requirePage(t, refs(20, 23), false, page)
	requireReplay(t, env.B, call, append(refs(5, 12), refs(20, 23)...), false)

	// If the first step of a call found nothing, its record begins with a later step.
	later := retryOf("r2", "load_more")
	later.Step = 1
	requirePage(t, refs(30, 35), true, refreshWith(t, env.A, later, refs(30, 40)))
	requireReplay(t, env.A, retryOf("r2", "load_more"), refs(30, 35), true)
}

func retryExtendEmpty(t *testing.T, open Open) {
	env := open(t, TTL)
	call := retryOf("r1", "load_more")
	further := call
	further.Step = 1
	requirePage(t, nil, false, popWith(t, env.A, further, 2))
	_, ok, err := env.A.Replay(t.Context(), agent, call)
	require.NoError(t, err)
	assert.False(t, ok, "two steps that found nothing make no record")

	replace(t, env.A, 5, refs(0, 11))
	requirePage(t, refs(5, 10), true, popWith(t, env.A, call, 5))
	hold(t, env, Start, ref("doc_10"))
	requirePage(t, nil, false, popWith(t, env.A, further, 2))
	requireReplay(t, env.A, call, refs(5, 10), false)
}

func retryExpires(t *testing.T, open Open) {
	env := open(t, TTL)
	call := retryOf("r1", "refresh")
	refreshWith(t, env.A, call, refs(0, 20))
	env.Advance(cache.RetryTTL - 5*time.Second)
	requireReplay(t, env.A, call, refs(0, 5), true)
	env.Advance(cache.AnsweredTTL + time.Second)
	_, ok, err := env.A.Replay(t.Context(), agent, call)
	require.NoError(t, err)
	assert.False(t, ok)
	page := popWith(t, env.A, retryOf("r1", "load_more"), 5)
	assert.False(t, page.Replayed)
	requirePage(t, refs(5, 10), true, page)
}

func replayChangesNothing(t *testing.T, open Open) {
	env := open(t, TTL)
	call := retryOf("r1", "refresh")
	refreshWith(t, env.A, call, refs(0, 12))
	for range 3 {
		requireReplay(t, env.A, call, refs(0, 5), true)
	}
	page, _, err := env.A.Replay(t.Context(), agent, call)
	require.NoError(t, err)
	clear(page.Refs)
	requireReplay(t, env.B, call, refs(0, 5), true) // the caller has a separate copy of the slice
	requirePage(t, refs(5, 10), true, pop(t, env.A, 5))
	assert.Equal(t, []bool{false, false}, pending(t, env, Start, refs(10, 12)...))
}
