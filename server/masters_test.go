package server

import (
	"context"
	"maps"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/internal/testenv"
)

// TestARestartedRedisIsToldWhatWasDelivered checks that a Redis that restarts empty under a running
// server gets the latest deliveries again.
func TestARestartedRedisIsToldWhatWasDelivered(t *testing.T) {
	t.Parallel()
	cfg, r := redisAlone(t)
	a := open(t, cfg, WithClock(at(noon).Now))
	put(t, a, madeItems(100)...)
	shown := ask(t, a, refresh("u_1", 10))
	require.Len(t, shown.Docs, 10)
	recorded(t, a)
	r.Kill()
	r.Start()
	accounted(t, a, ids(shown))
}

// ownSentinels is a master, a replica and Sentinels for one test.
type ownSentinels struct {
	name  string
	addrs []string
}

func startSentinels(t *testing.T) ownSentinels {
	t.Helper()
	testenv.RedisSentinelAddrs(t) // skips the test if Sentinels are not wanted
	args := []string{"-p", strconv.Itoa(18000 + os.Getpid()%1000*5), "-d", t.TempDir()}
	script := func(action string) string {
		cmd := exec.CommandContext(context.WithoutCancel(t.Context()), "../scripts/redis-sentinel", append(args, action)...)
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

// master returns the current master, from the first Sentinel.
func (s ownSentinels) master(t *testing.T, c *redis.SentinelClient) string {
	addr, err := c.GetMasterAddrByName(t.Context(), s.name).Result()
	require.NoError(t, err)
	return net.JoinHostPort(addr[0], addr[1])
}

// settled waits until none of the items shown to the readers so far is pending: only the filters
// know them.
func (r *readers) settled(t *testing.T, a *App) {
	t.Helper()
	r.mu.Lock()
	shown := map[string][]string{}
	for agent, seen := range r.seen {
		shown[agent] = slices.Collect(maps.Keys(seen))
	}
	r.mu.Unlock()
	for agent, groups := range shown {
		testenv.WaitFor(t, func() bool {
			out, err := a.stores.dedup.Check(t.Context(), agent, groups, a.clock())
			return err == nil && !slices.Contains(out.Verdicts, dedup.Pending)
		}, "what %s was shown is not pending any more", agent)
	}
}

// TestSentinelFailover replaces a healthy master under the load of two servers. The old master
// accepts writes for a second after its successor stopped replicating.
func TestSentinelFailover(t *testing.T) {
	testenv.Full(t, "failover")
	t.Parallel()
	s := startSentinels(t)
	cfg := onRedis(t, testenv.Unique()+":", s.addrs...)
	cfg.Redis.URL += "&master_name=" + s.name
	cfg.Server.RequestTimeout = 5 * time.Second
	apps := pair(t, cfg, 4000)
	sentinel := redis.NewSentinelClient(&redis.Options{Addr: s.addrs[0]})
	t.Cleanup(func() { _ = sentinel.Close() })
	before := s.master(t, sentinel)

	r := startReaders(t, apps, "sentinel")
	r.more(t, 200)
	require.NoError(t, sentinel.Failover(t.Context(), s.name).Err())
	testenv.WaitFor(t, func() bool { return s.master(t, sentinel) != before }, "another master")
	r.more(t, 200)
	r.settled(t, apps[0]) // including impressions recorded in the last moments of the old master
	r.more(t, 200)
	// None is shown again, unless this machine pauses a server for a second at that moment, which
	// costs about 70. With servers that do not notice, about 500 would be.
	assert.Less(t, r.end(t, "Sentinel failover"), 200)
}
