package app

import (
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRedisRefusesTheServer takes away what the server may do in Redis while it serves:
// that is an outage, which the feed goes on through, and no other service's.
func TestRedisRefusesTheServer(t *testing.T) {
	t.Parallel()
	for name, rules := range map[string][]any{
		"another password": {"resetpass", ">another"},
		"no such user":     {"off"},
		"no rights":        {"-@all"},
		"no scripts":       {"-@scripting"},
		"no writes":        {"-@write"},
		"no filters":       {"-bf.mexists", "-bf.madd"},
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
