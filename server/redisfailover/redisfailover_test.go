package redisfailover

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server/connect"
)

// watchOf returns a watch of masters with processes identified by ids.
func watchOf(ids func() []string) *Watch {
	w := newWatch(context.Background(), nil, nil, configs.Default(), slog.New(slog.DiscardHandler))
	w.ids = func(context.Context) []string { return ids() }
	return w
}

// TestRequestsWaitForReclaim checks that from the first connection to another server on,
// requests wait until recent deliveries have been claimed again, or until a check finds that no
// master has changed.
func TestRequestsWaitForReclaim(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name       string
		hold, wait time.Duration
		claims     int32 // made before the requests continue
	}{
		{"until all is claimed", time.Hour, reclaimTimes * checkEvery, reclaimTimes},
		{"no longer than they may", 3*checkEvery + time.Millisecond, 3*checkEvery + time.Millisecond, 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var process atomic.Value
				process.Store("one")
				w := watchOf(func() []string { return []string{process.Load().(string)} })
				var claims atomic.Int32
				w.hold = c.hold
				go w.Run(t.Context(), time.Now, func(context.Context, time.Time) error { claims.Add(1); return nil })
				synctest.Wait()

				begun := time.Now()
				w.Dialled("192.0.2.1:6379")
				w.HoldRequest(t.Context())
				assert.Zero(t, time.Since(begun), "it turns out to be the same process")
				assert.Zero(t, claims.Load())

				process.Store("another")
				w.Dialled("192.0.2.2:6379")
				w.HoldRequest(t.Context())
				assert.Equal(t, c.wait, time.Since(begun))
				assert.Equal(t, c.claims, claims.Load())
			})
		})
	}
}

// TestNewMasterDetected compares the answering processes with the previous ones.
func TestNewMasterDetected(t *testing.T) {
	w, now := watchOf(nil), time.Now()
	for i, look := range []struct {
		after time.Duration
		ids   []string
		want  bool
	}{
		{0, nil, false}, // none has answered yet
		{0, []string{"a", "b", "c"}, false},
		{time.Second, []string{"a", "c"}, false},
		{time.Second, []string{"a", "b", "c"}, false}, // it did not answer for a moment
		{time.Second, []string{"a", "b", "d"}, true},
		{time.Second, []string{"a", "b", "d"}, false},
		{forgetAfter - time.Second, []string{"a", "b", "c"}, false}, // a proxy forwards to one server or the other
		{forgetAfter, []string{"a", "b"}, false},
		{time.Second, []string{"a", "b", "d"}, true}, // it was no master for long
		{time.Hour, nil, false},                      // no answer does not make it forget the masters
		{time.Second, []string{"a", "b", "e"}, true},
	} {
		now = now.Add(look.after)
		assert.Equal(t, look.want, w.compare(look.ids, now), "look %d", i)
	}
}

// TestReclaimedDeliveries checks that deliveries of any time are claimed again until that has
// succeeded once, and then only those made meanwhile.
func TestReclaimedDeliveries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		w := watchOf(func() []string {
			if time.Since(began) < checkEvery {
				return []string{"one"}
			}
			return []string{"another"}
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		var since []time.Duration
		w.Run(ctx, time.Now, func(_ context.Context, from time.Time) error {
			if from.IsZero() {
				since = append(since, -1)
			} else {
				since = append(since, from.Sub(began)+w.hold)
			}
			if len(since) < 3 {
				return context.DeadlineExceeded
			}
			return nil
		})
		third := 4 * checkEvery // the second failure doubles the pause
		assert.Equal(t, []time.Duration{-1, -1, -1, third, third, third, third, third, third, third}, since)
	})
}

// TestReclaimDuringLongOutage has a new master that cannot be reached for a time: recent deliveries
// are claimed as soon as it answers, until reclaimFor has passed.
func TestReclaimDuringLongOutage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		outage    time.Duration
		succeeded int
	}{
		{"a minute", time.Minute, reclaimTimes},
		{"almost too long", reclaimFor - reclaimPause, reclaimTimes},
		{"too long", reclaimFor + 2*reclaimPause, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				w := watchOf(func() []string {
					if time.Since(began) < checkEvery {
						return []string{"one"}
					}
					return []string{"another"}
				})
				ctx, cancel := context.WithTimeout(t.Context(), 2*reclaimFor)
				defer cancel()
				succeeded, failed := 0, 0
				w.Run(ctx, time.Now, func(context.Context, time.Time) error {
					if time.Since(began) < c.outage {
						failed++
						return context.DeadlineExceeded
					}
					succeeded++
					return nil
				})
				assert.Equal(t, c.succeeded, succeeded)
				assert.LessOrEqual(t, failed, int(c.outage/reclaimPause)+reclaimTimes, "the pause grows")
			})
		})
	}
}

// TestConnectionsHeldHalfAsLong checks that connections are held for half the time, because
// calls in progress need them to deliver.
func TestConnectionsHeldHalfAsLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watchOf(nil)
		w.hold = time.Second
		w.HoldConnection(t.Context())
		w.HoldRequest(t.Context())
		began := time.Now()
		assert.False(t, w.compare([]string{"one"}, began))
		w.Dialled("192.0.2.1:6379")
		w.HoldConnection(t.Context())
		assert.Equal(t, 500*time.Millisecond, time.Since(began))
		brief, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		w.HoldRequest(brief)
		assert.Equal(t, 600*time.Millisecond, time.Since(began), "the caller does not wait any longer")
		w.HoldRequest(t.Context())
		assert.Equal(t, time.Second, time.Since(began))
		w.Dialled("192.0.2.1:6379")
		w.HoldRequest(t.Context())
		assert.Equal(t, time.Second, time.Since(began), "connections go there since the last change")
	})
}

