package server

import (
	"path/filepath"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/internal/testenv"
)

// TestRedisPermissionsRevoked revokes permissions of a running server in Redis: that is an outage
// of Redis only, during which the feed works.
func TestRedisPermissionsRevoked(t *testing.T) {
	testenv.Full(t, "cuts")
	t.Parallel()
	for name, rules := range map[string][]any{
		"another password": {"resetpass", ">another"},
		"no such user":     {"off"},
		"no rights":        {"-@all"},
		"no scripts":       {"-@scripting"},
		"no writes":        {"-@write"},
		"no filters":       {"-bf.mexists", "-bf.insert"},
		"no such keys":     {"resetkeys", "~elsewhere:*"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, r := ownRedis(t)
			admin := redis.NewClient(&redis.Options{Addr: r.Addr})
			t.Cleanup(func() { _ = admin.Close() })
			as := func(rules ...any) {
				t.Helper()
				require.NoError(t, admin.Do(t.Context(), append([]any{"ACL", "SETUSER", "freshet"}, rules...)...).Err())
				require.NoError(t, admin.Do(t.Context(), "CLIENT", "KILL", "USER", "freshet").Err())
			}
			as("reset", "on", ">word", "~*", "&*", "+@all")
			cfg.Redis.URL, cfg.Redis.Password = "redis://freshet@"+r.Addr, "word"
			a := open(t, cfg, WithClock(at(noon).Now), shortPauses)
			put(t, a, madeItems(300)...)
			before := ask(t, a, refresh("u_1", 10))
			require.Nil(t, before.Degraded)
			waitRecorded(t, a)

			as(rules...)
			seen := newOnce()
			seen.add(t, "before", ids(before))
			for range 12 {
				answer := ask(t, a, refresh("u_1", 10))
				assert.NotEmpty(t, answer.Degraded)
				seen.add(t, "while refused", ids(answer))
			}
			assert.NoError(t, a.checks.Check(t.Context())["elasticsearch"].Err, "the breaker of Elasticsearch is shut")

			as("reset", "on", ">word", "~*", "&*", "+@all")
			waitHealthy(t, a)
			seen.add(t, "after", ids(ask(t, a, refresh("u_1", 10))))
			assert.Equal(t, gobreaker.StateClosed, a.clients.breaker.State())
		})
	}
}

// TestRedisScriptsRefusedReported checks that /readyz does not call a Redis up that runs no scripts, which
// every page needs.
func TestRedisScriptsRefusedReported(t *testing.T) {
	t.Parallel()
	cfg, r := redisAlone(t)
	admin := redis.NewClient(&redis.Options{Addr: r.Addr})
	t.Cleanup(func() { _ = admin.Close() })
	a := open(t, cfg, WithClock(at(noon).Now), shortPauses)
	require.NoError(t, a.checks.Check(t.Context())["redis"].Err)
	require.NoError(t, admin.Do(t.Context(), "acl", "setuser", "default", "-evalsha").Err())
	state := a.checks.Check(t.Context())["redis"]
	assert.ErrorContains(t, state.Err, "the user lacks a right")
	assert.Equal(t, "reachable, but scripts are refused: the user lacks a right; docs/production.md lists those that Freshet needs", state.Reason)
	require.NoError(t, admin.Do(t.Context(), "acl", "setuser", "default", "+@all").Err())
	waitHealthy(t, a)
}

// TestRedisWritesRefusedReported checks that /readyz and the log say why a Redis that answers, but accepts no
// writes, is down, also while the breaker refuses calls.
func TestRedisWritesRefusedReported(t *testing.T) {
	t.Parallel()
	cfg, r := redisAlone(t)
	admin := redis.NewClient(&redis.Options{Addr: r.Addr})
	t.Cleanup(func() { _ = admin.Close() })
	a := open(t, cfg, WithClock(at(noon).Now), shortPauses)
	put(t, a, madeItems(300)...)
	require.NoError(t, admin.ConfigSet(t.Context(), "min-replicas-to-write", "1").Err())
	testenv.WaitFor(t, func() bool {
		assert.NotEmpty(t, ask(t, a, refresh("u_1", 10)).Degraded)
		return a.clients.breaker.State() == gobreaker.StateOpen
	}, "the breaker is open")
	state := a.checks.Check(t.Context())["redis"]
	assert.Equal(t, "reachable, but writes are refused: it has fewer replicas than min-replicas-to-write; start them", state.Reason)
	assert.ErrorContains(t, state.Err, "NOREPLICAS")
	require.NoError(t, admin.ConfigSet(t.Context(), "min-replicas-to-write", "0").Err())
	waitHealthy(t, a)
}

