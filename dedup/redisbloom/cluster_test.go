package redisbloom

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/deduptest"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

// On a cluster the suite runs with a day spread over 16 filters, except where
// a test wants a number of its own.
func TestConformanceOnCluster(t *testing.T) {
	deduptest.Run(t, func(t *testing.T, cfg dedup.Config) dedup.Store {
		client, prefix := testenv.RedisCluster(t)
		if cfg.Shards == 1 {
			cfg.Shards = 16
		}
		return openAt(t, client, prefix, cfg)
	})
}

func TestConformanceThroughSentinel(t *testing.T) {
	deduptest.Run(t, func(t *testing.T, cfg dedup.Config) dedup.Store {
		client, prefix := testenv.RedisSentinel(t)
		return openAt(t, client, prefix, cfg)
	})
}

// TestShardsLieOnAllMasters is what shards are for on a cluster.
func TestShardsLieOnAllMasters(t *testing.T) {
	client, prefix := testenv.RedisCluster(t)
	cfg := dedup.DefaultConfig()
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
