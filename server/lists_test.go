package server

import (
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/internal/testenv"
)

// TestListsInARedisOfTheirOwn checks that lists and cards are stored only in that Redis, and that
// pages work without it.
func TestListsInARedisOfTheirOwn(t *testing.T) {
	t.Parallel()
	cfg := withPostgres(t)
	own := testenv.StartRedis(t)
	cfg.Timeline.RedisURL = "redis://" + own.Addr
	o := &restored{T: t, clock: at(noon), redis: own}
	o.a = open(t, cfg, WithClock(o.clock.Now))
	cfg.DataDir, cfg.Jobs.Workers = t.TempDir(), 0
	o.b = open(t, cfg, WithClock(o.clock.Now))
	o.store = o.a.network.fanout.Store()
	o.follow("ann", restoredReaders...)
	o.publish("ann", 3)
	o.allRight("built")
	o.publish("ann", 2)
	o.allRight("pushed")

	client := redis.NewClient(&redis.Options{Addr: own.Addr})
	t.Cleanup(func() { _ = client.Close() })
	keys := func(c redis.Cmdable, pattern string) []string {
		list, err := c.Keys(t.Context(), cfg.Redis.KeyPrefix+pattern).Result()
		require.NoError(t, err)
		return list
	}
	assert.Len(t, keys(client, "timeline:*"), len(restoredReaders))
	assert.NotEmpty(t, keys(client, "feed:post:*"))
	for _, pattern := range []string{"timeline:*", "celebrity_posts:*", "feed:post:*"} {
		assert.Empty(t, keys(o.a.clients.redis, pattern), pattern)
	}
	assert.Empty(t, keys(client, "feed:notes*"), "what must not be evicted is elsewhere")

	own.Kill()
	want, got := o.read(o.a, "r1"), []string(nil)
	assert.Len(t, want, 5, "the store answers")
	state := o.a.checks.Check(t.Context())
	require.Error(t, state["timeline_redis"].Err)
	assert.True(t, state["timeline_redis"].Optional)
	require.NoError(t, state["redis"].Err)
	testenv.WaitFor(t, func() bool {
		page, err := o.a.Engine.Feed(t.Context(), engine.Request{Agent: "r1", Action: engine.ActionRefresh, Limit: 5})
		require.NoError(t, err)
		return len(page.Degraded) == 0
	}, "a page that lacks nothing: the rest does not need it")
	o.publish("ann", 1)
	got = o.read(o.b, "r2")
	assert.Len(t, got, 6)

	own.Start()
	o.noticed()
	o.clock.Advance(10 * time.Minute) // failed jobs are due again
	o.allRight("it came back")
}
