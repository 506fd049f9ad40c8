package breaker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/internal/rediskeys"
)

// Redis is a hook of the Redis client, so it guards every backend that uses the client.
type Redis struct {
	*Breaker
	patience time.Duration // time limit of a call in a request, including the client's own retries
	masters  Masters       // nil means they are not watched
}

// Masters delays connections and requests that must not reach a new master before that has the
// latest deliveries.
type Masters interface {
	Dialled(addr string)                // a connection to this server was made
	HoldConnection(ctx context.Context) // a new connection waits here
	HoldRequest(ctx context.Context)    // a request waits here before its first call
}

// NewRedis returns the hook for a client. The time limit of a call in a request is patience,
// including the client's own retries. If masters is nil, they are not watched.
func NewRedis(name string, patience time.Duration, masters Masters, log *slog.Logger) Redis {
	return Redis{New(name, log, "command", "pipeline"), patience, masters}
}

var _ redis.Hook = Redis{}

// passed marks the context of a call that the breaker has let through. Commands that the client
// sends on its behalf, such as the greeting on a new connection, are part of it.
type passed struct{}

// greeting is the first command on a new connection.
const greeting = "hello"

// guard runs a call if the breaker allows it, and calls refused if not.
func (b Redis) guard(ctx context.Context, kind, what string, batch int, run func(context.Context) error, refused func(error)) error {
	if ctx.Value(passed{}) != nil {
		if what == greeting && b.masters != nil {
			b.masters.HoldConnection(ctx)
		}
		return run(ctx)
	}
	r := requestOf(ctx)
	if r.givenUp() {
		err := fmt.Errorf("%s: %w: %w", b.name, rediskeys.ErrNotSent, b.refuseRest(ctx))
		refused(err)
		return err
	}
	if r.isFirstCall() && b.masters != nil {
		b.masters.HoldRequest(ctx)
	}
	ctx, c, err := b.Enter(ctx, kind, what, batch)
	if err != nil {
		err = fmt.Errorf("%s: %w: %w", b.name, rediskeys.ErrNotSent, err)
		refused(err)
		return err
	}
	ctx = context.WithValue(ctx, passed{}, true)
	if r == nil {
		err = run(ctx)
	} else {
		err = b.callWithRetries(ctx, run)
		r.recordOutcome(err)
	}
	c.Leave(broken(err))
	return err
}

const (
	firstPause   = 20 * time.Millisecond // before a retry; it doubles
	longestPause = 200 * time.Millisecond
)

// callWithRetries makes a call of a request and retries it while Redis does not answer, until patience
// has passed: a Redis that comes back within that time, after a failover or a restart, is not
// treated as down. Every command may be repeated: page steps are recorded, adding and removing is
// idempotent.
func (b Redis) callWithRetries(ctx context.Context, run func(context.Context) error) error {
	ctx, done := context.WithTimeout(ctx, b.patience)
	defer done()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := run(ctx)
		if !rediskeys.Silent(err) {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return err
		}
	}
}

// broken returns err if it counts against Redis: Redis was unreachable, and not because the caller
// stopped waiting. A master whose replicas lag is reachable.
func broken(err error) error {
	if rediskeys.Unreachable(err) && !errors.Is(err, rediskeys.ErrShort) {
		return err
	}
	return nil
}

// Wait guards a write that waits for replicas ([rediskeys.Replicas]).
func (b Redis) Wait(ctx context.Context, call func(context.Context) error) error {
	return b.guard(ctx, "pipeline", "wait", 0, call, func(error) {})
}

// DialHook implements [redis.Hook].
func (b Redis) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		conn, err := next(ctx, network, addr)
		if err == nil && b.masters != nil { // through Sentinels, addr is not the server's
			b.masters.Dialled(conn.RemoteAddr().String())
		}
		return conn, err
	}
}

// ProcessHook implements [redis.Hook].
func (b Redis) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		return b.guard(ctx, "command", cmd.Name(), 0, func(ctx context.Context) error { return next(ctx, cmd) }, cmd.SetErr)
	}
}

// ProcessPipelineHook implements [redis.Hook].
func (b Redis) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		return b.guard(ctx, "pipeline", "pipeline", len(cmds), func(ctx context.Context) error { return next(ctx, cmds) }, func(err error) {
			for _, cmd := range cmds {
				cmd.SetErr(err)
			}
		})
	}
}

// request is the state shared by the calls of one agent's request. It makes a dead Redis cost the
// request one timeout, not one for each of its stages, which together may exceed the request's time
// limit. The same holds for a dead PostgreSQL.
type request struct {
	begun        atomic.Bool // it has made a call to Redis
	lost         atomic.Bool // a call to Redis got no answer
	databaseLost atomic.Bool // PostgreSQL was unreachable
}

type requestKey struct{}

// requestOf returns the request that a context belongs to, or nil for background work.
func requestOf(ctx context.Context) *request {
	r, _ := ctx.Value(requestKey{}).(*request)
	return r
}

// InRequest reports whether a context is that of a request.
func InRequest(ctx context.Context) bool { return requestOf(ctx) != nil }

// recordOutcome records the outcome of a call, after the client's own retries.
func (r *request) recordOutcome(err error) {
	if r != nil && rediskeys.Silent(err) {
		r.lost.Store(true)
	}
}

// isFirstCall reports whether this is the request's first call.
func (r *request) isFirstCall() bool { return r != nil && !r.begun.Swap(true) }

// givenUp reports whether a call of this request got no answer.
func (r *request) givenUp() bool { return r != nil && r.lost.Load() }

// Begin marks the context of a request: once a service does not answer one of its calls, its other
// calls to that service are refused.
func Begin(ctx context.Context) context.Context {
	return context.WithValue(ctx, requestKey{}, &request{})
}
