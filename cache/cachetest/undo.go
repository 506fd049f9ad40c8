package cachetest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/feed"
)

func restoreForgets(t *testing.T, open Open) {
	env := open(t, TTL)
	call := cache.Call{RequestID: "r1", Owner: "o1", Action: "refresh", Limit: 3}
	r := cache.Replace{Agent: agent, Ranked: refs(0, 10), Limit: 3, Now: Start, Call: call}
	page, err := env.A.Replace(t.Context(), r)
	require.NoError(t, err)
	require.NoError(t, env.A.Restore(t.Context(), agent, page.Refs, call))
	_, ok, err := env.B.Replay(t.Context(), agent, call)
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
	call := retryOf("r1", "refresh")
	list := append(refs(0, 4), feed.Ref{Group: "story", ID: "doc"})
	requirePage(t, list, false, refreshWith(t, env.A, call, list))
	require.NoError(t, env.A.Restore(t.Context(), agent, list[3:], call))
	requireReplay(t, env.B, call, list[:3], true)
	requirePage(t, list[3:], false, pop(t, env.A, 5))
}

// restoreAfterRetry checks a first attempt that fails after a retry got its page. The page must
// stay with the retry, or it would be shown twice.
func restoreAfterRetry(t *testing.T, open Open) {
	for name, again := range map[string]func(t *testing.T, s cache.Sessions, call cache.Call){
		"replay": func(t *testing.T, s cache.Sessions, call cache.Call) { requireReplay(t, s, call, refs(5, 10), true) },
		"pop": func(t *testing.T, s cache.Sessions, call cache.Call) {
			requirePage(t, refs(5, 10), true, popWith(t, s, retryOf(call.RequestID, call.Action), 5))
		},
		"replace": func(t *testing.T, s cache.Sessions, call cache.Call) {
			requirePage(t, refs(5, 10), true, refreshWith(t, s, retryOf(call.RequestID, call.Action), nil))
		},
	} {
		t.Run(name, func(t *testing.T) {
			env := open(t, TTL)
			call := retryOf("r1", "load_more")
			replace(t, env.A, 5, refs(0, 20))
			page := popWith(t, env.A, call, 5)
			requirePage(t, refs(5, 10), true, page)
			again(t, env.B, call)
			require.NoError(t, env.A.Restore(t.Context(), agent, page.Refs, call))
			requirePage(t, refs(10, 15), true, pop(t, env.A, 5))
			requireReplay(t, env.A, call, refs(5, 10), true)
		})
	}
}

// restoreByAll checks equal calls none of which could deliver its page: the refs are restored when
// the last of them returns them. Each may return them repeatedly.
func restoreByAll(t *testing.T, open Open) {
	for name, order := range map[string]string{
		"the first first": "first second third", "the first last": "second third first", "in between": "second first third",
		"twice": "second second first first third",
	} {
		t.Run(name, func(t *testing.T) {
			env := open(t, TTL)
			replace(t, env.A, 5, refs(0, 20))
			calls := map[string]cache.Call{"first": retryOf("r1", "load_more"), "second": retryOf("r1", "load_more"), "third": retryOf("r1", "load_more")}
			pages := map[string][]feed.Ref{"first": refs(5, 15), "second": refs(5, 10), "third": refs(5, 15)}
			requirePage(t, refs(5, 10), true, popWith(t, env.A, calls["first"], 5))
			replayTo(t, env.B, calls["second"], refs(5, 10), true)
			further := calls["first"]
			further.Step = 1
			requirePage(t, refs(10, 15), true, popWith(t, env.A, further, 5))
			replayTo(t, env.B, calls["third"], refs(5, 15), true)
			for i, who := range strings.Fields(order) {
				assert.NotContains(t, pending(t, env, Start, refs(5, 15)...), false, "%d: one of them may deliver it", i)
				require.NoError(t, env.A.Restore(t.Context(), agent, pages[who], calls[who]))
			}
			for range 2 {
				assert.NotContains(t, pending(t, env, Start, refs(5, 15)...), true)
				require.NoError(t, env.A.Restore(t.Context(), agent, refs(5, 15), calls["third"]), "again")
			}
			requirePage(t, refs(5, 11), true, pop(t, env.B, 6))
			_, ok, err := env.A.Replay(t.Context(), agent, calls["first"])
			require.NoError(t, err)
			assert.False(t, ok)
		})
	}
}

