package server

import (
	"path/filepath"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
)

// TestAtMaxmemory fills Redis to its maxmemory: answers work without the session, and impressions
// wait on disk. When there is memory again, everything is recorded and nothing is repeated.
func TestAtMaxmemory(t *testing.T) {
	t.Parallel()
	cfg, r := ownRedis(t)
	a := open(t, cfg, WithClock(at(noon).Now), quick)
	other := cfg
	other.DataDir = t.TempDir()
	put(t, a, madeItems(200)...)
	b := open(t, other, WithClock(at(noon).Now), quick)
	healthy(t, a)
	seen := newOnce()
	seen.add(t, "before", ids(ask(t, a, refresh("u_1", 10))))
	seen.add(t, "before", ids(ask(t, a, loadMore("u_1", 10))))
	recorded(t, a)

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
	inFilters(t, a, given)
	pageOn(t, b, seen)
	healthy(t, a)
	healthy(t, b)
}