// TestConnectionToEarlierAddress checks that connections to earlier addresses make requests wait
// again, except to the last one, which belongs to the new master.
func TestConnectionToEarlierAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := watchOf(nil)
		assert.False(t, w.compare([]string{"one"}, time.Now()))
		w.Dialled("192.0.2.1:6379")
		w.Dialled("192.0.2.2:6379")
		assert.True(t, w.compare([]string{"another"}, time.Now()))
		w.release()
		w.Dialled("192.0.2.2:6379")
		assert.Zero(t, w.waiting())
		w.Dialled("192.0.2.1:6379")
		assert.NotZero(t, w.waiting())
		w.release()
	})
}

// TestWaitEndsEarly checks that waiting calls continue before their time is over when no master
// has changed, or when the watch ends.
func TestWaitEndsEarly(t *testing.T) {
	for name, process := range map[string]string{"nothing has changed": "one", "the watch ends": "another"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := watchOf(func() []string { return []string{process} })
				w.hold = time.Hour
				assert.False(t, w.compare([]string{"one"}, time.Now()))
				w.Dialled("192.0.2.1:6379")
				var gone atomic.Int32
				for _, wait := range []func(context.Context){w.HoldConnection, w.HoldRequest} {
					go func() {
						wait(t.Context())
						gone.Add(1)
					}()
				}
				synctest.Wait()
				require.Zero(t, gone.Load())
				ended, cancel := context.WithCancel(t.Context())
				cancel()
				began := time.Now()
				w.Run(ended, time.Now, func(context.Context, time.Time) error { return nil })
				synctest.Wait()
				assert.EqualValues(t, 2, gone.Load())
				assert.Zero(t, time.Since(began))
			})
		})
	}
}

// TestHoldBounded checks that the hold is at most a fifth of the request
// timeout.
func TestHoldBounded(t *testing.T) {
	cfg := configs.Default()
	for timeout, want := range map[time.Duration]time.Duration{time.Minute: longestHold, time.Second: 200 * time.Millisecond} {
		cfg.Server.RequestTimeout = timeout
		assert.Equal(t, want, newWatch(t.Context(), nil, nil, cfg, slog.New(slog.DiscardHandler)).hold)
	}
}

// TestRestartKnownBeforeCall restarts Redis: before the first call on a new connection, the restart is known,
// and requests wait. Further connections to the same process change nothing.
func TestRestartKnownBeforeCall(t *testing.T) {
	r := testenv.StartRedis(t)
	cfg := configs.Default()
	cfg.Redis.URL = testenv.RedisAt([]string{r.Addr})
	var w *Watch
	client, err := connect.Redis(t.Context(), cfg, connect.OnConnect(func(ctx context.Context, conn *redis.Conn) {
		if w != nil {
			w.Connected(ctx, conn)
		}
	}))
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	w, err = Open(t.Context(), cfg, client, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, w.Close(t.Context())) })
	known := 0
	w.Notify(func() { known++ })

	require.NoError(t, client.Ping(t.Context()).Err(), "no master is known yet")
	require.False(t, w.compare(w.ids(t.Context()), time.Now()))
	redial(t.Context(), client)
	require.NoError(t, client.Ping(t.Context()).Err())
	require.Zero(t, known, "the same process")
	r.Kill()
	r.Start()
	testenv.WaitFor(t, func() bool { return client.Ping(t.Context()).Err() == nil }, "Redis to answer")
	assert.Equal(t, 1, known)
	assert.NotZero(t, w.waiting())
	w.release()
	require.True(t, w.compare(w.ids(t.Context()), time.Now()))
	w.release()
	redial(t.Context(), client)
	require.NoError(t, client.Ping(t.Context()).Err())
	assert.Equal(t, 2, known, "by the check")
	assert.Zero(t, w.waiting())
}

// TestClusterMasters checks that a cluster has three masters, from the address of one node.
func TestClusterMasters(t *testing.T) {
	cfg := configs.Default()
	cfg.Redis.URL = testenv.RedisAt(testenv.RedisClusterAddrs(t)[:1])
	w, err := Open(t.Context(), cfg, nil, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, w.Close(t.Context())) })
	ids := w.ids(t.Context())
	assert.Len(t, ids, 3)
	assert.False(t, w.compare(ids, time.Now()))
	assert.False(t, w.compare(w.ids(t.Context()), time.Now()))
}

// TestSentinelsNameOtherMaster checks that a master that Sentinels name instead of the previous
// one is noticed.
func TestSentinelsNameOtherMaster(t *testing.T) {
	master, addrs := testenv.RedisSentinelAddrs(t)
	cfg := configs.Default()
	cfg.Redis.URL = testenv.RedisAt(append([]string{"127.0.0.1:1"}, addrs...), "master_name="+master) // one is down
	clients, err := connect.Sentinels(cfg)
	require.NoError(t, err)
	s := &sentinels{name: master, clients: clients}
	t.Cleanup(func() { assert.NoError(t, s.close()) })
	assert.False(t, s.replaced(t.Context()), "the first that they name is followed")
	s.master = "192.0.2.1:6379"
	assert.True(t, s.replaced(t.Context()))
	assert.True(t, s.replaced(t.Context()), "until connections go there")
	s.followed()
	assert.False(t, s.replaced(t.Context()))

	var none *sentinels
	assert.False(t, none.replaced(t.Context()))
	none.followed()
	assert.NoError(t, none.close())
}
