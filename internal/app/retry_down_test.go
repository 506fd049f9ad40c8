package app

import (
	"sync"
	"testing"

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
	t.Parallel()
	for name, outage := range map[string]struct{ down, back func(*testenv.OwnRedis) }{
		"killed": {(*testenv.OwnRedis).Kill, (*testenv.OwnRedis).Start},
		"frozen": {(*testenv.OwnRedis).Freeze, (*testenv.OwnRedis).Thaw},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, r := redisAlone(t)
			a := open(t, cfg, WithClock(at(noon).Now), quick)
			put(t, a, madeItems(200)...)
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
				testenv.WaitFor(t, func() bool {
					answer := ask(t, a, refresh("u_1", 50))
					seen.add(t, "given back", ids(answer))
					return seen.len() == 200
				}, "what was taken for a page that nobody got is given back")
			}
		})
	}
}
