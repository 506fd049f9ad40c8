package redis

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social/timeline"
	"github.com/freshet/freshet/social/timeline/timelinetest"
)

func still() time.Time { return timelinetest.Start }

func timelines(t testing.TB) (*Lists, redis.UniversalClient) {
	t.Helper()
	client, prefix := testenv.Redis(t)
	return NewTimelines(client, Config{KeyPrefix: prefix, Clock: still}), client
}

func TestStoredFormat(t *testing.T) {
	l, client := timelines(t)
	prepare(t, l, "u_1", false)
	all := client.ZRange(t.Context(), l.key("u_1"), 0, -1).Val()
	require.Len(t, all, 5)
	assert.Regexp(t, `^!r [A-Z2-7]{11}\d{9} [A-Z2-7]{11}\d{9} 0$`, all[0])
	assert.Equal(t, []string{"$2 post:2", "post:4", "post:5", "post:6"}, all[1:])
	ttl := client.PTTL(t.Context(), l.key("u_1")).Val()
	assert.LessOrEqual(t, ttl, timeline.TTL)
	assert.Greater(t, ttl, timeline.TTL-time.Minute)

	prepare(t, l, "u_2", true)
	require.NoError(t, l.Remove(t.Context(), []string{"u_2"}, []string{"post:5"}))
	all = client.ZRange(t.Context(), l.key("u_2"), 0, -1).Val()
	require.Len(t, all, 5)
	assert.Equal(t, []string{"$", "~ post:5", "post:4", "post:6"}, all[1:])
	ttl = client.PTTL(t.Context(), l.key("u_2")).Val()
	assert.LessOrEqual(t, ttl, timeline.BuildTTL)
	assert.Positive(t, ttl)

	boxes := NewOutboxes(client, Config{KeyPrefix: "p:", Clock: still})
	assert.Equal(t, "p:celebrity_posts:u_1", boxes.key("u_1"))
	assert.Equal(t, timeline.OutboxCap, boxes.cfg.Cap)
	assert.Equal(t, timeline.Cap, l.cfg.Cap)
}

// TestListpackEncoding checks that a full list with its mark and floor is still encoded as a
// listpack.
func TestListpackEncoding(t *testing.T) {
	client, prefix := testenv.Redis(t)
	l := NewOutboxes(client, Config{KeyPrefix: prefix, Clock: still})
	var all []timeline.Position
	for i := range timeline.OutboxCap + 1 {
		all = append(all, timeline.Position{At: 1<<33 + int64(i), ID: fmt.Sprintf("post:01hzy3q9v5w8x7k2m4n6p8r0%06d.author", i)})
	}
	prepare(t, l, "u_1", true)
	encoding := func() string { return client.ObjectEncoding(t.Context(), l.key("u_1")).Val() }
	assert.Contains(t, []string{"listpack", "ziplist"}, encoding())
	_, err := push(t.Context(), l, []string{"u_1"}, all)
	require.NoError(t, err)
	assert.Contains(t, []string{"listpack", "ziplist"}, encoding())
}

// trips counts round trips to the server, without the handshakes of new connections.
type trips struct{ n atomic.Int64 }

func (h *trips) DialHook(next redis.DialHook) redis.DialHook { return next }

func (h *trips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if cmds[0].Name() != "hello" && cmds[0].Name() != "client" {
			h.n.Add(1)
		}
		return next(ctx, cmds)
	}
}

func (h *trips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if name := cmd.Name(); name != "hello" && name != "client" {
			h.n.Add(1)
		}
		return next(ctx, cmd)
	}
}

