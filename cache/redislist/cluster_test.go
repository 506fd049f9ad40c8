package redislist

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache/cachetest"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/redisbloom"
	"github.com/freshet/freshet/internal/testenv"
)

// env is the suite's store on a client, and on a second one of the same kind.
func env(t *testing.T, client, other redis.UniversalClient, prefix string, cfg Config) cachetest.Env {
	t.Helper()
	t.Cleanup(func() { _ = other.Close() })
	cfg.KeyPrefix, cfg.PendingTTL = prefix, 7*24*time.Hour
	claimer, err := redisbloom.New(client, dedup.DefaultConfig(), redisbloom.Config{KeyPrefix: prefix})
	require.NoError(t, err)
	return cachetest.Env{
		A: New(client, cfg), B: New(other, cfg), Claimer: claimer,
		Advance: func(d time.Duration) { advance(t, client, prefix, d) },
	}
}

func TestConformanceOnCluster(t *testing.T) {
	cachetest.Run(t, func(t *testing.T, ttl time.Duration) cachetest.Env {
		client, prefix := testenv.RedisCluster(t)
		return env(t, client, redis.NewClusterClient(client.Options()), prefix, Config{TTL: ttl})
	})
}

func TestConformanceThroughSentinel(t *testing.T) {
	cachetest.Run(t, func(t *testing.T, ttl time.Duration) cachetest.Env {
		client, prefix := testenv.RedisSentinel(t)
		other, _ := testenv.RedisSentinel(t)
		return env(t, client, other, prefix, Config{TTL: ttl})
	})
}
