package redisbloom

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/deduptest"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/internal/testenv"
)

// On a cluster the suite runs with a day spread over 16 filters, except where a test sets its own
// number.
func TestConformanceOnCluster(t *testing.T) {
	t.Parallel()
	deduptest.Run(t, func(t *testing.T, cfg dedup.Config) deduptest.Store {
		client, prefix := testenv.RedisCluster(t)
		if cfg.Shards == 1 {
			cfg.Shards = 16
		}
		return claiming{openAt(t, client, prefix, cfg)}
	})
}

// one is the number of replicas that each master of the test's cluster has.
var one = rediskeys.Replicas{N: 1, Timeout: 5 * time.Second}

func TestConformanceWaitingForReplicas(t *testing.T) {
	testenv.Full(t, "failover")
	t.Parallel()
	deduptest.Run(t, func(t *testing.T, cfg dedup.Config) deduptest.Store {
		client, prefix := testenv.RedisCluster(t)
		s, err := New(client, cfg, Config{KeyPrefix: prefix, Replicas: one})
		require.NoError(t, err)
		return claiming{s}
	})
}

// TestTooFewReplicas requires more replicas than exist.
func TestTooFewReplicas(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.RedisCluster(t)
	s, err := New(client, deduptest.DefaultConfig(), Config{
		KeyPrefix: prefix, Replicas: rediskeys.Replicas{N: 2, Timeout: 10 * time.Millisecond},
	})
	require.NoError(t, err)
	batch := given("u_1", "a", "b")
	unconfirmed, err := s.Record(t.Context(), batch, noon)
	require.ErrorIs(t, err, dedup.ErrUnavailable)
	require.ErrorIs(t, err, rediskeys.ErrReplicas)
	assert.Equal(t, batch, unconfirmed, "they stay pending")
}

// A key of another type in a filter's place refuses writes just as it does without replicas.
func TestRefusedWriteWaitingForReplicas(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.RedisCluster(t)
	s, err := New(client, deduptest.DefaultConfig(), Config{KeyPrefix: prefix, Replicas: one})
	require.NoError(t, err)
	key := s.keys.Filter(feed.DayOf(noon), 0, 1)
	require.NoError(t, client.Set(t.Context(), key, "no filter", 0).Err())
	batch := given("u_1", "a", "b")
	unconfirmed, err := s.Record(t.Context(), batch, noon)
	require.ErrorContains(t, err, "WRONGTYPE")
	assert.NotErrorIs(t, err, dedup.ErrUnavailable)
	assert.Equal(t, batch, unconfirmed)
	require.NoError(t, client.Del(t.Context(), key).Err())
	record(t, s, noon, batch)
}

func TestConformanceThroughSentinel(t *testing.T) {
	testenv.Full(t, "failover")
	deduptest.Run(t, func(t *testing.T, cfg dedup.Config) deduptest.Store {
		client, prefix := testenv.RedisSentinel(t)
		return claiming{openAt(t, client, prefix, cfg)}
	})
}

// TestShardsOnAllMasters checks that shards spread the filters over the masters of a cluster.
func TestShardsOnAllMasters(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.RedisCluster(t)
	cfg := deduptest.DefaultConfig()
	cfg.Shards, cfg.DailyCapacity = 16, 20_000
	s := openAt(t, client, prefix, cfg)
	holders := map[string]int{}
	for shard := range cfg.Shards {
		node, err := client.MasterForKey(t.Context(), s.keys.Filter(feed.DayOf(noon), shard, cfg.Shards))
		require.NoError(t, err)
		holders[node.Options().Addr]++
	}
	assert.Len(t, holders, 3, "%v", holders)
}
