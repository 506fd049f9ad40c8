package cachetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

// further returns call with the given step.
func further(call cache.Call, step int) cache.Call {
	call.Step = step
	return call
}

// held lists checks of refs that several equal calls hold: which call returns them, and when they
// are restored. Each begins with a session of doc_5 … doc_19.
var held = map[string]func(t *testing.T, env Env, first, second, third cache.Call){
	"a step of the second, restored by the first": func(t *testing.T, env Env, first, second, _ cache.Call) {
		popWith(t, env.A, first, 5)
		popWith(t, env.B, second, 5)
		requirePage(t, refs(10, 11), true, popWith(t, env.B, further(second, 1), 1))
		again := popWith(t, env.A, further(first, 1), 1)
		assert.True(t, again.Recorded)
		require.NoError(t, env.A.Restore(t.Context(), agent, refs(10, 11), first))
		assert.Equal(t, []bool{true}, pending(t, env, Start, refs(10, 11)...), "the second may have delivered it")
		requirePage(t, refs(11, 12), true, pop(t, env.A, 1))
	},
	"a step of the second, restored by it": func(t *testing.T, env Env, first, second, _ cache.Call) {
		popWith(t, env.A, first, 5)
		popWith(t, env.B, second, 5)
		popWith(t, env.B, further(second, 1), 1)
		require.NoError(t, env.B.Restore(t.Context(), agent, refs(10, 11), second))
		requirePage(t, refs(10, 11), true, pop(t, env.A, 1))
	},
	"a step of the second, discarded by it": func(t *testing.T, env Env, first, second, _ cache.Call) {
		popWith(t, env.A, first, 5)
		popWith(t, env.B, second, 5)
		popWith(t, env.B, further(second, 1), 1)
		require.NoError(t, env.B.Discard(t.Context(), agent, refs(10, 11), second))
		assert.Equal(t, []bool{false}, pending(t, env, Start, refs(10, 11)...))
		requirePage(t, refs(11, 12), true, pop(t, env.A, 1))
		requireReplay(t, env.A, first, refs(5, 10), true)
	},
	"a step that the second has not seen": func(t *testing.T, env Env, first, second, _ cache.Call) {
		popWith(t, env.A, first, 5)
		popWith(t, env.B, second, 5)
		popWith(t, env.A, further(first, 1), 1)
		popWith(t, env.A, further(first, 2), 1)
		requirePage(t, refs(10, 11), true, popWith(t, env.B, further(second, 1), 1))
		require.NoError(t, env.B.Restore(t.Context(), agent, refs(5, 11), second))
		require.NoError(t, env.A.Restore(t.Context(), agent, refs(11, 12), first))
		requirePage(t, refs(11, 13), true, pop(t, env.A, 2))
	},
	"a step that one delivered, and one that it has not seen": func(t *testing.T, env Env, first, second, third cache.Call) {
		popWith(t, env.A, first, 5)
		popWith(t, env.B, second, 5) // delivers it
		assert.True(t, popWith(t, env.A, further(first, 1), 5).Shared)
		replayTo(t, env.B, third, refs(5, 15), true)
		require.NoError(t, env.A.Restore(t.Context(), agent, refs(5, 15), first))
		require.NoError(t, env.B.Restore(t.Context(), agent, refs(5, 15), third))
		assert.NotContains(t, pending(t, env, Start, refs(5, 10)...), false)
		requirePage(t, refs(10, 16), true, pop(t, env.A, 6))
	},
	"a call that is refused holds nothing": func(t *testing.T, env Env, first, second, _ cache.Call) {
		assert.False(t, popWith(t, env.A, first, 5).Shared)
		second.Limit++
		_, err := env.B.Pop(t.Context(), cache.Pop{Agent: agent, Limit: 6, Now: Start, Call: second})
		require.ErrorIs(t, err, cache.ErrConflict)
		_, _, err = env.B.Replay(t.Context(), agent, second)
		require.ErrorIs(t, err, cache.ErrConflict)
		require.NoError(t, env.A.Restore(t.Context(), agent, refs(5, 10), first))
		requirePage(t, refs(5, 10), true, pop(t, env.A, 5))
	},
	"discarded while another one may deliver it": func(t *testing.T, env Env, first, second, _ cache.Call) {
		popWith(t, env.A, first, 5)
		popWith(t, env.B, second, 5)
		require.NoError(t, env.A.Discard(t.Context(), agent, refs(5, 10), first))
		assert.NotContains(t, pending(t, env, Start, refs(5, 10)...), false)
		require.NoError(t, env.B.Discard(t.Context(), agent, refs(5, 7), second))
		require.NoError(t, env.B.Restore(t.Context(), agent, refs(7, 10), second))
		assert.NotContains(t, pending(t, env, Start, refs(5, 10)...), true)
		requirePage(t, refs(7, 12), true, pop(t, env.A, 5))
	},
	"omitted while another one holds it": func(t *testing.T, env Env, first, second, third cache.Call) {
		popWith(t, env.A, first, 5)
		popWith(t, env.B, second, 5)
		require.NoError(t, env.A.Omit(t.Context(), agent, refs(5, 7), first))
		replayTo(t, env.B, third, refs(7, 10), true)
		require.NoError(t, env.B.Restore(t.Context(), agent, refs(5, 7), second))
		assert.NotContains(t, pending(t, env, Start, refs(5, 10)...), false)
		requirePage(t, refs(10, 11), true, pop(t, env.A, 1))
	},
	"given back at the end of the record": func(t *testing.T, env Env, first, second, _ cache.Call) {
		popWith(t, env.A, first, 5)
		env.Advance(cache.RetryTTL - time.Second)
		replayTo(t, env.B, second, refs(5, 10), true)
		env.Advance(2 * time.Second)
		require.NoError(t, env.B.Restore(t.Context(), agent, refs(5, 10), second))
		require.NoError(t, env.A.Restore(t.Context(), agent, refs(5, 10), first))
		requirePage(t, refs(5, 10), true, pop(t, env.A, 5))
	},
	"more calls than are told apart": func(t *testing.T, env Env, first, _, _ cache.Call) {
		popWith(t, env.A, first, 5)
		calls := []cache.Call{first}
		for range cache.MaxCalls - 1 {
			calls = append(calls, retryOf("r1", "load_more"))
			replayTo(t, env.B, calls[len(calls)-1], refs(5, 10), true)
		}
		for _, call := range calls {
			require.NoError(t, env.A.Restore(t.Context(), agent, refs(5, 7), call))
		}
		assert.NotContains(t, pending(t, env, Start, refs(5, 7)...), true)
		late := retryOf("r1", "load_more")
		for range 2 {
			replayTo(t, env.B, late, refs(7, 10), true)
		}
		for _, call := range append(calls, late) {
			require.NoError(t, env.A.Restore(t.Context(), agent, refs(7, 10), call))
		}
		assert.NotContains(t, pending(t, env, Start, refs(7, 10)...), false, "the last may have delivered it")
		requirePage(t, append(refs(5, 7), refs(10, 11)...), true, pop(t, env.A, 3))
	},
}

