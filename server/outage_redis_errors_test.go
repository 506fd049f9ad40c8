package server

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
)

// TestRedisRefusesTheServer revokes permissions of a running server in Redis: that is an outage of
// Redis only, during which the feed works.
func TestRedisRefusesTheServer(t *testing.T) {
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
			a := open(t, cfg, WithClock(at(noon).Now), quick)
			put(t, a, madeItems(300)...)
			before := ask(t, a, refresh("u_1", 10))
			require.Nil(t, before.Degraded)
			recorded(t, a)

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
			healthy(t, a)
			seen.add(t, "after", ids(ask(t, a, refresh("u_1", 10))))
			assert.Equal(t, gobreaker.StateClosed, a.clients.breaker.State())
		})
	}
}

// TestRedisGetsAPassword sets a password while servers without one, or with another, are connected.
// Redis then refuses all commands before authentication. Long ones it even answers with a protocol
// error, and closes the connection.
func TestRedisGetsAPassword(t *testing.T) {
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
			a := open(t, cfg, WithClock(at(noon).Now), quick)
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
			recorded(t, a)
			set("new")
			require.NoError(t, one.Do(t.Context(), "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes").Err())
			for range 5 {
				turn("while refused", true)
			}
			assert.NoError(t, a.checks.Check(t.Context())["elasticsearch"].Err)
			assert.Error(t, a.checks.Check(t.Context())["redis"].Err)
			set(password)
			healthy(t, a)
			turn("after", false)
		})
	}
}
