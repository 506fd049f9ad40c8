package redislist

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

// TestRedisMaxmemory has a Redis that is out of memory: a page step is refused as a whole, since
// the handed-out refs must be recorded; giving refs back succeeds.
func TestRedisMaxmemory(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: testenv.StartRedis(t).Addr})
	defer func() { _ = client.Close() }()
	s, ctx := New(client, Config{}), t.Context()
	ranked := refs("a", "b", "c", "d", "e", "f")
	call := cache.Call{RequestID: "r1", Owner: "o1", Action: "refresh", Limit: 2}
	page, err := s.Replace(ctx, cache.Replace{Agent: "u_1", Ranked: ranked, Limit: 2, Now: noon, Call: call})
	require.NoError(t, err)
	full := func(limit string) { require.NoError(t, client.ConfigSet(ctx, "maxmemory", limit).Err()) }
	state := func() any {
		return []any{
			client.LRange(ctx, s.keys.Session("u_1", feed.ForYou), 0, -1).Val(), client.ZRange(ctx, s.keys.Pending("u_1"), 0, -1).Val(),
			client.Get(ctx, s.keys.Refreshed("u_1", feed.ForYou)).Val(), client.DBSize(ctx).Val(),
		}
	}
	before := state()

	full("1")
	_, err = s.Pop(ctx, cache.Pop{Agent: "u_1", Limit: 2, Now: noon})
	require.ErrorIs(t, err, cache.ErrUnavailable)
	_, err = s.Replace(ctx, cache.Replace{Agent: "u_1", Ranked: refs("x", "y", "z"), Limit: 2, Now: noon})
	require.ErrorIs(t, err, cache.ErrUnavailable)
	require.ErrorIs(t, s.Withdraw(ctx, "u_1", []string{"c"}, noon), cache.ErrUnavailable)
	assert.Equal(t, before, state(), "no half of a step was made")

	retry := call
	retry.Owner = "o2"
	again, err := s.Replace(ctx, cache.Replace{Agent: "u_1", Ranked: ranked, Limit: 2, Now: noon, Call: retry})
	require.NoError(t, err, "a retry is answered all the same")
	assert.Equal(t, page.Refs, again.Refs)
	third := call
	third.Owner = "o3"
	_, _, err = s.Replay(ctx, "u_1", third)
	require.NoError(t, err)
	require.NoError(t, s.Restore(ctx, "u_1", page.Refs[1:], call), "giving back needs no room")
	require.NoError(t, s.Restore(ctx, "u_1", page.Refs[1:], third))
	assert.Equal(t, before, state(), "the other call may have delivered it")
	require.NoError(t, s.Restore(ctx, "u_1", page.Refs[1:], retry))
	full("0")
	page, err = s.Pop(ctx, cache.Pop{Agent: "u_1", Limit: 2, Now: noon})
	require.NoError(t, err)
	assert.Equal(t, refs("b", "c"), page.Refs)
}
