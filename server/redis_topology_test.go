package server

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/internal/testenv"
)

func onCluster(t *testing.T) configs.Config {
	_, prefix := testenv.RedisCluster(t)
	return onRedis(t, prefix, testenv.RedisClusterAddrs(t)...)
}

func throughSentinel(t *testing.T) configs.Config {
	_, prefix := testenv.RedisSentinel(t)
	master, addrs := testenv.RedisSentinelAddrs(t)
	cfg := onRedis(t, prefix, addrs...)
	cfg.Redis.URL += "&master_name=" + master
	return cfg
}

// TestRedisClusterAndSentinelConcurrentCalls makes concurrent calls of several agents to two
// servers, without and with replicas to wait for, and through Sentinels.
func TestRedisClusterAndSentinelConcurrentCalls(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		config func(t *testing.T) configs.Config
		wait   int
	}{
		{"cluster", onCluster, 0},
		{"cluster, waiting for a replica", onCluster, 1},
		{"sentinel", throughSentinel, 0},
		{"sentinel, waiting for a replica", throughSentinel, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := test.config(t)
			cfg.Redis.WaitReplicas = test.wait
			apps := twoServers(t, cfg, 600)
			var wg sync.WaitGroup
			for agent := range 6 { // their keys are on different masters
				seen, name := newOnce(), fmt.Sprintf("u_%d", agent)
				for i := range 16 {
					a, r := apps[i%2], refresh(name, 10)
					if i%3 != 0 {
						r = loadMore(name, 10)
					}
					wg.Go(func() {
						answer, err := a.Engine.Feed(t.Context(), r)
						if assert.NoError(t, err) {
							seen.add(t, fmt.Sprintf("%s, call %d", name, i), ids(answer))
							assert.NotEmpty(t, answer.Docs)
						}
					})
				}
			}
			wg.Wait()
			for _, a := range apps {
				waitRecorded(t, a)
			}
		})
	}
}

// TestRedisClusterFromOneAddress checks that a server with the address of one node uses all nodes.
func TestRedisClusterFromOneAddress(t *testing.T) {
	cfg := onCluster(t)
	cfg.Redis.URL = testenv.RedisAt(testenv.RedisClusterAddrs(t)[:1])
	apps := twoServers(t, cfg, 50)
	assert.True(t, keysOf(apps[0]).Cluster())
	assert.Len(t, ask(t, apps[0], refresh("u_1", 20)).Docs, 20)
}

// TestRedisSeparateForTimelines checks that lists and cards are stored only in that Redis, and that
// pages work without it.
func TestRedisSeparateForTimelines(t *testing.T) {
	t.Parallel()
	cfg := withPostgres(t)
	own := testenv.StartRedis(t)
	cfg.Timeline.RedisURL = "redis://" + own.Addr
	o := &restored{T: t, clock: at(noon), redis: own}
	o.a = open(t, cfg, WithClock(o.clock.Now))
	cfg.DataDir, cfg.Jobs.Workers = t.TempDir(), 0
	o.b = open(t, cfg, WithClock(o.clock.Now))
	o.store = o.a.network.fanout.Store()
	o.follow("ann", restoredReaders...)
	o.publish("ann", 3)
	o.allComplete("built")
	o.publish("ann", 2)
	o.allComplete("pushed")

	client := redis.NewClient(&redis.Options{Addr: own.Addr})
	t.Cleanup(func() { _ = client.Close() })
	keys := func(c redis.Cmdable, pattern string) []string {
		list, err := c.Keys(t.Context(), cfg.Redis.KeyPrefix+pattern).Result()
		require.NoError(t, err)
		return list
	}
	assert.Len(t, keys(client, "timeline:*"), len(restoredReaders))
	assert.NotEmpty(t, keys(client, "feed:post:*"))
	for _, pattern := range []string{"timeline:*", "celebrity_posts:*", "feed:post:*"} {
		assert.Empty(t, keys(o.a.clients.redis, pattern), pattern)
	}
	assert.Empty(t, keys(client, "feed:notes*"), "what must not be evicted is elsewhere")

	own.Kill()
	want, got := o.read(o.a, "r1"), []string(nil)
	assert.Len(t, want, 5, "the store answers")
	state := o.a.checks.Check(t.Context())
	require.Error(t, state["timeline_redis"].Err)
	assert.True(t, state["timeline_redis"].Optional)
	require.NoError(t, state["redis"].Err)
	testenv.WaitFor(t, func() bool {
		page, err := o.a.Engine.Feed(t.Context(), engine.Request{Agent: "r1", Action: engine.ActionRefresh, Limit: 5})
		require.NoError(t, err)
		return len(page.Degraded) == 0
	}, "a page that lacks nothing: the rest does not need it")
	o.publish("ann", 1)
	got = o.read(o.b, "r2")
	assert.Len(t, got, 6)

	own.Start()
	o.waitDataChecked()
	o.clock.Advance(10 * time.Minute) // failed jobs are due again
	o.allComplete("it came back")
}

// TestRedisEvictsWarned checks that a server says at the start that its Redis evicts keys.
func TestRedisEvictsWarned(t *testing.T) {
	t.Parallel()
	own := testenv.StartRedis(t)
	client := redis.NewClient(&redis.Options{Addr: own.Addr})
	t.Cleanup(func() { _ = client.Close() })
	for policy, warns := range map[string]bool{"allkeys-lru": true, "volatile-ttl": true, "noeviction": false} {
		require.NoError(t, client.ConfigSet(t.Context(), "maxmemory-policy", policy).Err())
		cfg := embedded(t)
		cfg.Redis.URL = "redis://" + own.Addr
		var log strings.Builder
		a, err := Open(t.Context(), cfg, WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
		require.NoError(t, err)
		require.NoError(t, a.Close(t.Context()))
		assert.Equal(t, warns, strings.Contains(log.String(), "maxmemory_policy="+policy), log.String())
	}
}
