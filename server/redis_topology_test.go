package server

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/testenv"
)

// onRedis has impressions and sessions in Redis and everything else in process.
func onRedis(t *testing.T, prefix string, addrs ...string) configs.Config {
	cfg := embedded(t)
	cfg.Server.RequestTimeout = 20 * time.Second // as in servicesAt
	cfg.Dedup.Shards = 16
	cfg.Dedup.OnFailure = configs.FailClosed
	cfg.Redis.URL = testenv.RedisAt(addrs)
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
	cfg.Redis.URL += "&master_name=" + master
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

// TestTwoServersOnACluster makes concurrent calls of several agents to two servers, without and
// with replicas to wait for, and through Sentinels.
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
				recorded(t, a)
			}
		})
	}
}

// TestOneAddressOfACluster checks that a server with the address of one node uses all nodes.
func TestOneAddressOfACluster(t *testing.T) {
	cfg := onCluster(t)
	cfg.Redis.URL = testenv.RedisAt(testenv.RedisClusterAddrs(t)[:1])
	apps := pair(t, cfg, 50)
	assert.True(t, keysOf(apps[0]).Cluster())
	assert.Len(t, ask(t, apps[0], refresh("u_1", 20)).Docs, 20)
}

// TestOpenRefuses checks that a server that fails closed does not start without Redis.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	_, err := Open(t.Context(), onRedis(t, "", "127.0.0.1:1"))
	require.ErrorContains(t, err, "redis")
}