func TestRoundTrips(t *testing.T) {
	l, client := timelines(t)
	var h trips
	var names []string
	for i := range pipelined {
		names = append(names, fmt.Sprint("u_", i))
	}
	ctx := t.Context()
	for round := range 2 {
		if round == 1 {
			client.AddHook(&h) // from here on the server has the scripts
		}
		require.NoError(t, l.Drop(ctx, names))
		prepare(t, l, "u_1", false) // two
		held, err := push(ctx, l, names, posts(8, 7))
		require.NoError(t, err)
		assert.Equal(t, []int{0, 2}, held[:2])
		require.NoError(t, l.Remove(ctx, names, []string{"post:8", "post:7"}))
		pages, err := l.ReadMany(ctx, names, timeline.Position{}, 20)
		require.NoError(t, err)
		assert.Equal(t, posts(6, 5, 4), pages[1].Entries)
		_, err = l.Heads(ctx, names)
		require.NoError(t, err)
		_, err = l.Read(ctx, "u_1", timeline.Position{}, 20)
		require.NoError(t, err)
	}
	assert.EqualValues(t, 9, h.n.Load(), "one each")
}

// calls returns one call of each method, on a list.
func calls(ctx context.Context, l *Lists, list string) map[string]func() error {
	one := []string{list}
	return map[string]func() error{
		"Read":       func() error { _, err := l.Read(ctx, list, timeline.Position{}, 1); return err },
		"ReadMany":   func() error { _, err := l.ReadMany(ctx, one, timeline.Position{}, 1); return err },
		"Heads":      func() error { _, err := l.Heads(ctx, one); return err },
		"Versions":   func() error { _, err := l.Versions(ctx, one); return err },
		"Push":       func() error { _, err := l.Push(ctx, timelinetest.Additions(one, one, posts(9)...)); return err },
		"Remove":     func() error { return l.Remove(ctx, one, []string{"post:9"}) },
		"Replace":    func() error { _, err := l.Replace(ctx, list, timeline.Change{}); return err },
		"ClearToken": func() error { return l.ClearToken(ctx, one) },
		"Drop":       func() error { return l.Drop(ctx, one) },
		"Begin":      func() error { _, _, err := l.Begin(ctx, list); return err },
		"Commit":     func() error { _, err := l.Commit(ctx, list, "x", timeline.Content{}); return err },
		"Abandon":    func() error { return l.Abandon(ctx, list, "x") },
	}
}

func TestUnavailable(t *testing.T) {
	dead := redis.NewClient(&redis.Options{
		Addr: "redis.invalid:1", MaxRetries: -1, DialerRetries: 1,
		Dialer: func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Err: errors.New("refused")}
		},
	})
	t.Cleanup(func() { _ = dead.Close() })
	l := NewTimelines(dead, Config{Clock: still})
	for name, call := range calls(t.Context(), l, "u_1") {
		require.ErrorIs(t, call(), timeline.ErrUnavailable, name)
	}
}

// TestForeignRedisKey has keys that are not lists in the place of lists.
func TestForeignRedisKey(t *testing.T) {
	l, client := timelines(t)
	require.NoError(t, client.ZAdd(t.Context(), l.key("zset"), redis.Z{Score: 1, Member: "post:1"}, redis.Z{Score: 2, Member: "post:2"}).Err())
	require.NoError(t, client.Set(t.Context(), l.key("string"), "x", time.Minute).Err())
	for _, list := range []string{"zset", "string"} {
		for name, call := range calls(t.Context(), l, list) {
			if name == "Drop" {
				continue
			}
			err := call()
			require.Error(t, err, "%s of a %s", name, list)
			assert.NotErrorIs(t, err, timeline.ErrUnavailable, name)
		}
		require.NoError(t, l.Drop(t.Context(), []string{list}))
	}
}

// TestTooFewReplicas requires more replicas than exist: writes of jobs fail and must be repeated,
// while reads and builds succeed.
func TestTooFewReplicas(t *testing.T) {
	client, prefix := testenv.RedisCluster(t)
	few := NewTimelines(client, Config{KeyPrefix: prefix, Clock: still, Replicas: rediskeys.Replicas{N: 2, Timeout: 10 * time.Millisecond}})
	prepare(t, few, "u_1", false)
	for name, call := range calls(t.Context(), few, "u_1") {
		switch err := call(); name {
		case "Push", "Remove", "Replace", "ClearToken", "Drop":
			require.ErrorIs(t, err, timeline.ErrUnavailable, name)
			require.ErrorIs(t, err, rediskeys.ErrReplicas, name)
		default:
			require.NoError(t, err, name)
		}
	}
}