// TestRedisPasswordChanged sets a password while servers without one, or with another, are
// connected. Redis then refuses all commands before authentication. Long ones it even answers with
// a protocol error, and closes the connection.
func TestRedisPasswordChanged(t *testing.T) {
	t.Parallel()
	for name, password := range map[string]string{"none is given": "", "another is given": "old"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg, r := ownRedis(t)
			admin := redis.NewClient(&redis.Options{Addr: r.Addr})
			t.Cleanup(func() { _ = admin.Close() })
			// The administrator uses a single connection, which stays open.
			one := admin.Conn()
			t.Cleanup(func() { _ = one.Close() })
			set := func(password string) {
				t.Helper()
				require.NoError(t, one.ConfigSet(t.Context(), "requirepass", password).Err())
			}
			set(password)
			cfg.Redis.Password = password
			a := open(t, cfg, WithClock(at(noon).Now), shortPauses)
			put(t, a, madeItems(400)...)
			seen := newOnce()
			turn := func(when string, degraded bool) {
				t.Helper()
				for _, r := range []engine.Request{refresh("u_1", 10), loadMore("u_1", 10), loadMore("u_1", 10)} {
					answer := ask(t, a, r)
					seen.add(t, when, ids(answer))
					if degraded {
						assert.NotEmpty(t, answer.Degraded, "%s: %s", when, r.Action)
					}
				}
			}
			turn("before", false)
			waitRecorded(t, a)
			set("new")
			require.NoError(t, one.Do(t.Context(), "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes").Err())
			for range 5 {
				turn("while refused", true)
			}
			assert.NoError(t, a.checks.Check(t.Context())["elasticsearch"].Err)
			assert.Error(t, a.checks.Check(t.Context())["redis"].Err)
			set(password)
			waitHealthy(t, a)
			turn("after", false)
		})
	}
}

// TestRedisWithoutBloomFilters replaces Redis with one that does not support filters: the feed
// works without them, and readiness and the metric report it although that Redis answers.
func TestRedisWithoutBloomFilters(t *testing.T) {
	t.Parallel()
	cfg, r := ownRedis(t)
	a := open(t, cfg, WithClock(at(noon).Now), shortPauses)
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
	waitHealthy(t, a)
	require.NoError(t, a.checks.Check(t.Context())["redis"].Err)
}

// TestRedisReadOnlyIsReported checks that readiness and the metric report a Redis that only answers
// reads, until it accepts writes again.
func TestRedisReadOnlyIsReported(t *testing.T) {
	t.Parallel()
	cfg, r := ownRedis(t)
	a := open(t, cfg, WithClock(at(noon).Now), shortPauses)
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
		assert.Contains(t, state.Reason, "reachable, but writes are refused: it ", name)
		assert.True(t, state.Optional, name)
		assert.Contains(t, ask(t, a, refresh("u_1", 5)).Degraded, "session", name)
		require.NoError(t, turn(false), name)
		waitHealthy(t, a)
	}
}

// TestRedisKeyOfWrongType puts a value of another program in the place of a reader's key. That
// reader gets degraded answers and no other is affected. After its deletion everything works as
// before.
func TestRedisKeyOfWrongType(t *testing.T) {
	t.Parallel()
	cfg, r := ownRedis(t)
	a := open(t, cfg, WithClock(at(noon).Now), shortPauses)
	put(t, a, madeItems(100)...)
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
			waitRecorded(t, a)
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

// TestRedisMaxmemoryLosesNothing fills Redis to its maxmemory: answers work without the session,
// and impressions wait on disk. When there is memory again, everything is recorded and nothing is
// repeated.
func TestRedisMaxmemoryLosesNothing(t *testing.T) {
	t.Parallel()
	cfg, r := ownRedis(t)
	a := open(t, cfg, WithClock(at(noon).Now), shortPauses)
	other := cfg
	other.DataDir = t.TempDir()
	put(t, a, madeItems(200)...)
	b := open(t, other, WithClock(at(noon).Now), shortPauses)
	waitHealthy(t, a)
	seen := newOnce()
	seen.add(t, "before", ids(ask(t, a, refresh("u_1", 10))))
	seen.add(t, "before", ids(ask(t, a, loadMore("u_1", 10))))
	waitRecorded(t, a)

	client := redis.NewClient(&redis.Options{Addr: r.Addr})
	defer func() { _ = client.Close() }()
	session := client.LRange(t.Context(), cfg.Redis.KeyPrefix+"feed:cache:u_1", 0, -1).Val()
	require.NotEmpty(t, session)
	require.NoError(t, client.ConfigSet(t.Context(), "maxmemory", "1").Err())
	var given []string
	for range 2 {
		for _, request := range []engine.Request{loadMore("u_1", 10), refresh("u_1", 10)} {
			answer := ask(t, a, request)
			assert.Contains(t, answer.Degraded, "session")
			require.Len(t, answer.Docs, 10)
			seen.add(t, "at maxmemory", ids(answer))
			given = append(given, ids(answer)...)
		}
	}
	assert.Equal(t, session, client.LRange(t.Context(), cfg.Redis.KeyPrefix+"feed:cache:u_1", 0, -1).Val(), "no step was made in part")
	waiting, err := filepath.Glob(filepath.Join(cfg.DataDir, "spool", "*.spool"))
	require.NoError(t, err)
	assert.NotEmpty(t, waiting, "impressions wait on disk")

	require.NoError(t, client.ConfigSet(t.Context(), "maxmemory", "0").Err())
	waitInFilters(t, a, given)
	readSession(t, b, seen)
	waitHealthy(t, a)
	waitHealthy(t, b)
}
