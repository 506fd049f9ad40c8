package connect

import (
	"log/slog"
	"net/url"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server/breaker"
)

func at(addrs ...string) configs.Config {
	cfg := configs.Default()
	cfg.Redis.URL = testenv.RedisAt(addrs)
	return cfg
}

func connected(t *testing.T, cfg configs.Config) (redis.UniversalClient, error) {
	t.Helper()
	client, err := Redis(t.Context(), cfg)
	if err == nil {
		t.Cleanup(func() { _ = client.Close() })
	}
	return client, err
}

// oneServer returns the address of a Redis that is not a cluster.
func oneServer(t *testing.T) string {
	t.Helper()
	u, err := url.Parse(testenv.RedisURL(t))
	require.NoError(t, err)
	return u.Host
}

// TestRedisKindOfAddress configures the single address of each kind of Redis.
func TestRedisKindOfAddress(t *testing.T) {
	t.Run("a node of a cluster", func(t *testing.T) {
		cfg := at(testenv.RedisClusterAddrs(t)[0])
		client, err := connected(t, cfg)
		require.NoError(t, err)
		assert.True(t, rediskeys.For(client, "").Cluster())
		cfg.Redis.URL = "redis://" + testenv.RedisClusterAddrs(t)[0] + "/1"
		_, err = connected(t, cfg)
		require.ErrorContains(t, err, "the database must be 0")
	})
	t.Run("a Sentinel", func(t *testing.T) {
		_, addrs := testenv.RedisSentinelAddrs(t)
		_, err := connected(t, at(addrs[0]))
		require.ErrorContains(t, err, "?master_name=")
	})
	t.Run("a single server", func(t *testing.T) {
		client, err := connected(t, at(oneServer(t)))
		require.NoError(t, err)
		assert.False(t, rediskeys.For(client, "").Cluster())
	})
	t.Run("nothing", func(t *testing.T) {
		client, err := connected(t, at("127.0.0.1:1"))
		require.NoError(t, err)
		assert.False(t, rediskeys.For(client, "").Cluster())
	})
}

// TestRedisPatience checks that the patience is a third of the request timeout, plus the time to
// wait for replicas.
func TestRedisPatience(t *testing.T) {
	cfg := configs.Default()
	cfg.Server.RequestTimeout = 6 * time.Second
	assert.Equal(t, 2*time.Second, RedisPatience(cfg))
	cfg.Redis.WaitReplicas = 1
	assert.Equal(t, 2*time.Second+cfg.WaitTimeout(), RedisPatience(cfg))
	o, err := redisOptions(cfg)
	require.NoError(t, err)
	assert.Equal(t, 600*time.Millisecond+cfg.WaitTimeout(), o.ReadTimeout)
	replicas := Replicas(cfg, breaker.NewRedis("redis", time.Second, nil, slog.New(slog.DiscardHandler)))
	assert.Equal(t, 1, replicas.N)
	assert.NotNil(t, replicas.Guard)
}
