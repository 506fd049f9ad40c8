package redislist

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/internal/testenv/faultproxy"
)

// cutStep is a method call during which the connection to Redis is cut once, and the calls made
// before it.
type cutStep struct {
	name   string
	before func(ctx context.Context, s *Sessions, agent string, call cache.Call) error
	make   func(ctx context.Context, s *Sessions, agent string, call cache.Call) (any, error)
}

func cutReplace(ctx context.Context, s *Sessions, agent string, call cache.Call) (any, error) {
	call.Action = "refresh"
	page, err := s.Replace(ctx, cache.Replace{Agent: agent, Ranked: refs("a", "b", "c", "d", "e", "f", "g"), Limit: 2, Now: noon, Call: call})
	page.Recorded = false // true if the command was sent twice
	return page, err
}

func cutPop(ctx context.Context, s *Sessions, agent string, call cache.Call) (any, error) {
	call.Action = "load_more"
	page, err := s.Pop(ctx, cache.Pop{Agent: agent, Limit: 2, Now: noon, Call: call})
	page.Recorded = false
	return page, err
}

// earlier returns a different call than the one that is cut.
func earlier(call cache.Call) cache.Call {
	call.Owner += "before"
	if call.RequestID != "" {
		call.RequestID += "before"
	}
	return call
}

// session makes a refresh for the agent beforehand.
func session(ctx context.Context, s *Sessions, agent string, call cache.Call) error {
	_, err := cutReplace(ctx, s, agent, earlier(call))
	return err
}

// popped makes the call take its page beforehand.
func popped(ctx context.Context, s *Sessions, agent string, call cache.Call) error {
	if err := session(ctx, s, agent, call); err != nil {
		return err
	}
	_, err := cutPop(ctx, s, agent, call)
	return err
}

var cutSteps = []cutStep{
	{"replace", session, cutReplace},
	{"pop", session, cutPop},
	{"pop of nothing", nil, cutPop},
	{"pop to fill up", popped, func(ctx context.Context, s *Sessions, agent string, call cache.Call) (any, error) {
		call.Step = 1
		return cutPop(ctx, s, agent, call)
	}},
	{"pop of a retry", popped, func(ctx context.Context, s *Sessions, agent string, call cache.Call) (any, error) {
		call.Owner += "again"
		return cutPop(ctx, s, agent, call)
	}},
	{"replay", popped, func(ctx context.Context, s *Sessions, agent string, call cache.Call) (any, error) {
		call.Action, call.Owner = "load_more", call.Owner+"again"
		page, ok, err := s.Replay(ctx, agent, call)
		return fmt.Sprint(page, ok), err
	}},
	{"refreshed", session, func(ctx context.Context, s *Sessions, agent string, _ cache.Call) (any, error) {
		return s.Refreshed(ctx, agent, feed.ForYou)
	}},
	{"restore", popped, func(ctx context.Context, s *Sessions, agent string, call cache.Call) (any, error) {
		return nil, s.Restore(ctx, agent, refs("c", "d"), call)
	}},
	{"restore a part", popped, func(ctx context.Context, s *Sessions, agent string, call cache.Call) (any, error) {
		return nil, s.Restore(ctx, agent, refs("d"), call)
	}},
	{"discard", popped, func(ctx context.Context, s *Sessions, agent string, call cache.Call) (any, error) {
		return nil, s.Discard(ctx, agent, refs("c"), call)
	}},
	{"abandon", popped, func(ctx context.Context, s *Sessions, agent string, call cache.Call) (any, error) {
		return nil, s.Abandon(ctx, agent, call)
	}},
	{"withdraw", popped, func(ctx context.Context, s *Sessions, agent string, _ cache.Call) (any, error) {
		return nil, s.Withdraw(ctx, agent, []string{"e", "f"}, noon)
	}},
	{"delete", session, func(ctx context.Context, s *Sessions, agent string, _ cache.Call) (any, error) {
		return nil, s.Delete(ctx, agent)
	}},
}

// TestDisconnectAtEveryCommand cuts the connection of each method once: before Redis receives
// the command, after it, and within the reply. The client sends the command again; the answer
// and the contents of Redis must be the same as without a fault.
func TestDisconnectAtEveryCommand(t *testing.T) {
	t.Parallel()
	t.Run("one server", func(t *testing.T) {
		direct, prefix := testenv.Redis(t)
		u, err := url.Parse(testenv.RedisURL(t))
		require.NoError(t, err)
		p := faultproxy.Start(t, u.Host)
		cutOnce(t, p, direct, redis.NewClient(&redis.Options{Addr: p.Addrs[0], MaxRetries: 1}), prefix)
	})
	t.Run("cluster", func(t *testing.T) {
		direct, prefix := testenv.RedisCluster(t)
		p := faultproxy.Start(t, testenv.RedisClusterAddrs(t)...)
		cutOnce(t, p, direct, redis.NewClusterClient(&redis.ClusterOptions{Addrs: p.Addrs, MaxRetries: -1, MaxRedirects: 3}), prefix)
	})
}

