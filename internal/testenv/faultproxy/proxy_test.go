package faultproxy

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
)

// through returns a proxy, a client of the real Redis that uses it without retries, a direct
// client, and a key for this test.
func through(t *testing.T) (p *Proxy, client *redis.Client, direct redis.UniversalClient, key string) {
	t.Helper()
	direct, prefix := testenv.Redis(t)
	u, err := url.Parse(testenv.RedisURL(t))
	require.NoError(t, err)
	p = Start(t, u.Host)
	client = redis.NewClient(&redis.Options{Addr: p.Addrs[0], MaxRetries: -1, DialerRetries: 1})
	t.Cleanup(func() { _ = client.Close() })
	return p, client, direct, prefix + "n"
}

func named(name string) Match { return func(c Command) bool { return c.Name() == name } }

func TestCuts(t *testing.T) {
	for kind, executed := range map[Kind]string{Before: "1", After: "2", Within: "2"} {
		t.Run(kind.String(), func(t *testing.T) {
			p, client, direct, key := through(t)
			ctx := t.Context()
			require.NoError(t, client.Incr(ctx, key).Err())
			fault := p.Arm(Fault{Kind: kind, Match: named("incr")})
			require.NoError(t, client.Get(ctx, key).Err(), "another command")
			require.False(t, fault.Fired())
			require.Error(t, client.Incr(ctx, key).Err())
			assert.True(t, fault.Fired())
			<-fault.Over()
			assert.Equal(t, executed, direct.Get(ctx, key).Val())
			require.NoError(t, client.Incr(ctx, key).Err(), "a fault happens once")
		})
	}
}

// TestCutInPipeline checks that the replies before the cut arrive.
func TestCutInPipeline(t *testing.T) {
	for kind, want := range map[Kind]string{Before: "2", After: "3", Within: "3"} {
		t.Run(kind.String(), func(t *testing.T) {
			p, client, direct, key := through(t)
			ctx := t.Context()
			fault := p.Arm(Fault{Kind: kind, Match: named("incr"), Nth: 3})
			pipe := client.Pipeline()
			var all []*redis.IntCmd
			for range 5 {
				all = append(all, pipe.Incr(ctx, key))
			}
			_, err := pipe.Exec(ctx)
			require.Error(t, err)
			assert.True(t, fault.Fired())
			var got []int64
			for _, cmd := range all { // the client reports an error for all of them
				got = append(got, cmd.Val())
			}
			assert.Equal(t, []int64{1, 2, 0, 0, 0}, got)
			assert.Equal(t, want, direct.Get(ctx, key).Val())
		})
	}
}

func TestCutInTransaction(t *testing.T) {
	for kind, want := range map[Kind]int64{Before: 0, After: 1, Within: 1} {
		t.Run(kind.String(), func(t *testing.T) {
			p, client, direct, key := through(t)
			ctx := t.Context()
			p.Arm(Fault{Kind: kind, Match: named("exec")})
			_, err := client.TxPipelined(ctx, func(tx redis.Pipeliner) error { return tx.Incr(ctx, key).Err() })
			require.Error(t, err)
			assert.Equal(t, want, direct.Exists(ctx, key).Val())
		})
	}
}

func TestReplyDelayed(t *testing.T) {
	p, client, _, key := through(t)
	p.Arm(Fault{Kind: Late, Match: named("incr"), For: time.Millisecond})
	n, err := client.Incr(t.Context(), key).Result()
	require.NoError(t, err)
	assert.Equal(t, int64(1), n)

	late := p.Arm(Fault{Kind: Late, Match: named("incr"), For: time.Hour})
	short := client.WithTimeout(50 * time.Millisecond)
	require.Error(t, short.Incr(t.Context(), key).Err(), "the client gives up")
	late.Release()
	<-late.Over()
	n, err = client.Incr(t.Context(), key).Result()
	require.NoError(t, err)
	assert.Equal(t, int64(3), n, "but it was executed")
}

// TestStall delivers a request after its client has timed out and continued.
func TestStall(t *testing.T) {
	p, client, direct, key := through(t)
	stall := p.Arm(Fault{Kind: Stall, Match: named("append"), For: time.Hour})
	require.Error(t, client.WithTimeout(50*time.Millisecond).Append(t.Context(), key, "first").Err())
	testenv.WaitFor(t, stall.Fired, "the first request")
	require.NoError(t, client.Append(t.Context(), key, "second").Err())
	stall.Release()
	<-stall.Over()
	assert.Equal(t, "secondfirst", direct.Get(t.Context(), key).Val())
}

