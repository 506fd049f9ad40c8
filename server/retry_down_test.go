package server

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

func named(r engine.Request, id string) engine.Request {
	r.RequestID = id
	return r
}

// retries is a reader who retries calls while Redis is down and afterwards: this server answers the
// same page, and nothing is repeated.
type retries struct {
	seen  *once
	calls []engine.Request
	first []engine.Answer
}

// beginRetries creates a session of the reader in Redis.
func beginRetries(t *testing.T, a *App) *retries {
	t.Helper()
	r := &retries{seen: newOnce()}
	r.seen.add(t, "before", ids(ask(t, a, refresh("u_again", 10))))
	return r
}

// whileDown sends each call several times concurrently.
func (r *retries) whileDown(t *testing.T, a *App) {
	t.Helper()
	for _, call := range []engine.Request{named(loadMore("u_again", 10), "r1"), named(refresh("u_again", 7), "r2")} {
		answers := make([]engine.Answer, 4)
		var wg sync.WaitGroup
		for i := range answers {
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
		r.calls, r.first = append(r.calls, call), append(r.first, answers[0])
		r.seen.add(t, "while Redis is down", ids(answers[0]))
	}
	r.refused(t, a)
}

// refused sends the ids of calls in different calls.
func (r *retries) refused(t *testing.T, a *App) {
	t.Helper()
	silent, home := refresh("u_again", 10), loadMore("u_again", 10)
	silent.Silent, home.Feed = true, feed.HomeFeed
	for _, call := range []engine.Request{refresh("u_again", 7), loadMore("u_again", 9), silent, home} {
		_, err := a.Engine.Feed(t.Context(), named(call, "r1"))
		require.ErrorIs(t, err, cache.ErrConflict, "%+v", call)
	}
}

// afterwards repeats the calls once Redis is back, and pages to the end. If Redis has retained its
// data, items that it had popped for calls which continued without it are restored.
func (r *retries) afterwards(t *testing.T, a *App, kept bool) {
	t.Helper()
	for i, call := range r.calls {
		assert.Equal(t, ids(r.first[i]), ids(ask(t, a, call)), "after the outage")
	}
	r.refused(t, a)
	for {
		answer := ask(t, a, loadMore("u_again", 50))
		if len(answer.Docs) == 0 {
			break
		}
		r.seen.add(t, "after the outage", ids(answer))
	}
	if kept {
		testenv.WaitFor(t, func() bool {
			answer := ask(t, a, refresh("u_again", 50))
			r.seen.add(t, "given back", ids(answer))
			return r.seen.len() == 300
		}, "what was taken for a page that nobody got is given back")
	}
}
