package server

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/internal/testenv"
)

// TestARedisWithoutFilters replaces Redis with one that does not support filters: the feed works
// without them, and readiness and the metric report it although that Redis answers.
func TestARedisWithoutFilters(t *testing.T) {
	t.Parallel()
	cfg, r := ownRedis(t)
	a := open(t, cfg, WithClock(at(noon).Now), quick)
	put(t, a, madeItems(100)...)
	require.Nil(t, ask(t, a, refresh("u_1", 5)).Degraded)
	r.Kill()
	r.StartBare()
	state := a.checks.Check(t.Context())["redis"]
	require.Error(t, state.Err)
	assert.Contains(t, state.Reason, "filters are unavailable")
	assert.True(t, state.Optional)
	for range 3 {
		assert.Contains(t, ask(t, a, refresh("u_1", 5)).Degraded, "dedup")
		assert.NotEmpty(t, ask(t, a, loadMore("u_1", 5)).Docs)
	}
	r.Kill()
	r.Start()
	healthy(t, a)
	require.NoError(t, a.checks.Check(t.Context())["redis"].Err)
}

// TestARedisThatTakesNoWrites checks that readiness and the metric report a Redis that only answers
// reads, until it accepts writes again.
func TestARedisThatTakesNoWrites(t *testing.T) {
	t.Parallel()
	cfg, r := ownRedis(t)
	a := open(t, cfg, WithClock(at(noon).Now), quick)
	put(t, a, madeItems(100)...)
	admin := redis.NewClient(&redis.Options{Addr: r.Addr})
	t.Cleanup(func() { _ = admin.Close() })
	for name, turn := range map[string]func(refused bool) error{
		"too few replicas": func(refused bool) error {
			return admin.ConfigSet(t.Context(), "min-replicas-to-write", map[bool]string{true: "1", false: "0"}[refused]).Err()
		},
		"a replica": func(refused bool) error {
			if refused {
				return admin.ReplicaOf(t.Context(), "127.0.0.1", "1").Err()
			}
			return admin.ReplicaOf(t.Context(), "NO", "ONE").Err()
		},
	} {
		require.NoError(t, a.checks.Check(t.Context())["redis"].Err, name)
		require.NoError(t, turn(true), name)
		state := a.checks.Check(t.Context())["redis"]
		require.Error(t, state.Err, name)
		assert.Equal(t, "reachable, but writes are refused", state.Reason, name)
		assert.True(t, state.Optional, name)
		assert.Contains(t, ask(t, a, refresh("u_1", 5)).Degraded, "session", name)
		require.NoError(t, turn(false), name)
		healthy(t, a)
	}
}

// TestAKeyOfSomebodyElse puts a value of another program in the place of a reader's key. That
// reader gets degraded answers and no other is affected. After its deletion everything works as
// before.
func TestAKeyOfSomebodyElse(t *testing.T) {
	t.Parallel()
	cfg, r := ownRedis(t)
	a := open(t, cfg, WithClock(at(noon).Now), quick)
	put(t, a, madeItems(400)...)
	admin := redis.NewClient(&redis.Options{Addr: r.Addr})
	t.Cleanup(func() { _ = admin.Close() })
	keys := rediskeys.For(admin, cfg.Redis.KeyPrefix)
	for name, key := range map[string]func(agent string) string{
		"pending":   keys.Pending,
		"session":   func(agent string) string { return keys.Session(agent, feed.ForYou) },
		"refreshed": func(agent string) string { return keys.Refreshed(agent, feed.ForYou) },
		"profile":   keys.Profile,
	} {
		for kind, write := range map[string]func(key string) error{
			"string": func(key string) error { return admin.Set(t.Context(), key, "x", 0).Err() },
			"list":   func(key string) error { return admin.RPush(t.Context(), key, "x").Err() },
			"set":    func(key string) error { return admin.SAdd(t.Context(), key, "x").Err() },
			"hash":   func(key string) error { return admin.HSet(t.Context(), key, "x", "y").Err() },
		} {
			what := name + " is a " + kind
			agent := "u_" + name + "_" + kind
			seen := newOnce()
			seen.add(t, what, ids(ask(t, a, refresh(agent, 5))))
			recorded(t, a)
			require.NoError(t, admin.Del(t.Context(), key(agent)).Err())
			require.NoError(t, write(key(agent)))
			for range 2 {
				answer := ask(t, a, refresh(agent, 5))
				assert.Len(t, answer.Docs, 5, what)
				seen.add(t, what, ids(answer))
				answer = ask(t, a, loadMore(agent, 5))
				assert.Len(t, answer.Docs, 5, what)
				seen.add(t, what, ids(answer))
			}
			require.NoError(t, admin.Del(t.Context(), key(agent)).Err())
			testenv.WaitFor(t, func() bool { return ask(t, a, refresh("u_other", 1)).Degraded == nil }, "%s: others are not held up", what)
			seen.add(t, what+", and was", ids(ask(t, a, refresh(agent, 5))))
		}
	}
	require.NoError(t, a.checks.Check(t.Context())["redis"].Err)
}