// TestStallEndsWithConnection closes the connection while a request is held back.
func TestStallEndsWithConnection(t *testing.T) {
	p, client, _, key := through(t)
	stall := p.Arm(Fault{Kind: Stall, Match: named("incr"), For: time.Hour})
	failed := make(chan error)
	go func() { failed <- client.Incr(t.Context(), key).Err() }()
	testenv.WaitFor(t, stall.Fired, "the fault to meet its command")
	p.Down()
	require.Error(t, <-failed)
	stall.Release()
	<-stall.Over()
}

func TestConnectionsRefused(t *testing.T) {
	p, client, _, key := through(t)
	other := redis.NewClient(&redis.Options{Addr: p.Addrs[0], MaxRetries: -1, DialerRetries: 1})
	t.Cleanup(func() { _ = other.Close() })
	require.NoError(t, other.Ping(t.Context()).Err())
	p.Arm(Fault{Kind: After, Match: named("incr"), Refuse: time.Hour})
	require.Error(t, client.Incr(t.Context(), key).Err())
	for _, c := range []*redis.Client{client, other} {
		require.Error(t, c.Ping(t.Context()).Err())
	}
	p.Up() // the pause is over
	for _, c := range []*redis.Client{client, other} {
		require.NoError(t, c.Ping(t.Context()).Err())
	}
}

func TestDownAndUp(t *testing.T) {
	p, client, _, _ := through(t)
	require.NoError(t, client.Ping(t.Context()).Err())
	p.Down()
	require.Error(t, client.Ping(t.Context()).Err())
	p.Up()
	require.NoError(t, client.Ping(t.Context()).Err())
}

func TestDisarm(t *testing.T) {
	p, client, _, _ := through(t)
	fault := p.Arm(Fault{Match: named("ping")})
	p.Disarm(fault)
	require.NoError(t, client.Ping(t.Context()).Err())
	assert.False(t, fault.Fired())
}

func TestRequestList(t *testing.T) {
	p, client, _, key := through(t)
	require.NoError(t, client.Set(t.Context(), key, 1, 0).Err())
	list := p.Record(func() {
		_, err := client.Pipelined(t.Context(), func(pipe redis.Pipeliner) error {
			pipe.Incr(t.Context(), key)
			pipe.Get(t.Context(), key)
			return nil
		})
		require.NoError(t, err)
	})
	assert.Equal(t, []Command{{"incr", key}, {"get", key}}, list)
	require.NoError(t, client.Ping(t.Context()).Err())
	assert.Empty(t, p.Record(func() {}))
}

// TestClusterThroughProxy reaches every node of a real cluster through the proxy, and cuts a
// reply of one node.
func TestClusterThroughProxy(t *testing.T) {
	direct, prefix := testenv.RedisCluster(t)
	p := Start(t, testenv.RedisClusterAddrs(t)...)
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: p.Addrs[:1], MaxRedirects: -1})
	t.Cleanup(func() { _ = client.Close() })
	ctx := t.Context()
	var masters atomic.Int64
	require.NoError(t, client.ForEachShard(ctx, func(_ context.Context, node *redis.Client) error {
		if !assert.Contains(t, p.Addrs, node.Options().Addr) {
			return errors.New("around the proxy")
		}
		return node.Ping(ctx).Err()
	}))
	require.NoError(t, client.ForEachMaster(ctx, func(context.Context, *redis.Client) error { masters.Add(1); return nil }))
	assert.Greater(t, masters.Load(), int64(1))
	for i := range 30 {
		require.NoError(t, client.Set(ctx, fmt.Sprint(prefix, i), i, 0).Err())
	}
	p.Arm(Fault{Kind: After, Match: func(c Command) bool { return c.Name() == "incr" && c.Mentions(prefix+"7") }})
	require.NoError(t, client.Incr(ctx, prefix+"8").Err())
	require.Error(t, client.Incr(ctx, prefix+"7").Err())
	assert.Equal(t, "8", direct.Get(ctx, prefix+"7").Val())
}
