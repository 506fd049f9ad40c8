package redisbloom

import (
	"context"
	"fmt"
	"net/url"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/deduptest"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/internal/testenv/faultproxy"
)

// cutCall is a method call during which the connection to Redis is cut once, after three groups
// have been claimed.
type cutCall struct {
	name string
	make func(ctx context.Context, s *Store, agent string) (any, error)
}

var cutCalls = []cutCall{
	{"check", func(ctx context.Context, s *Store, agent string) (any, error) {
		out, err := s.Check(ctx, agent, groupNames(0, 6), noon)
		return out.Verdicts, err
	}},
	{"check of many pending", func(ctx context.Context, s *Store, agent string) (any, error) {
		if err := (claiming{s}).Claim(ctx, agent, groupNames(100, 100+mostRead), noon); err != nil {
			return nil, err
		}
		out, err := s.Check(ctx, agent, groupNames(0, 102), noon)
		return out.Verdicts, err
	}},
	{"settle", func(ctx context.Context, s *Store, agent string) (any, error) {
		return nil, s.ClearPending(ctx, given(agent, groupNames(1, 3)...))
	}},
	{"record", func(ctx context.Context, s *Store, agent string) (any, error) {
		return recordAll(ctx, s, given(agent, groupNames(0, 3)...))
	}},
}

// recordAll retries unconfirmed impressions, as the recorder does.
func recordAll(ctx context.Context, s *Store, batch []dedup.Impression) (any, error) {
	for {
		left, err := s.Record(ctx, batch, noon)
		if err == nil {
			return left, nil
		}
		if ctx.Err() != nil || len(left) == 0 {
			return left, err
		}
		batch = left
	}
}

// TestDisconnectAtEveryCommand cuts the connection once at each command of each method: before
// Redis receives the command, after it, and within the reply. The answer, the pending set and
// the filters must be the same as without a fault.
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
	cfg := deduptest.DefaultConfig()
	cfg.DailyCapacity, cfg.FalsePositiveRate = 20_000, 1e-9
	s, calm := openAt(t, client, prefix, cfg), openAt(t, direct, prefix, cfg)
	for i, call := range cutCalls {
		run := func(t *testing.T, s *Store, agent string, arm func()) (got any, pending []string, verdicts []dedup.Verdict) {
			ctx := t.Context()
			claim(t, calm, noon, agent, groupNames(0, 3)...)
			arm()
			got, err := call.make(ctx, s, agent)
			require.NoError(t, err)
			for _, z := range direct.ZRangeWithScores(ctx, calm.keys.Pending(agent), 0, -1).Val() {
				pending = append(pending, fmt.Sprint(z.Member, " ", z.Score))
			}
			require.NoError(t, calm.ClearPending(ctx, given(agent, groupNames(0, 6)...))) // otherwise pending would hide the filters
			out, err := calm.Check(ctx, agent, groupNames(0, 6), noon)
			require.NoError(t, err)
			return got, pending, out.Verdicts
		}
		agent := fmt.Sprint("u_", i)
		want, pending, verdicts := run(t, calm, agent+"_calm", func() {})
		// The store learns the shard counts and loads the scripts beforehand.
		run(t, s, agent+"_warm", func() {})
		list := p.Record(func() { run(t, s, agent+"_list", func() {}) })
		for nth, cmd := range list {
			for _, kind := range []faultproxy.Kind{faultproxy.Before, faultproxy.After, faultproxy.Within} {
				t.Run(fmt.Sprintf("%s, cut %s %d. %s", call.name, kind, nth+1, cmd.Name()), func(t *testing.T) {
					var fault *faultproxy.Armed
					got, nowPending, nowVerdicts := run(t, s, fmt.Sprint(agent, "_", nth, kind), func() {
						fault = p.Arm(faultproxy.Fault{Kind: kind, Nth: nthNamed(list, nth), Match: func(c faultproxy.Command) bool { return c.Name() == cmd.Name() }})
					})
					p.Disarm(fault)
					if cmd.Name() != "bf.info" { // sent only occasionally
						assert.True(t, fault.Fired())
					}
					assert.Equal(t, want, got)
					assert.Equal(t, pending, nowPending)
					assert.Equal(t, verdicts, nowVerdicts)
				})
			}
		}
	}
}

// nthNamed returns the position of command i among the commands of the same name, starting at 1.
func nthNamed(list []faultproxy.Command, i int) (n int) {
	for _, c := range list[:i+1] {
		if c.Name() == list[i].Name() {
			n++
		}
	}
	return n
}
