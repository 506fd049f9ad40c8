package redis

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social/timeline/timelinetest"
)

type clock struct{ past atomic.Int64 }

func (c *clock) now() time.Time { return timelinetest.Start.Add(time.Duration(c.past.Load())) }

// env has the lists under test on a client, and on a second one of the same kind.
func env(t *testing.T, client, other redis.UniversalClient, cfg Config) timelinetest.Env {
	t.Helper()
	t.Cleanup(func() { _ = other.Close() })
	var c clock
	cfg.Clock = c.now
	return timelinetest.Env{
		A: NewTimelines(client, cfg), B: NewTimelines(other, cfg),
		Advance: func(d time.Duration) {
			c.past.Add(int64(d))
			advance(t, client, cfg.KeyPrefix, d)
		},
	}
}

// advance shortens the TTL of every key with the prefix, as if time had passed.
func advance(t *testing.T, client redis.UniversalClient, prefix string, d time.Duration) {
	t.Helper()
	err := testenv.EachMaster(t.Context(), client, func(ctx context.Context, c *redis.Client) error {
		keys := c.Scan(ctx, 0, prefix+"*", 1000).Iterator()
		for keys.Next(ctx) {
			ttl, err := c.PTTL(ctx, keys.Val()).Result()
			if err != nil {
				return err
			}
			assert.Greater(t, ttl, time.Duration(0), "%s has no TTL", keys.Val())
			if err := c.PExpire(ctx, keys.Val(), ttl-d).Err(); err != nil {
				return err
			}
		}
		return keys.Err()
	})
	require.NoError(t, err)
}

func oneServer(t *testing.T, most int) timelinetest.Env {
	client, prefix := testenv.Redis(t)
	return env(t, client, redis.NewClient(client.(*redis.Client).Options()), Config{KeyPrefix: prefix, Cap: most})
}

func cluster(replicas int) timelinetest.Open {
	return func(t *testing.T, most int) timelinetest.Env {
		client, prefix := testenv.RedisCluster(t)
		return env(t, client, redis.NewClusterClient(client.Options()), Config{
			KeyPrefix: prefix, Cap: most, Replicas: rediskeys.Replicas{N: replicas, Timeout: 5 * time.Second},
		})
	}
}

func TestConformance(t *testing.T) { timelinetest.Run(t, oneServer) }

func TestConformanceOnCluster(t *testing.T) { timelinetest.Run(t, cluster(0)) }

func TestConformanceWaitingForReplicas(t *testing.T) {
	testenv.Full(t, "failover")
	timelinetest.Run(t, cluster(1))
}

func TestConformanceThroughSentinel(t *testing.T) {
	testenv.Full(t, "failover")
	timelinetest.Run(t, func(t *testing.T, most int) timelinetest.Env {
		client, prefix := testenv.RedisSentinel(t)
		other, _ := testenv.RedisSentinel(t)
		return env(t, client, other, Config{KeyPrefix: prefix, Cap: most})
	})
}

func TestReference(t *testing.T) { timelinetest.Reference(t, oneServer, testenv.Schedules(100)) }

func TestReferenceOnCluster(t *testing.T) { timelinetest.Reference(t, cluster(0), 20) }

func TestModel(t *testing.T) { timelinetest.Model(t, oneServer, testenv.Schedules(100)) }

func TestModelOnCluster(t *testing.T) { timelinetest.Model(t, cluster(0), 20) }