func holders(t *testing.T, open Open) {
	for name, check := range held {
		t.Run(name, func(t *testing.T) {
			env := open(t, TTL)
			replace(t, env.A, 5, refs(0, 20))
			check(t, env, retryOf("r1", "load_more"), retryOf("r1", "load_more"), retryOf("r1", "load_more"))
		})
	}
}

// holding is the model of [holdersAtRandom]: the session and the holders of each ref.
type holding struct {
	session []feed.Ref
	by      map[feed.Ref]map[string]bool // the calls that hold each ref; empty if none does and it was not restored
	list    []cache.Call
}

// holdersAtRandom lets calls with three request ids take steps, replay each other's and return the
// refs they hold, in random order and repeatedly, and compares the store with the model.
func holdersAtRandom(t *testing.T, open Open) {
	for seed := range uint64(testenv.Steps(3, 12)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			env, r := open(t, TTL), rand.New(rand.NewPCG(seed, 5))
			replace(t, env.A, 5, refs(0, 60))
			m := holding{session: refs(5, 60), by: map[feed.Ref]map[string]bool{}}
			steps := map[string][][]feed.Ref{} // by request id
			for range 80 {
				if len(m.list) == 0 || r.IntN(4) == 0 {
					m.list = append(m.list, retryOf(fmt.Sprint("r", r.IntN(3)), "load_more"))
				}
				at := r.IntN(len(m.list))
				call, s := m.list[at], []cache.Sessions{env.A, env.B}[r.IntN(2)]
				mine := m.heldBy(call)
				if r.IntN(3) == 0 && len(mine) > 0 {
					r.Shuffle(len(mine), func(i, k int) { mine[i], mine[k] = mine[k], mine[i] })
					back := mine[:1+r.IntN(len(mine))]
					slices.SortFunc(back, func(a, b feed.Ref) int { return slices.Index(refs(0, 60), a) - slices.Index(refs(0, 60), b) })
					m.giveBack(t, s, r.IntN(3) > 0, back, call)
					m.compare(t, env)
					continue
				}
				page := popWith(t, s, further(call, call.Step), 1+r.IntN(4))
				if page.Recorded {
					assert.NotEmpty(t, steps[call.RequestID])
				} else {
					m.session = m.session[len(page.Refs):]
					steps[call.RequestID] = append(steps[call.RequestID], page.Refs)
				}
				for _, ref := range page.Refs {
					if m.by[ref] == nil || !page.Recorded {
						m.by[ref] = map[string]bool{}
					}
					m.by[ref][call.Owner] = true
				}
				m.list[at].Step = max(page.Next, call.Step)
				m.compare(t, env)
			}
		})
	}
}

func (m *holding) heldBy(call cache.Call) (list []feed.Ref) {
	for ref, by := range m.by {
		if by[call.Owner] {
			list = append(list, ref)
		}
	}
	slices.SortFunc(list, func(a, b feed.Ref) int { return slices.Index(refs(0, 60), a) - slices.Index(refs(0, 60), b) })
	return list
}

func (m *holding) giveBack(t *testing.T, s cache.Sessions, restore bool, back []feed.Ref, call cache.Call) {
	t.Helper()
	do := s.Discard
	if restore {
		do = s.Restore
	}
	for range 2 { // twice is harmless
		require.NoError(t, do(t.Context(), agent, back, call))
	}
	var free []feed.Ref
	for _, ref := range back {
		delete(m.by[ref], call.Owner)
		if len(m.by[ref]) == 0 {
			delete(m.by, ref)
			free = append(free, ref)
		}
	}
	if restore {
		m.session = slices.Concat(free, m.session)
	}
}

// compare checks that exactly the held refs are pending and that the session equals the model's.
func (m *holding) compare(t *testing.T, env Env) {
	t.Helper()
	left, err := env.A.Next(t.Context(), agent, "", 100)
	require.NoError(t, err)
	require.Equal(t, feed.IDs(m.session), feed.IDs(left))
	for i, is := range pending(t, env, Start, refs(5, 60)...) {
		ref := refs(5, 60)[i]
		require.Equal(t, len(m.by[ref]) > 0, is, "%s", ref.ID)
	}
}
