package stream_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/internal/testenv/faultproxy"
	"github.com/freshet/freshet/social/graph/stream"
)

// through returns an environment, a proxy that can cut connections, and a client that connects
// through the proxy.
func through(t *testing.T) (e *env, proxy *faultproxy.Proxy, cut redis.UniversalClient) {
	t.Helper()
	client, prefix := testenv.Redis(t)
	opts, err := redis.ParseURL(testenv.RedisURL(t))
	require.NoError(t, err)
	proxy = faultproxy.Start(t, opts.Addr)
	opts.Addr = proxy.Addrs[0]
	behind := redis.NewClient(opts)
	t.Cleanup(func() { _ = behind.Close() })
	return newEnv(t, client, prefix), proxy, behind
}

func command(name string) faultproxy.Match {
	return func(c faultproxy.Command) bool { return c.Name() == name }
}

// TestCrashBeforeAcknowledge checks that another server applies the event again.
func TestCrashBeforeAcknowledge(t *testing.T) {
	t.Parallel()
	e, proxy, cut := through(t)
	gone := proxy.Arm(faultproxy.Fault{Kind: faultproxy.Before, Match: command("xack"), Refuse: time.Hour})
	e.start(cut, quick)
	e.sendFollow("u_1", "a")
	e.until(gone.Fired, "the server dies")
	require.Equal(t, []string{"u_1"}, e.followers("a"), "the store has it by then")
	e.start(e.client, quick)
	e.settled()
	require.EqualValues(t, 2, e.store.calls.Load(), "it was applied twice")
	require.Equal(t, []string{"u_1"}, e.followers("a"))
}

// TestDisconnectAtEveryCommand cuts the connection before, after and within each command while
// events arrive.
func TestDisconnectAtEveryCommand(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"xreadgroup", "xack", "xautoclaim", "xadd", "xtrim", "xinfo", "xpending", "xgroup", "evalsha"} {
		for _, kind := range []faultproxy.Kind{faultproxy.Before, faultproxy.After, faultproxy.Within} {
			t.Run(fmt.Sprint(name, " ", kind), func(t *testing.T) {
				t.Parallel()
				e, proxy, cut := through(t)
				nth := 1
				if name == "xreadgroup" {
					nth = 3
				}
				proxy.Arm(faultproxy.Fault{Kind: kind, Match: command(name), Nth: nth, Refuse: 10 * time.Millisecond})
				cfg := quick
				cfg.Batch, cfg.Idle = 3, time.Hour // no other server takes over
				e.start(cut, cfg)
				for i := range 20 {
					e.sendFollow(fmt.Sprintf("u_%d", i), "a")
					if i%9 == 0 {
						e.send("x", "{}")
					}
				}
				e.until(func() bool { return len(e.followers("a")) == 20 }, "all are applied")
				e.settled()
				require.GreaterOrEqual(t, e.client.XLen(t.Context(), e.dead).Val(), int64(3))
			})
		}
	}
}

func TestRedisRestartsEmpty(t *testing.T) {
	t.Parallel()
	own := testenv.StartRedis(t)
	client := redis.NewClient(&redis.Options{Addr: own.Addr})
	t.Cleanup(func() { _ = client.Close() })
	e := newEnv(t, client, "")
	e.start(client, quick)
	e.sendFollow("u_1", "a")
	e.settled()
	own.Kill()
	own.Start()
	e.sendFollow("u_2", "a")
	e.until(func() bool { return len(e.followers("a")) == 2 }, "it reads the new stream from its beginning")
	e.settled()
	require.NoError(t, client.Del(t.Context(), e.key).Err())
	e.sendFollow("u_3", "a")
	e.until(func() bool { return len(e.followers("a")) == 3 }, "and one that was deleted")
	require.NoError(t, client.XGroupDestroy(t.Context(), e.key, stream.Group).Err())
	e.sendFollow("u_4", "a")
	e.until(func() bool { return len(e.followers("a")) == 4 }, "and one without its group")
}

func TestRedisDownAtStart(t *testing.T) {
	t.Parallel()
	e, proxy, cut := through(t)
	proxy.Down()
	e.start(cut, quick)
	e.sendFollow("u_1", "a")
	proxy.Up()
	e.until(func() bool { return len(e.followers("a")) == 1 }, "it is read")
}

// TestDeletedEntriesSkipped checks that deleted entries are skipped, whichever consumer had
// read them.
func TestDeletedEntriesSkipped(t *testing.T) {
	t.Parallel()
	each(t, func(e *env) {
		ctx := e.Context()
		require.NoError(e, e.client.XGroupCreateMkStream(ctx, e.key, stream.Group, "0").Err())
		id := e.send("follow.created", `{"agent_id":"u_1","author_id":"a","at":1}`)
		e.sendFollow("u_2", "a")
		require.NoError(e, e.client.XReadGroup(ctx, &redis.XReadGroupArgs{Group: stream.Group, Consumer: "dead", Streams: []string{e.key, ">"}}).Err())
		require.NoError(e, e.client.XDel(ctx, e.key, id).Err())
		e.start(e.client, quick)
		e.until(func() bool { return len(e.followers("a")) == 1 }, "the other is taken over")
		e.settled()
		require.Zero(e, e.client.XLen(ctx, e.dead).Val())
	})
}
