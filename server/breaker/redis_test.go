package breaker

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/rediskeys"
)

// replies is a Redis that ends its calls with these results in turn, and then succeeds.
type replies struct {
	ends  []error
	calls int
}

func (r *replies) next(context.Context, redis.Cmder) error {
	r.calls++
	if r.calls > len(r.ends) {
		return nil
	}
	return r.ends[r.calls-1]
}

type refusal string

func (e refusal) Error() string { return string(e) }
func (refusal) RedisError()     {}

// read makes a call through the hook, and returns the errors of the call and of the command.
func read(ctx context.Context, b Redis, r *replies) error {
	cmd := redis.NewStringCmd(ctx, "get", "key")
	err := b.ProcessHook(r.next)(ctx, cmd)
	return errors.Join(err, cmd.Err())
}

func newTestRedis(patience time.Duration, masters Masters) Redis {
	return NewRedis("redis", patience, masters, slog.New(slog.DiscardHandler))
}

// TestRedisRetryWithinPatience checks that a request retries within its patience, because a
// Redis that recovers meanwhile is not down. Background work does not retry.
func TestRedisRetryWithinPatience(t *testing.T) {
	for name, c := range map[string]struct {
		ends    []error
		request bool
		calls   int
		lasts   time.Duration
		fails   bool
	}{
		"it answers":                    {nil, true, 1, 0, false},
		"it comes back":                 {[]error{io.EOF, io.EOF, io.EOF}, true, 4, 140 * time.Millisecond, false},
		"it stays away":                 {[]error{io.EOF, io.EOF, io.EOF, io.EOF, io.EOF, io.EOF, io.EOF, io.EOF, io.EOF, io.EOF}, true, 8, time.Second, true},
		"it answers that it cannot":     {[]error{refusal("LOADING")}, true, 1, 0, true},
		"nobody waits for it":           {[]error{io.EOF}, false, 1, 0, true},
		"there is no such key":          {[]error{redis.Nil}, true, 1, 0, true},
		"the caller does not wait":      {[]error{context.Canceled}, true, 1, 0, true},
		"it answers after a first loss": {[]error{io.EOF, refusal("ERR no")}, true, 2, 20 * time.Millisecond, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx := t.Context()
				if c.request {
					ctx = Begin(ctx)
				}
				r, began := &replies{ends: c.ends}, time.Now()
				err := read(ctx, newTestRedis(time.Second, nil), r)
				assert.Equal(t, c.fails, err != nil, "%v", err)
				assert.Equal(t, c.calls, r.calls)
				assert.Equal(t, c.lasts, time.Since(began))
			})
		})
	}
}

// TestRedisPatienceOncePerRequest checks that an unanswered call costs a request its patience
// only once. Other requests and background work still call Redis.
func TestRedisPatienceOncePerRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, ctx := newTestRedis(10*time.Millisecond, nil), Begin(t.Context())
		dead := &replies{ends: []error{io.EOF, io.EOF}}
		require.ErrorIs(t, read(ctx, b, dead), io.EOF)
		calls, began := dead.calls, time.Now()
		err := read(ctx, b, dead)
		require.ErrorIs(t, err, rediskeys.ErrNotSent)
		require.ErrorContains(t, err, "redis: not sent: it did not answer an earlier call of this request")
		assert.Equal(t, calls, dead.calls)
		assert.Zero(t, time.Since(began))
		require.NoError(t, read(Begin(t.Context()), b, &replies{}))
		require.NoError(t, read(t.Context(), b, &replies{}))

		refused := Begin(t.Context())
		require.Error(t, read(refused, b, &replies{ends: []error{refusal("READONLY")}}))
		require.NoError(t, read(refused, b, &replies{}), "it has answered")
	})
}

// TestRedisBreakerFailures checks which results of calls open the breaker.
func TestRedisBreakerFailures(t *testing.T) {
	for _, c := range []struct {
		end  error
		open bool
	}{
		{nil, false},
		{io.EOF, true},
		{refusal("LOADING"), true},
		{refusal("ERR wrong kind"), false},
		{redis.Nil, false},
		{context.Canceled, false},
		{rediskeys.ErrShort, false},
		{rediskeys.ErrReplicas, true},
	} {
		b := newTestRedis(time.Minute, nil)
		for range LeastCalls {
			_ = read(t.Context(), b, &replies{ends: []error{c.end}})
		}
		assert.Equal(t, c.open, b.State() == gobreaker.StateOpen, "%v", c.end)
		if c.open {
			r := &replies{}
			err := read(t.Context(), b, r)
			require.ErrorIs(t, err, rediskeys.ErrNotSent)
			require.ErrorIs(t, err, gobreaker.ErrOpenState)
			assert.Zero(t, r.calls)
		}
	}
}

// TestRedisPipelineRefused checks that each command of a refused pipeline has the
// reason as its error.
func TestRedisPipelineRefused(t *testing.T) {
	b := newTestRedis(time.Minute, nil)
	cmds := []redis.Cmder{redis.NewStringCmd(t.Context(), "get", "a"), redis.NewStringCmd(t.Context(), "get", "b")}
	send := b.ProcessPipelineHook(func(context.Context, []redis.Cmder) error { return io.EOF })
	for b.State() == gobreaker.StateClosed {
		require.ErrorIs(t, send(t.Context(), cmds), io.EOF)
	}
	require.ErrorIs(t, send(t.Context(), cmds), rediskeys.ErrNotSent)
	for _, cmd := range cmds {
		assert.ErrorIs(t, cmd.Err(), rediskeys.ErrNotSent)
	}
}

// held counts the calls that the masters hold.
type held struct{ dialled, connections, requests int }

func (h *held) Dialled(string)                 { h.dialled++ }
func (h *held) HoldConnection(context.Context) { h.connections++ }
func (h *held) HoldRequest(context.Context)    { h.requests++ }

// TestRedisMastersHoldFirstCall checks that the masters hold the first call of a request,
// and new connections for any call.
func TestRedisMastersHoldFirstCall(t *testing.T) {
	h := &held{}
	b := newTestRedis(time.Minute, h)
	ctx := Begin(t.Context())
	for range 3 {
		require.NoError(t, read(ctx, b, &replies{}))
	}
	require.NoError(t, read(t.Context(), b, &replies{}))
	assert.Equal(t, held{requests: 1}, *h)

	// The client's handshake on a new connection is a part of the call that needs the connection.
	greet := func(ctx context.Context, _ redis.Cmder) error {
		return b.ProcessHook((&replies{}).next)(ctx, redis.NewStatusCmd(ctx, greeting))
	}
	require.NoError(t, b.ProcessHook(greet)(t.Context(), redis.NewStringCmd(t.Context(), "get", "key")))
	assert.Equal(t, held{connections: 1, requests: 1}, *h)
	assert.EqualValues(t, 5, b.Counts().Requests, "the greeting is no call of its own")

	near, far := net.Pipe()
	t.Cleanup(func() { _, _ = near.Close(), far.Close() })
	for _, end := range []error{nil, io.EOF} {
		dial := b.DialHook(func(context.Context, string, string) (net.Conn, error) { return near, end })
		_, err := dial(t.Context(), "tcp", "redis:6379")
		require.ErrorIs(t, err, end)
	}
	assert.Equal(t, 1, h.dialled, "the one that failed goes nowhere")
}
