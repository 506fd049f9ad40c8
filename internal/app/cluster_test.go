package app

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/internal/testenv"
)

// onRedis keeps impressions and sessions in Redis and all else in process.
func onRedis(t *testing.T, prefix string, addrs ...string) configs.Config {
	cfg := embedded(t)
	cfg.Dedup.Backend = configs.DedupRedisBloom
	cfg.Social.Backend = configs.SocialOff
	cfg.Dedup.Shards = 16
	cfg.Dedup.OnFailure = configs.FailClosed
	cfg.Sessions.Backend = configs.SessionsRedisList
	cfg.Redis.Addrs = addrs
	cfg.Redis.KeyPrefix = prefix
	return cfg
}

func onCluster(t *testing.T) configs.Config {
	_, prefix := testenv.RedisCluster(t)
	return onRedis(t, prefix, testenv.RedisClusterAddrs(t)...)
}

func throughSentinel(t *testing.T) configs.Config {
	_, prefix := testenv.RedisSentinel(t)
	master, addrs := testenv.RedisSentinelAddrs(t)
	cfg := onRedis(t, prefix, addrs...)
	cfg.Redis.MasterName = master
	return cfg
}

// pair opens two servers that share Redis; each has the same catalog of n items.
func pair(t *testing.T, cfg configs.Config, n int) []*App {
	t.Helper()
	apps := make([]*App, 2)
	for i := range apps {
		cfg.DataDir = t.TempDir()
		apps[i] = open(t, cfg, WithClock(at(noon).Now))
		put(t, apps[i], madeItems(n)...)
	}
	return apps
}

// TestTwoServersOnACluster has concurrent calls of several agents over two
// servers, with nothing and with replicas to wait for, and through Sentinels.
func TestTwoServersOnACluster(t *testing.T) {
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
			apps := pair(t, cfg, 600)
			var wg sync.WaitGroup
			for agent := range 6 { // their keys lie on different masters
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
				recorded(t, a)
			}
		})
	}
}

// TestWhatOneAddressIs gives a single address, of whatever it may be.
func TestWhatOneAddressIs(t *testing.T) {
	connect := func(cfg configs.Config) (redis.UniversalClient, error) {
		client, err := ConnectRedis(t.Context(), cfg)
		if err == nil {
			t.Cleanup(func() { _ = client.Close() })
		}
		return client, err
	}
	t.Run("a node of a cluster", func(t *testing.T) {
		cfg := onCluster(t)
		cfg.Redis.Addrs = cfg.Redis.Addrs[:1]
		client, err := connect(cfg)
		require.NoError(t, err)
		assert.True(t, rediskeys.For(client, "").Cluster())
		apps := pair(t, cfg, 50)
		assert.Len(t, ask(t, apps[0], refresh("u_1", 20)).Docs, 20)
		cfg.Redis.DB = 1
		_, err = connect(cfg)
		require.ErrorContains(t, err, "redis.db")
	})
	t.Run("a Sentinel", func(t *testing.T) {
		cfg := throughSentinel(t)
		cfg.Redis.Addrs, cfg.Redis.MasterName = cfg.Redis.Addrs[:1], ""
		_, err := connect(cfg)
		require.ErrorContains(t, err, "redis.master_name")
	})
	t.Run("a single server", func(t *testing.T) {
		client, err := connect(onRedis(t, "", oneRedis(t)...))
		require.NoError(t, err)
		assert.False(t, rediskeys.For(client, "").Cluster())
	})
	t.Run("nothing", func(t *testing.T) {
		client, err := connect(onRedis(t, "", "127.0.0.1:1"))
		require.NoError(t, err)
		assert.False(t, rediskeys.For(client, "").Cluster())
	})
}

// TestDoctorOnACluster: every master is looked at, and needs its share of the memory.
func TestDoctorOnACluster(t *testing.T) {
	t.Parallel()
	about := func(cfg configs.Config) (said string) {
		for _, f := range Doctor(t.Context(), cfg, false) {
			storage := strings.HasSuffix(f.What, " persistence") || strings.HasSuffix(f.What, " memory")
			if strings.HasPrefix(f.What, "redis") && f.Level != OK && !storage { // the tests' servers keep nothing
				said += fmt.Sprintln(f.Level, f.What, f.Detail, f.Fix)
			}
		}
		return said
	}
	cfg := onCluster(t)
	masters := map[string]bool{}
	for _, f := range Doctor(t.Context(), cfg, false) {
		if name, ok := strings.CutSuffix(f.What, " memory"); ok {
			masters[name] = true
			assert.Contains(t, f.Detail, "4.5 MiB", "a third of 13.4 MiB")
		}
	}
	assert.Len(t, masters, 3)
	assert.Empty(t, about(cfg))
	cfg.Redis.WaitReplicas = 1
	assert.Empty(t, about(cfg))
	cfg.Redis.WaitReplicas = 2
	assert.Contains(t, about(cfg), "it has 1 replicas and redis.wait_replicas is 2")
	cfg = onCluster(t)
	cfg.Dedup.Shards = 1
	assert.Contains(t, about(cfg), "a day's filters are 1, the masters 3")

	cfg = throughSentinel(t)
	cfg.Dedup.Shards = 1
	assert.Empty(t, about(cfg))
	cfg.Redis.WaitReplicas = 2
	assert.Contains(t, about(cfg), "it has 1 replicas")
}