// restoreByOne checks equal calls one of which has delivered the page.
func restoreByOne(t *testing.T, open Open) {
	env := open(t, TTL)
	replace(t, env.A, 5, refs(0, 20))
	first, second, third := retryOf("r1", "load_more"), retryOf("r1", "load_more"), retryOf("r1", "load_more")
	requirePage(t, refs(5, 10), true, popWith(t, env.A, first, 5))
	replayTo(t, env.B, second, refs(5, 10), true)
	replayTo(t, env.B, third, refs(5, 10), true)
	require.NoError(t, env.A.Restore(t.Context(), agent, refs(5, 10), first))
	for range 2 {
		require.NoError(t, env.B.Restore(t.Context(), agent, refs(5, 10), third))
	}
	assert.NotContains(t, pending(t, env, Start, refs(5, 10)...), false)
	requirePage(t, refs(10, 15), true, pop(t, env.A, 5))
	requireReplay(t, env.A, retryOf("r1", "load_more"), refs(5, 10), true)
}

// restoreUnanswered checks that refs that no equal call received are restored at once.
func restoreUnanswered(t *testing.T, open Open) {
	env := open(t, TTL)
	replace(t, env.A, 5, refs(0, 20))
	first, second := retryOf("r1", "load_more"), retryOf("r1", "load_more")
	requirePage(t, refs(5, 10), true, popWith(t, env.A, first, 5))
	replayTo(t, env.B, second, refs(5, 10), true)
	further := first
	further.Step = 1
	requirePage(t, refs(10, 15), true, popWith(t, env.A, further, 5))
	require.NoError(t, env.A.Restore(t.Context(), agent, refs(5, 15), first))
	assert.NotContains(t, pending(t, env, Start, refs(5, 10)...), false)
	assert.NotContains(t, pending(t, env, Start, refs(10, 15)...), true)
	require.NoError(t, env.B.Restore(t.Context(), agent, refs(5, 10), second))
	requirePage(t, refs(5, 11), true, pop(t, env.A, 6))
}

// restoreParts checks equal calls that have each delivered a part of the page.
func restoreParts(t *testing.T, open Open) {
	env := open(t, TTL)
	replace(t, env.A, 5, refs(0, 20))
	first, second, third := retryOf("r1", "load_more"), retryOf("r1", "load_more"), retryOf("r1", "load_more")
	requirePage(t, refs(5, 10), true, popWith(t, env.A, first, 5))
	replayTo(t, env.B, second, refs(5, 10), true)
	require.NoError(t, env.A.Restore(t.Context(), agent, refs(7, 10), first)) // it has delivered 5 and 6
	require.NoError(t, env.B.Restore(t.Context(), agent, append(refs(5, 7), refs(8, 10)...), second))
	assert.NotContains(t, pending(t, env, Start, refs(5, 8)...), false, "7 is the second's")
	assert.NotContains(t, pending(t, env, Start, refs(8, 10)...), true)
	replayTo(t, env.B, third, refs(5, 8), true)
	require.NoError(t, env.A.Restore(t.Context(), agent, refs(5, 10), first))
	require.NoError(t, env.B.Restore(t.Context(), agent, refs(6, 8), third))
	assert.NotContains(t, pending(t, env, Start, refs(5, 6)...), false)
	requirePage(t, append(refs(6, 7), refs(8, 12)...), true, pop(t, env.A, 5))
}