// TestClusterMovedKeyReplicas gives the client a stale assignment of slots to servers.
func TestClusterMovedKeyReplicas(t *testing.T) {
	client, prefix := testenv.RedisCluster(t)
	opts := *client.Options()
	var stale atomic.Bool
	stale.Store(true)
	opts.ClusterSlots = func(ctx context.Context) ([]redis.ClusterSlot, error) {
		shards, err := client.ClusterShards(ctx).Result()
		shift := 0
		if stale.Swap(false) {
			shift = 1 // the first time, half of each master's slots are assigned to another master
		}
		var slots []redis.ClusterSlot
		for i, shard := range shards {
			own, other := masterOf(shard), masterOf(shards[(i+shift)%len(shards)])
			for _, r := range shard.Slots {
				start, end := int(r.Start), int(r.End)
				slots = append(slots,
					redis.ClusterSlot{Start: start, End: (start + end) / 2, Nodes: own},
					redis.ClusterSlot{Start: (start+end)/2 + 1, End: end, Nodes: other})
			}
		}
		return slots, err
	}
	moved := redis.NewClusterClient(&opts)
	t.Cleanup(func() { _ = moved.Close() })
	cfg := Config{KeyPrefix: prefix, Clock: still, Replicas: rediskeys.Replicas{N: 1, Timeout: 5 * time.Second}}
	var names []string
	for i := range 20 {
		names = append(names, fmt.Sprint("u_", i))
		prepare(t, NewTimelines(client, cfg), names[i], false)
	}
	held, err := push(t.Context(), NewTimelines(moved, cfg), names, posts(9))
	require.NoError(t, err)
	assert.False(t, stale.Load())
	for i := range names {
		assert.Equal(t, 1, held[i], names[i])
	}
}

func masterOf(shard redis.ClusterShard) []redis.ClusterNode {
	for _, node := range shard.Nodes {
		if node.Role == "master" {
			return []redis.ClusterNode{{Addr: net.JoinHostPort(node.IP, strconv.FormatInt(node.Port, 10))}}
		}
	}
	return nil
}

// TestRedisMaxmemory has a Redis that is full and does not evict: writes that need memory are
// refused as a whole, and removals succeed.
func TestRedisMaxmemory(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: testenv.StartRedis(t).Addr})
	defer func() { _ = client.Close() }()
	l, ctx := NewTimelines(client, Config{Cap: 4, Clock: still}), t.Context()
	prepare(t, l, "u_1", false)
	token := prepare(t, l, "u_2", true)
	version := func() string {
		heads, err := l.Heads(ctx, []string{"u_1"})
		require.NoError(t, err)
		return heads[0].Version
	}
	before := stored(t, client, l, "u_1") + stored(t, client, l, "u_2")
	require.NoError(t, client.ConfigSet(ctx, "maxmemory", "1").Err())
	_, err := push(ctx, l, []string{"u_1"}, posts(9, 8, 7))
	require.ErrorIs(t, err, timeline.ErrUnavailable)
	_, err = l.Commit(ctx, "u_2", token, timeline.Content{Entries: posts(8), Floor: posts(5)[0]})
	require.ErrorIs(t, err, timeline.ErrUnavailable)
	_, err = l.Replace(ctx, "u_1", timeline.Change{Version: version(), Remove: []string{"post:5"}, Add: posts(9)})
	require.ErrorIs(t, err, timeline.ErrUnavailable)
	_, _, err = l.Begin(ctx, "u_3")
	require.ErrorIs(t, err, timeline.ErrUnavailable)
	assert.Equal(t, before, stored(t, client, l, "u_1")+stored(t, client, l, "u_2"))
	page, err := l.Read(ctx, "u_1", timeline.Position{}, 5)
	require.NoError(t, err)
	assert.Equal(t, posts(6, 5, 4), page.Entries)
	require.NoError(t, l.Drop(ctx, []string{"u_1"}))
}