func cutOnce(t *testing.T, p *faultproxy.Proxy, direct, client redis.UniversalClient, prefix string) {
	t.Cleanup(func() { _ = client.Close() })
	s := New(client, Config{KeyPrefix: prefix})
	calm := New(direct, Config{KeyPrefix: prefix})
	for i, step := range cutSteps {
		for name, call := range map[string]cache.Call{
			"with a request id": {RequestID: "r1", Owner: "o1", Limit: 2},
			"without":           {Owner: "o1", Limit: 2},
		} {
			run := func(t *testing.T, s *Sessions, agent string, arm func()) (any, string) {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				if step.before != nil {
					require.NoError(t, step.before(ctx, calm, agent, call))
				}
				arm()
				got, err := step.make(ctx, s, agent, call)
				require.NoError(t, err)
				if page, ok := got.(cache.Page); ok { // an answer from the record is as good
					page.Recorded = false
					got = page
				}
				return got, strings.ReplaceAll(stored(t, direct, prefix, agent), agent, "agent")
			}
			agent := fmt.Sprint("u_", i, strings.Fields(name)[0])
			want, left := run(t, calm, agent+"_calm", func() {})
			if step.name == "replay" && call.RequestID == "" {
				continue // nothing is sent
			}
			for _, kind := range []faultproxy.Kind{faultproxy.Before, faultproxy.After, faultproxy.Within} {
				t.Run(fmt.Sprint(step.name, " ", name, ", cut ", kind), func(t *testing.T) {
					agent := fmt.Sprint(agent, "_", kind)
					var fault *faultproxy.Armed
					got, now := run(t, s, agent, func() {
						fault = p.Arm(faultproxy.Fault{Kind: kind, Match: func(c faultproxy.Command) bool { return c.Mentions(agent) }})
					})
					assert.True(t, fault.Fired())
					assert.Equal(t, want, got)
					assert.Equal(t, left, now)
				})
			}
		}
	}
}

// stored returns everything that Redis stores for an agent, as text.
func stored(t *testing.T, client redis.UniversalClient, prefix, agent string) string {
	t.Helper()
	ctx := t.Context()
	var keys []string
	found := make(chan []string, 16)
	require.NoError(t, testenv.EachMaster(ctx, client, func(ctx context.Context, c *redis.Client) error {
		some, err := c.Keys(ctx, prefix+"*").Result()
		found <- some
		return err
	}))
	close(found)
	for some := range found {
		keys = append(keys, some...)
	}
	slices.Sort(keys)
	var b strings.Builder
	for _, key := range keys {
		name := strings.TrimPrefix(key, prefix)
		if !strings.Contains(name, ":"+agent) && !strings.Contains(name, "{"+agent+"}") {
			continue
		}
		switch kind := client.Type(ctx, key).Val(); kind {
		case "string":
			fmt.Fprintln(&b, name, client.Get(ctx, key).Val())
		case "list":
			fmt.Fprintln(&b, name, client.LRange(ctx, key, 0, -1).Val())
		case "zset":
			fmt.Fprintln(&b, name, client.ZRangeWithScores(ctx, key, 0, -1).Val())
		default:
			require.Fail(t, "unknown", "%s is a %s", key, kind)
		}
	}
	return b.String()
}

// TestLateRetryOfAbandonedStep: a client whose step timed out sends it again and
// gives up on both, and Redis executes the second copy last. Nobody would receive the refs that it
// hands out.
func TestLateRetryOfAbandonedStep(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.Redis(t)
	s := New(client, Config{KeyPrefix: prefix})
	call := cache.Call{Owner: "o1", Limit: 2}
	ctx := t.Context()
	require.NoError(t, popped(ctx, s, "u_1", call))
	before := stored(t, client, prefix, "u_1")
	_, err := cutPop(ctx, s, "u_1", call) // while the record of the first one exists
	require.NoError(t, err)
	assert.Equal(t, before, stored(t, client, prefix, "u_1"))

	require.NoError(t, s.Abandon(ctx, "u_1", call))
	_, err = cutPop(ctx, s, "u_1", call)
	require.ErrorContains(t, err, "the call was abandoned before this step arrived", "it hands out nothing")
	page, err := s.Pop(ctx, cache.Pop{Agent: "u_1", Limit: 5, Now: noon, Call: cache.Call{Owner: "o2", Action: "load_more", Limit: 5}})
	require.NoError(t, err)
	assert.Equal(t, refs("e", "f", "g"), page.Refs)
}
