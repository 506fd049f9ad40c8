package app

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/internal/testenv"
)

// named is a request with a request id.
func named(r engine.Request, id string) engine.Request {
	r.RequestID = id
	return r
}

// TestRetryWhileRedisIsDown sends calls again while Redis is down, and after:
// this server answers the same page, and nothing that was shown comes again.
func TestRetryWhileRedisIsDown(t *testing.T) {
	for name, outage := range map[string]struct{ down, back func(*testenv.OwnRedis) }{
		"killed": {(*testenv.OwnRedis).Kill, (*testenv.OwnRedis).Start},
		"frozen": {(*testenv.OwnRedis).Freeze, (*testenv.OwnRedis).Thaw},
	} {
		t.Run(name, func(t *testing.T) {
			cfg, r := ownRedis(t)
			a := open(t, cfg, WithClock(at(noon).Now))
			put(t, a, catalogue(200)...)
			healthy(t, a)
			seen := newOnce()
			seen.add(t, "before", ids(ask(t, a, refresh("u_1", 10))))
			recorded(t, a)
			outage.down(r)

			var calls []engine.Request
			var first []engine.Answer
			for _, call := range []engine.Request{named(loadMore("u_1", 10), "r1"), named(refresh("u_1", 7), "r2")} {
				answers := make([]engine.Answer, 4)
				var wg sync.WaitGroup
				for i := range answers { // the same call, sent several times at once
					wg.Go(func() {
						answer, err := a.Engine.Feed(t.Context(), call)
						assert.NoError(t, err)
						answers[i] = answer
					})
				}
				wg.Wait()
				for _, other := range answers {
					assert.Equal(t, ids(answers[0]), ids(other))
				}
				calls, first = append(calls, call), append(first, answers[0])
				seen.add(t, "while Redis is down", ids(answers[0]))
			}
			_, err := a.Engine.Feed(t.Context(), named(refresh("u_1", 7), "r1"))
			require.ErrorIs(t, err, cache.ErrConflict)

			outage.back(r)
			healthy(t, a)
			for i, call := range calls {
				assert.Equal(t, ids(first[i]), ids(ask(t, a, call)), "after the outage")
			}
			for {
				answer := ask(t, a, loadMore("u_1", 50))
				if len(answer.Docs) == 0 {
					break
				}
				seen.add(t, "after the outage", ids(answer))
			}
			if name == "frozen" { // what Redis took for calls that had gone on without it is given back
				require.Eventually(t, func() bool {
					answer := ask(t, a, refresh("u_1", 50))
					seen.add(t, "given back", ids(answer))
					return seen.len() == 200
				}, 20*time.Second, 100*time.Millisecond, "something was taken for a page that nobody got")
			}
		})
	}
}

// TestAnEmptyPageMeansThatThereIsNothing deletes whole pages of a session.
func TestAnEmptyPageMeansThatThereIsNothing(t *testing.T) {
	for _, m := range modes {
		t.Run(m.name, func(t *testing.T) {
			a := open(t, m.config(t), WithClock(at(noon).Now))
			put(t, a, catalogue(120)...)
			for _, agent := range []string{"u_1", "u_2"} {
				require.Len(t, ask(t, a, refresh(agent, 10)).Docs, 10)
			}
			for _, it := range catalogue(120)[10:90] {
				require.NoError(t, a.Catalog.Remove(t.Context(), it.ID))
			}
			answer := ask(t, a, loadMore("u_1", 10))
			assert.Equal(t, "doc_0090", ids(answer)[0])
			assert.True(t, answer.HasMore)
			for _, it := range catalogue(120)[90:] {
				require.NoError(t, a.Catalog.Remove(t.Context(), it.ID))
			}
			for _, request := range []engine.Request{loadMore("u_2", 10), named(loadMore("u_1", 10), "r1"), named(loadMore("u_1", 10), "r1")} {
				answer = ask(t, a, request)
				assert.Empty(t, answer.Docs)
				assert.False(t, answer.HasMore)
			}
		})
	}
}