// restoreAndGoOn checks that the first call can deliver a part and another step.
func restoreAndGoOn(t *testing.T, open Open) {
	env := open(t, TTL)
	replace(t, env.A, 5, refs(0, 20))
	first, second := retryOf("r1", "load_more"), retryOf("r1", "load_more")
	requirePage(t, refs(5, 10), true, popWith(t, env.A, first, 5))
	replayTo(t, env.B, second, refs(5, 10), true)
	require.NoError(t, env.A.Restore(t.Context(), agent, refs(7, 8), first))
	require.NoError(t, env.A.Restore(t.Context(), agent, refs(8, 10), first))
	further := first
	further.Step = 1
	requirePage(t, refs(10, 12), true, popWith(t, env.A, further, 2))
	require.NoError(t, env.B.Restore(t.Context(), agent, refs(5, 10), second))
	assert.NotContains(t, pending(t, env, Start, append(refs(5, 7), refs(10, 12)...)...), false)
	requirePage(t, append(refs(7, 10), refs(12, 14)...), true, pop(t, env.A, 5))
	requireReplay(t, env.A, retryOf("r1", "load_more"), append(refs(5, 7), refs(10, 12)...), true)
}

// replayTo checks the response to a call with the request id of an earlier call.
func replayTo(t *testing.T, s cache.Sessions, call cache.Call, want []feed.Ref, more bool) {
	t.Helper()
	page, ok, err := s.Replay(t.Context(), agent, call)
	require.NoError(t, err)
	require.True(t, ok)
	require.True(t, page.Replayed)
	requirePage(t, want, more, page)
}

// restoreTwice checks that a client may resend a script after losing the reply, even if the refs
// that it returned have been handed out again meanwhile.
func restoreTwice(t *testing.T, open Open) {
	for name, call := range map[string]cache.Call{
		"with a request id": retryOf("r1", "refresh"),
		"without":           {Owner: "o1", Action: "refresh", Limit: 3},
	} {
		t.Run(name, func(t *testing.T) {
			env := open(t, TTL)
			page, err := env.A.Replace(t.Context(), cache.Replace{Agent: agent, Ranked: refs(0, 6), Limit: 3, Now: Start, Call: call})
			require.NoError(t, err)
			require.NoError(t, env.A.Restore(t.Context(), agent, page.Refs, call))
			if call.RequestID == "" && !env.RunsAgain {
				return // such a step is never run again
			}
			requirePage(t, refs(0, 3), true, pop(t, env.B, 3))
			require.NoError(t, env.A.Restore(t.Context(), agent, page.Refs, call))
			require.NoError(t, env.A.Discard(t.Context(), agent, page.Refs, call))
			assert.Equal(t, []bool{true, true, true}, pending(t, env, Start, refs(0, 3)...))
			requirePage(t, refs(3, 6), false, pop(t, env.B, 6))
		})
	}
}

func omit(t *testing.T, open Open) {
	env := open(t, TTL)
	call := retryOf("r1", "refresh")
	list := append(refs(0, 4), feed.Ref{Group: "story", ID: "doc"})
	requirePage(t, list, true, refreshWith(t, env.A, call, append(list, ref("last"))))
	for range 2 {
		require.NoError(t, env.A.Omit(t.Context(), agent, []feed.Ref{list[1], list[4]}, call))
		assert.NotContains(t, pending(t, env, Start, append(list[:4:4], ref("story"), ref("doc"))...), false)
		requireReplay(t, env.B, call, []feed.Ref{list[0], list[2], list[3]}, true)
	}
	requirePage(t, []feed.Ref{ref("last")}, false, pop(t, env.A, 5))
}

func discard(t *testing.T, open Open) {
	env := open(t, TTL)
	call := retryOf("r1", "refresh")
	story := feed.Ref{Group: "story", ID: "doc"}
	list := append(refs(0, 4), story)
	requirePage(t, list, true, refreshWith(t, env.A, call, append(list, ref("last"))))
	require.NoError(t, env.A.Discard(t.Context(), agent, []feed.Ref{list[1], story}, call))
	require.NoError(t, env.A.Discard(t.Context(), agent, nil, call))
	assert.Equal(t, []bool{true, false, false, false}, pending(t, env, Start, list[0], list[1], ref("story"), ref("doc")))
	requireReplay(t, env.B, call, []feed.Ref{list[0], list[2], list[3]}, true)
	requirePage(t, []feed.Ref{ref("last")}, false, pop(t, env.A, 5))

	other := retryOf("r1", "refresh")
	require.NoError(t, env.B.Discard(t.Context(), agent, list[:1], other))
	assert.Equal(t, []bool{true}, pending(t, env, Start, list[0]), "the page is not its own")
}
