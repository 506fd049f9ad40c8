package breaker

import (
	"context"
	"sync/atomic"

	"github.com/freshet/freshet/internal/rediskeys"
)

// request is the shared state of the calls of one agent's request to a service: a dead
// Redis costs the request one call's timeout, not one timeout for each of its
// stages, which together may be longer than the request has; a dead PostgreSQL
// likewise.
type request struct {
	begun        atomic.Bool // it has made a call to Redis
	lost         atomic.Bool // a call to Redis got no answer
	databaseLost atomic.Bool // PostgreSQL could not be asked
}

type requestKey struct{}

// requestOf is the request that a context belongs to; nil for background work.
func requestOf(ctx context.Context) *request {
	r, _ := ctx.Value(requestKey{}).(*request)
	return r
}

// InRequest reports whether a context is that of a request.
func InRequest(ctx context.Context) bool { return requestOf(ctx) != nil }

// learn takes in how a call ended, after the client's own retry.
func (r *request) learn(err error) {
	if r != nil && rediskeys.Silent(err) {
		r.lost.Store(true)
	}
}

// begins reports whether this is the request's first call.
func (r *request) begins() bool { return r != nil && !r.begun.Swap(true) }

// givenUp reports whether a call of this request got no answer.
func (r *request) givenUp() bool { return r != nil && r.lost.Load() }

// Begin marks the context of a request: when a service gives no answer to one of its calls,
// its other calls to that service are refused.
func Begin(ctx context.Context) context.Context {
	return context.WithValue(ctx, requestKey{}, &request{})
}
