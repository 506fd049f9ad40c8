package redis_test

import (
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/recall/trending"
	trendingredis "github.com/freshet/freshet/recall/trending/redis"
	"github.com/freshet/freshet/recall/trending/trendingtest"
)

func TestConformance(t *testing.T) {
	trendingtest.Run(t, func(t *testing.T) func() trending.Store {
		client, prefix := testenv.Redis(t)
		return func() trending.Store { return trendingredis.New(client, prefix) }
	})
}

func TestConformanceOnCluster(t *testing.T) {
	trendingtest.Run(t, func(t *testing.T) func() trending.Store {
		client, prefix := testenv.RedisCluster(t)
		return func() trending.Store { return trendingredis.New(client, prefix) }
	})
}

// A set written by another version is left in place and is an error here.
func TestSetOfOtherFormat(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.Redis(t)
	s := trendingredis.New(client, prefix)
	require.NoError(t, client.Set(t.Context(), rediskeys.For(client, prefix).Trending(), "2 x 5\n[]", time.Minute).Err())
	_, err := s.Read(t.Context(), "")
	require.ErrorContains(t, err, "unknown format")
	_, err = s.Read(t.Context(), "1-a")
	require.ErrorContains(t, err, "unknown format")
}

func TestUnavailable(t *testing.T) {
	t.Parallel()
	client := goredis.NewClient(&goredis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})
	t.Cleanup(func() { _ = client.Close() })
	s := trendingredis.New(client, "")
	ctx := t.Context()
	_, err := s.Read(ctx, "")
	require.ErrorIs(t, err, trending.ErrUnavailable)
	_, err = s.Read(ctx, "1-a")
	require.ErrorIs(t, err, trending.ErrUnavailable)
	_, err = s.Lease(ctx, "one", time.Second)
	require.ErrorIs(t, err, trending.ErrUnavailable)
	_, err = s.Keep(ctx, "one", trending.NewSet(1, nil))
	require.ErrorIs(t, err, trending.ErrUnavailable)
}
