package app

import (
	"context"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/internal/testenv"
)

// TestARestartedRedisIsToldWhatWasDelivered: a Redis that comes back empty
// while the server runs on knows what was delivered just before.
func TestARestartedRedisIsToldWhatWasDelivered(t *testing.T) {
	t.Parallel()
	cfg, r := ownRedis(t)
	a := open(t, cfg, WithClock(at(noon).Now))
	put(t, a, madeItems(100)...)
	shown := ask(t, a, refresh("u_1", 10))
	require.Len(t, shown.Docs, 10)
	recorded(t, a)
	r.Kill()
	r.Start()
	require.Eventually(t, func() bool {
		out, err := a.stores.dedup.Check(t.Context(), "u_1", ids(shown), noon)
		if err != nil {
			return false
		}
		for _, v := range out.Verdicts {
			if _, inFilter := v.DaysAgo(); !inFilter && v != dedup.Pending {
				return false
			}
		}
		return true
	}, 30*time.Second, 20*time.Millisecond)
}

// TestRequestsWaitForTheLastDeliveries: from the first connection to another
// server on, requests wait until what is to be claimed has been, or until the
// look finds that nothing has changed.
func TestRequestsWaitForTheLastDeliveries(t *testing.T) {
	t.Parallel()
	r := testenv.StartRedis(t)
	client := redis.NewClient(&redis.Options{Addr: r.Addr})
	t.Cleanup(func() { _ = client.Close() })
	m := newMasters(client, configs.Default(), slog.New(slog.DiscardHandler))
	m.hold = time.Hour
	var reclaimed atomic.Int32
	m.clock = time.Now
	m.reclaim = func(context.Context, time.Time) error { reclaimed.Add(1); return nil }
	a := &App{}
	a.background(t.Context(), m.watch)
	t.Cleanup(func() { _ = a.Close(context.Background()) })
	known := func() bool { m.mu.Lock(); defer m.mu.Unlock(); return len(m.seen) == 1 }
	require.Eventually(t, known, time.Minute, time.Millisecond)

	m.dialled("192.0.2.1:6379") // it turns out to be the same process
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	m.waiting().begin(ctx)
	require.NoError(t, ctx.Err(), "nothing has changed, and requests wait on")
	assert.Zero(t, reclaimed.Load())

	r.Kill()
	r.Start()
	require.Eventually(t, func() bool { return reclaimed.Load() > 0 }, time.Minute, time.Millisecond)
	m.waiting().begin(ctx)
	require.NoError(t, ctx.Err())
	assert.EqualValues(t, reclaimTimes, reclaimed.Load(), "requests went on before all was claimed")
}

// ownSentinels are a master, a replica and Sentinels of one test's own.
type ownSentinels struct {
	name  string
	addrs []string
}

func startSentinels(t *testing.T) ownSentinels {
	t.Helper()
	testenv.RedisSentinelAddrs(t) // skips where Sentinels are not wanted
	args := []string{"-p", strconv.Itoa(18000 + os.Getpid()%1000*5), "-d", t.TempDir()}
	script := func(action string) string {
		cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "../../scripts/redis-sentinel", append(args, action)...)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	t.Cleanup(func() { script("down") })
	_, list, ok := strings.Cut(strings.TrimSpace(script("up")), "FRESHET_TEST_REDIS_SENTINEL=")
	require.True(t, ok)
	name, addrs, _ := strings.Cut(list, "@")
	return ownSentinels{name, strings.Split(addrs, ",")}
}

// master asks the first Sentinel.
func (s ownSentinels) master(t *testing.T, c *redis.SentinelClient) string {
	addr, err := c.GetMasterAddrByName(t.Context(), s.name).Result()
	require.NoError(t, err)
	return net.JoinHostPort(addr[0], addr[1])
}

// TestSentinelFailover replaces a master that is well under the load of two
// servers. It takes writes for a second after its successor stopped following.
func TestSentinelFailover(t *testing.T) {
	t.Parallel()
	s := startSentinels(t)
	cfg := onRedis(t, testenv.Unique()+":", s.addrs...)
	cfg.Redis.MasterName = s.name
	cfg.Server.RequestTimeout, cfg.Dedup.PendingGrace = 5*time.Second, 7*time.Second
	apps := pair(t, cfg, 4000)
	sentinel := redis.NewSentinelClient(&redis.Options{Addr: s.addrs[0]})
	t.Cleanup(func() { _ = sentinel.Close() })
	before := s.master(t, sentinel)

	r := startReaders(t, apps, "sentinel")
	r.more(t, 200)
	require.NoError(t, sentinel.Failover(t.Context(), s.name).Err())
	require.Eventually(t, func() bool { return s.master(t, sentinel) != before }, 30*time.Second, 5*time.Millisecond)
	r.more(t, 200)
	// Longer than the grace: by then the filters stand alone for what was
	// recorded in the last moments of the master of before.
	time.Sleep(cfg.Dedup.PendingGrace + time.Second)
	r.more(t, 200)
	// None, unless this machine stops a server for a second at that moment, which
	// costs some 70. Of servers that do not notice, some 500 are shown again.
	assert.Less(t, r.end(t, "Sentinel failover"), 200)
}
