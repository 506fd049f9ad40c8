package breaker_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server/breaker"
	"github.com/freshet/freshet/server/connect"
)

func onCluster(t *testing.T) configs.Config {
	cfg := configs.Default()
	_, cfg.Redis.KeyPrefix = testenv.RedisCluster(t)
	cfg.Redis.URL = testenv.RedisAt(testenv.RedisClusterAddrs(t))
	return cfg
}

func throughSentinel(t *testing.T) configs.Config {
	cfg := configs.Default()
	_, cfg.Redis.KeyPrefix = testenv.RedisSentinel(t)
	master, addrs := testenv.RedisSentinelAddrs(t)
	cfg.Redis.URL = testenv.RedisAt(addrs, "master_name="+master)
	return cfg
}

// guarded returns a client behind its breaker, and writes that wait for a replica; on a cluster
// these go to the nodes directly.
func guarded(t *testing.T, cfg configs.Config) (redis.UniversalClient, rediskeys.Replicas, breaker.Redis) {
	cfg.Redis.WaitReplicas = 1
	client, err := connect.Redis(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	b := breaker.NewRedis("redis", time.Minute, nil, slog.New(slog.DiscardHandler))
	client.AddHook(b)
	return client, connect.Replicas(cfg, b), b
}

// TestReplicaWaitsCountInBreaker makes only writes that wait for a replica: each counts once, and
// their failures open the breaker.
func TestReplicaWaitsCountInBreaker(t *testing.T) {
	for name, config := range map[string]func(*testing.T) configs.Config{"cluster": onCluster, "sentinel": throughSentinel} {
		t.Run(name, func(t *testing.T) {
			cfg := config(t)
			client, waiting, b := guarded(t, cfg)
			key := cfg.Redis.KeyPrefix + "{u_1}"
			write := func(ctx context.Context) error {
				return waiting.Exec(ctx, client, key, redis.NewStatusCmd(ctx, "set", key, "x", "ex", 60))
			}
			require.NoError(t, write(t.Context()))
			assert.EqualValues(t, 1, b.Counts().Requests, "one call, though it passes several hooks")
			require.NoError(t, client.Get(t.Context(), key).Err())
			assert.EqualValues(t, 2, b.Counts().Requests)

			late, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
			defer cancel()
			testenv.WaitFor(t, func() bool {
				_ = write(late)
				return b.State() == gobreaker.StateOpen
			}, "somebody to notice that writes that wait fail")
			require.ErrorIs(t, write(t.Context()), gobreaker.ErrOpenState)
			require.ErrorIs(t, client.Get(t.Context(), key).Err(), gobreaker.ErrOpenState)
		})
	}
}

// TestTooFewReplicasKeepBreakerClosed checks that waiting for more replicas than exist does not
// open the breaker.
func TestTooFewReplicasKeepBreakerClosed(t *testing.T) {
	t.Parallel()
	cfg := onCluster(t)
	client, waiting, b := guarded(t, cfg)
	waiting.N, waiting.Timeout = 5, time.Millisecond
	key := cfg.Redis.KeyPrefix + "{u_1}"
	ctx := breaker.Begin(t.Context())
	for range 3 * breaker.LeastCalls {
		require.ErrorIs(t, waiting.Exec(ctx, client, key, redis.NewStatusCmd(ctx, "set", key, "x", "ex", 60)), rediskeys.ErrReplicas)
	}
	assert.Equal(t, gobreaker.StateClosed, b.State())
	require.NoError(t, client.Get(ctx, key).Err(), "the master answers, and the page can be given back")
}
