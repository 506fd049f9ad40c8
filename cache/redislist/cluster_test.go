package redislist

import (
	"context"
	"errors"
	"net"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/cache/cachetest"
	"github.com/freshet/freshet/dedup/deduptest"
	"github.com/freshet/freshet/dedup/redisbloom"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/internal/testenv"
)

// seen is a dedup store that writes to the pending set directly, without the sessions.
type seen struct {
	*redisbloom.Store
	client redis.UniversalClient
	keys   rediskeys.Keys
}

func (s seen) Claim(ctx context.Context, agent string, groups []string, now time.Time) error {
	members := make([]redis.Z, len(groups))
	for i, g := range groups {
		members[i] = redis.Z{Score: float64(now.UnixMilli()), Member: g}
	}
	key := s.keys.Pending(agent)
	return errors.Join(s.client.ZAdd(ctx, key, members...).Err(), s.client.Expire(ctx, key, time.Hour).Err())
}

// env returns the suite's environment: a store on a client and another on a second client of the
// same kind.
func env(t *testing.T, client, other redis.UniversalClient, prefix string, cfg Config) cachetest.Env {
	t.Helper()
	t.Cleanup(func() { _ = other.Close() })
	cfg.KeyPrefix, cfg.PendingTTL = prefix, 7*24*time.Hour
	filters, err := redisbloom.New(client, deduptest.DefaultConfig(), redisbloom.Config{KeyPrefix: prefix})
	require.NoError(t, err)
	return cachetest.Env{
		A: New(client, cfg), B: New(other, cfg), Seen: seen{filters, client, rediskeys.For(client, prefix)}, RunsAgain: true,
		Advance: func(d time.Duration) { advance(t, client, prefix, d) },
	}
}

func TestConformanceOnCluster(t *testing.T) {
	t.Parallel()
	cachetest.Run(t, func(t *testing.T, ttl time.Duration) cachetest.Env {
		client, prefix := testenv.RedisCluster(t)
		return env(t, client, redis.NewClusterClient(client.Options()), prefix, Config{TTL: ttl})
	})
}

func TestConformanceWaitingForReplicas(t *testing.T) {
	testenv.Full(t, "failover")
	t.Parallel()
	cachetest.Run(t, func(t *testing.T, ttl time.Duration) cachetest.Env {
		client, prefix := testenv.RedisCluster(t)
		cfg := Config{TTL: ttl, Replicas: rediskeys.Replicas{N: 1, Timeout: 5 * time.Second}}
		return env(t, client, redis.NewClusterClient(client.Options()), prefix, cfg)
	})
}

// TestTooFewReplicas requires more replicas than exist: no page is handed out, and none is lost.
func TestTooFewReplicas(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.RedisCluster(t)
	few := New(client, Config{KeyPrefix: prefix, Replicas: rediskeys.Replicas{N: 2, Timeout: 10 * time.Millisecond}})
	enough := New(client, Config{KeyPrefix: prefix, Replicas: rediskeys.Replicas{N: 1, Timeout: 5 * time.Second}})
	ctx := t.Context()
	replace := cache.Replace{Agent: "u_1", Ranked: refs("a", "b", "c", "d"), Limit: 1, Now: noon}
	_, err := few.Replace(ctx, replace)
	require.ErrorIs(t, err, cache.ErrUnavailable)
	require.ErrorIs(t, err, rediskeys.ErrReplicas)
	_, err = few.Pop(ctx, cache.Pop{Agent: "u_1", Limit: 2, Now: noon})
	require.ErrorIs(t, err, cache.ErrUnavailable)
	page, err := enough.Pop(ctx, cache.Pop{Agent: "u_1", Limit: 2, Now: noon})
	require.NoError(t, err)
	assert.Equal(t, refs("a", "b"), page.Refs, "what was not handed out is back in its place")

	call := cache.Call{RequestID: "r1", Action: "load_more", Limit: 1}
	pop := cache.Pop{Agent: "u_1", Limit: 1, Now: noon, Call: call}
	for range 2 { // the second answer comes from the record
		_, err = few.Pop(ctx, pop)
		require.ErrorIs(t, err, cache.ErrUnavailable)
	}
	_, _, err = few.Replay(ctx, "u_1", call)
	require.ErrorIs(t, err, cache.ErrUnavailable, "the record is not handed out either")
	page, err = enough.Pop(ctx, cache.Pop{Agent: "u_1", Limit: 5, Now: noon})
	require.NoError(t, err)
	assert.Equal(t, refs("d"), page.Refs, "under a request id the page stays taken")
	pop.Call.Owner = "the retry"
	page, err = enough.Pop(ctx, pop)
	require.NoError(t, err)
	assert.Equal(t, refs("c"), page.Refs, "and the retry gets it")
	assert.True(t, page.Replayed)
	ttl := client.PTTL(ctx, few.keys.Page("u_1", feed.ForYou, "r1")).Val()
	assert.LessOrEqual(t, ttl, cache.RetryTTL, "reading the record does not prolong it")
	assert.Positive(t, ttl)
}

// TestClusterMovedKey gives the client a stale slot map.
func TestClusterMovedKey(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.RedisCluster(t)
	opts := *client.Options()
	var stale atomic.Bool
	stale.Store(true)
	opts.ClusterSlots = func(ctx context.Context) ([]redis.ClusterSlot, error) {
		shards, err := client.ClusterShards(ctx).Result()
		if err != nil {
			return nil, err
		}
		shift := 0
		if stale.Swap(false) {
			shift = 1 // on the first load, swap the masters
		}
		var slots []redis.ClusterSlot
		for i, shard := range shards {
			for _, node := range shards[(i+shift)%len(shards)].Nodes {
				for _, r := range shard.Slots {
					if node.Role == "master" {
						addr := net.JoinHostPort(node.IP, strconv.FormatInt(node.Port, 10))
						slots = append(slots, redis.ClusterSlot{Start: int(r.Start), End: int(r.End), Nodes: []redis.ClusterNode{{Addr: addr}}})
					}
				}
			}
		}
		return slots, nil
	}
	moved := redis.NewClusterClient(&opts)
	t.Cleanup(func() { _ = moved.Close() })
	s := New(moved, Config{KeyPrefix: prefix, Replicas: rediskeys.Replicas{N: 1, Timeout: 5 * time.Second}})
	page, err := s.Replace(t.Context(), cache.Replace{Agent: "u_1", Ranked: refs("a", "b"), Limit: 1, Now: noon})
	require.NoError(t, err)
	assert.Equal(t, refs("a"), page.Refs)
	assert.False(t, stale.Load())
}

func TestConformanceThroughSentinel(t *testing.T) {
	testenv.Full(t, "failover")
	cachetest.Run(t, func(t *testing.T, ttl time.Duration) cachetest.Env {
		client, prefix := testenv.RedisSentinel(t)
		other, _ := testenv.RedisSentinel(t)
		return env(t, client, other, prefix, Config{TTL: ttl})
	})
}
