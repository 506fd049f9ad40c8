package cachetest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/feed"
)

// calls returns a call with a request id and, if env.RunsAgain is set, one without.
func calls(env Env, action string) map[string]cache.Call {
	all := map[string]cache.Call{"with a request id": retryOf("r1", action)}
	if env.RunsAgain {
		all["without"] = cache.Call{Owner: "o1", Action: action, Limit: 5}
	}
	return all
}

// eachCall runs a test for each kind of call, each on a separate store.
func eachCall(t *testing.T, open Open, action string, test func(t *testing.T, env Env, call cache.Call)) {
	for name := range calls(Env{RunsAgain: true}, action) {
		t.Run(name, func(t *testing.T) {
			env := open(t, TTL)
			if call, ok := calls(env, action)[name]; ok {
				test(t, env, call)
			}
		})
	}
}

// requireFirst checks that a page is a first delivery.
func requireFirst(t *testing.T, want []feed.Ref, more bool, got cache.Page) {
	t.Helper()
	requirePage(t, want, more, got)
	require.False(t, got.Replayed, "a step that is run again is no retry")
}

func runAgain(t *testing.T, open Open) {
	eachCall(t, open, "refresh", func(t *testing.T, env Env, call cache.Call) {
		list := append(refs(0, 11), feed.Ref{Group: "story", ID: "doc"})
		for range 3 {
			page := refreshWith(t, env.A, call, list)
			requireFirst(t, list[:5], true, page)
			assert.Equal(t, 1, page.Next)
		}
		more := call
		more.RequestID, more.Owner, more.Action = call.RequestID+"2", call.Owner+"2", "load_more"
		if call.RequestID == "" {
			more.RequestID = ""
		}
		for range 3 {
			requireFirst(t, list[5:10], true, popWith(t, env.A, more, 5))
		}
		requirePage(t, list[10:], false, pop(t, env.B, 5))
		assert.NotContains(t, pending(t, env, Start, list...), false)
	})
}

// runAgainAsRefresh checks that a load_more can continue as a refresh after a pop that was executed
// but got no reply.
func runAgainAsRefresh(t *testing.T, open Open) {
	eachCall(t, open, "load_more", func(t *testing.T, env Env, call cache.Call) {
		replace(t, env.A, 5, refs(0, 12))
		popWith(t, env.A, call, 5)
		requireFirst(t, refs(5, 10), true, refreshWith(t, env.A, call, refs(10, 12)))
		requirePage(t, refs(10, 12), false, pop(t, env.A, 5))
	})
}

func runLaterAgain(t *testing.T, open Open) {
	eachCall(t, open, "load_more", func(t *testing.T, env Env, call cache.Call) {
		replace(t, env.A, 5, refs(0, 20))
		requireFirst(t, refs(5, 10), true, popWith(t, env.A, call, 5))
		later := call
		later.Step = 1
		for range 3 {
			page := popWith(t, env.A, later, 2)
			requireFirst(t, refs(10, 12), true, page)
			assert.Equal(t, 2, page.Next)
		}
		later.Step = 2
		for range 2 {
			requireFirst(t, refs(12, 15), true, popWith(t, env.A, later, 3))
		}
		if call.RequestID != "" {
			requireReplay(t, env.B, call, refs(5, 15), true)
		}
		requirePage(t, refs(15, 20), false, pop(t, env.A, 5))
	})
}

// runAgainBesideRetry checks a client's retry while the reply to a step is in transit: both get the
// same page, one of them as a first delivery.
func runAgainBesideRetry(t *testing.T, open Open) {
	env := open(t, TTL)
	call := retryOf("r1", "load_more")
	replace(t, env.A, 5, refs(0, 20))
	requireFirst(t, refs(5, 10), true, popWith(t, env.A, call, 5))
	retry := retryOf("r1", "load_more")
	page := popWith(t, env.B, retry, 5)
	assert.True(t, page.Replayed)
	requirePage(t, refs(5, 10), true, page)
	requireFirst(t, refs(5, 10), true, popWith(t, env.A, call, 5))

	// Both get the same further items, whichever call comes first.
	retry.Step, call.Step = page.Next, page.Next
	requirePage(t, refs(10, 12), true, popWith(t, env.B, retry, 2))
	requirePage(t, refs(10, 12), true, popWith(t, env.A, call, 2))
	requirePage(t, refs(12, 17), true, pop(t, env.A, 5))
}

func abandon(t *testing.T, open Open) {
	eachCall(t, open, "load_more", func(t *testing.T, env Env, call cache.Call) {
		if !env.RunsAgain {
			return // no reply is ever lost
		}
		story := feed.Ref{Group: "story", ID: "doc"}
		replace(t, env.A, 5, append(refs(0, 9), story, ref("last")))
		popWith(t, env.A, call, 5)
		for range 2 {
			require.NoError(t, env.A.Abandon(t.Context(), agent, call))
			assert.NotContains(t, pending(t, env, Start, append(refs(5, 9), ref("story"), ref("doc"))...), true)
		}
		requirePage(t, []feed.Ref{ref("last")}, false, pop(t, env.A, 5))
		_, ok, err := env.B.Replay(t.Context(), agent, retryOf("r1", "load_more"))
		require.NoError(t, err)
		assert.False(t, ok)
	})
}

func abandonLater(t *testing.T, open Open) {
	eachCall(t, open, "load_more", func(t *testing.T, env Env, call cache.Call) {
		if !env.RunsAgain {
			return
		}
		replace(t, env.A, 5, refs(0, 20))
		popWith(t, env.A, call, 5)
		for step := 1; step < 4; step++ {
			call.Step = step
			popWith(t, env.A, call, 2)
		}
		call.Step = 2
		require.NoError(t, env.A.Abandon(t.Context(), agent, call))
		assert.Equal(t, []bool{true, true, false, false, false, false}, pending(t, env, Start, refs(10, 16)...))
		if call.RequestID != "" {
			requireReplay(t, env.B, call, refs(5, 12), true)
		}
	})
}

// abandonFirst checks that a step that arrives after its call was abandoned does nothing.
func abandonFirst(t *testing.T, open Open) {
	env := open(t, TTL)
	if !env.RunsAgain {
		return
	}
	call := cache.Call{Owner: "o1", Action: "load_more", Limit: 5}
	replace(t, env.A, 5, refs(0, 20))
	require.NoError(t, env.A.Abandon(t.Context(), agent, call))
	_, err := env.A.Pop(t.Context(), cache.Pop{Agent: agent, Limit: 5, Now: Start, Call: call})
	require.Error(t, err)
	_, err = env.A.Replace(t.Context(), cache.Replace{Agent: agent, Ranked: refs(30, 40), Limit: 5, Now: Start, Call: call})
	require.Error(t, err)
	requirePage(t, refs(5, 10), true, pop(t, env.A, 5))
}

func abandonAfterRetry(t *testing.T, open Open) {
	env := open(t, TTL)
	call := retryOf("r1", "load_more")
	replace(t, env.A, 5, refs(0, 20))
	popWith(t, env.A, call, 5)
	requireReplay(t, env.B, call, refs(5, 10), true)
	require.NoError(t, env.A.Abandon(t.Context(), agent, call))
	requireReplay(t, env.B, call, refs(5, 10), true)
	assert.NotContains(t, pending(t, env, Start, refs(5, 10)...), false)
}
