package breaker

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var errLost = errors.New("no connection")

func newTestDatabase() Database { return pinged(hang) }

// pinged returns a database that answers pings with ping.
func pinged(ping func(context.Context) error) Database {
	unreachable := func(err error) bool { return errors.Is(err, errLost) || errors.Is(err, context.DeadlineExceeded) }
	return NewDatabase("database", 6*time.Second, ping, unreachable, slog.New(slog.DiscardHandler))
}

func hang(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestDatabaseHangs checks that a hanging database costs a request a third of its time, once,
// and other work half a minute.
func TestDatabaseHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, request, began := newTestDatabase(), Begin(t.Context()), time.Now()
		require.ErrorIs(t, b.Guard(request, "read", hang), context.DeadlineExceeded)
		assert.Equal(t, 2*time.Second, time.Since(began))
		require.ErrorContains(t, b.Guard(request, "read", hang), "it did not answer an earlier call of this request")
		assert.Equal(t, 2*time.Second, time.Since(began))

		began = time.Now()
		require.ErrorIs(t, b.Guard(t.Context(), "write", hang), context.DeadlineExceeded)
		assert.Equal(t, databaseLongest, time.Since(began))
		time.Sleep(pingTimeout)
		synctest.Wait()
	})
}

// TestDatabaseSlowCall checks that slow calls time out without affecting others, unless
// the database does not answer a ping, either: then it is down.
func TestDatabaseSlowCall(t *testing.T) {
	for _, tt := range []struct {
		name string
		ping error
		open bool
	}{
		{"it answers", nil, false},
		{"it refuses the ping", errors.New("too many connections"), false},
		{"it is unavailable", errLost, true},
		{"it hangs", context.DeadlineExceeded, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var pings atomic.Int32
				b := pinged(func(ctx context.Context) error {
					pings.Add(1)
					if errors.Is(tt.ping, context.DeadlineExceeded) {
						return hang(ctx)
					}
					time.Sleep(time.Millisecond)
					return tt.ping
				})
				began := time.Now()
				for range 4 * LeastCalls {
					go func() { assert.ErrorIs(t, b.Guard(Begin(t.Context()), "read", hang), context.DeadlineExceeded) }()
				}
				time.Sleep(2*time.Second + pingTimeout)
				synctest.Wait()
				assert.EqualValues(t, 1, pings.Load(), "calls that are late together ask once")
				assert.Equal(t, tt.open, b.State() == gobreaker.StateOpen, "after %s", time.Since(began))
			})
		})
	}
}

// TestDatabaseCalledAfterRedisGivenUp checks that a request that gave up Redis still queries the
// database.
func TestDatabaseCalledAfterRedisGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		request := Begin(t.Context())
		require.Error(t, read(request, newTestRedis(0, nil), &replies{ends: []error{errLost}}))
		require.NoError(t, newTestDatabase().Guard(request, "read", func(context.Context) error { return nil }))
	})
}

// TestDatabaseBreakerFailures checks which results of calls open the breaker.
func TestDatabaseBreakerFailures(t *testing.T) {
	for end, open := range map[error]bool{nil: false, errLost: true, errors.New("no such row"): false} {
		b := newTestDatabase()
		for range LeastCalls {
			require.ErrorIs(t, b.Guard(t.Context(), "read", func(context.Context) error { return end }), end)
		}
		assert.Equal(t, open, b.State() == gobreaker.StateOpen, "%v", end)
		if open {
			require.ErrorIs(t, b.Guard(t.Context(), "read", hang), gobreaker.ErrOpenState)
		}
	}
}

func TestDatabaseRequestMarkedOnce(t *testing.T) {
	assert.False(t, InRequest(t.Context()))
	assert.True(t, InRequest(Begin(t.Context())))
}
