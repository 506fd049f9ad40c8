package rediscache

import (
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/internal/testenv"
)

// onEach runs a test on one server and on a cluster.
func onEach(t *testing.T, test func(t *testing.T, c *Cache, g *gate, client redis.UniversalClient)) {
	t.Run("one server", func(t *testing.T) {
		c, g, client := open(t)
		test(t, c, g, client)
	})
	t.Run("cluster", func(t *testing.T) {
		client, prefix := testenv.RedisCluster(t)
		g := store(t)
		test(t, New(g, client, Config{KeyPrefix: prefix}), g, client)
	})
}

// prefetch prefetches ids and returns the number of items that it requested from the underlying
// catalog.
func prefetch(t *testing.T, c *Cache, g *gate, ids ...string) (asked int64) {
	t.Helper()
	before := g.ids.Load()
	require.NoError(t, c.Prefetch(t.Context(), ids))
	return g.ids.Load() - before
}

func TestPrefetchReadsMissing(t *testing.T) {
	onEach(t, func(t *testing.T, c *Cache, g *gate, client redis.UniversalClient) {
		put(t, g.Catalog, item("a", "A"), item("b", "B"), item("c", "C"))
		require.Equal(t, []string{"A"}, titles(t, c, "a"))
		require.EqualValues(t, 3, prefetch(t, c, g, "a", "b", "c", "none"), "all but a, which is cached")
		require.EqualValues(t, 2, g.docs.Load(), "in one call")
		require.EqualValues(t, 0, prefetch(t, c, g, "a", "b", "c"))
		require.EqualValues(t, 0, prefetch(t, c, g))
		g.err = errors.New("down")
		require.Equal(t, []string{"A", "B", "C"}, titles(t, c, "a", "b", "c"))
		require.EqualValues(t, 2, g.docs.Load())

		g.err = nil
		put(t, g.Catalog, item("a", "A2")) // bypasses the cache
		require.NoError(t, client.PExpire(t.Context(), c.keys.Item("a"), itemTTL/2-time.Second).Err())
		require.EqualValues(t, 0, prefetch(t, c, g, "a", "b"), "they were found lately")
		c.cfg.Clock = func() time.Time { return time.Now().Add(knownFor) }
		require.EqualValues(t, 1, prefetch(t, c, g, "a", "b"), "what is about to expire is read again")
		require.Equal(t, []string{"A2", "B"}, titles(t, c, "a", "b"))
		left, err := client.PTTL(t.Context(), c.keys.Item("a")).Result()
		require.NoError(t, err)
		assert.Greater(t, left, itemTTL/2)
		assert.LessOrEqual(t, left, itemTTL)
	})
}

// TestPrefetchConcurrentWrites changes and deletes items before, during and after a prefetch.
func TestPrefetchConcurrentWrites(t *testing.T) {
	onEach(t, func(t *testing.T, c *Cache, g *gate, _ redis.UniversalClient) {
		put(t, g.Catalog, item("a", "A"), item("b", "B"))
		g.afterDocs = func() {
			put(t, c, item("a", "A2"))
			require.NoError(t, c.Remove(t.Context(), "b"))
		}
		prefetch(t, c, g, "a", "b")
		require.Equal(t, []string{"A2", ""}, titles(t, c, "a", "b"), "in between")
		put(t, c, item("b", "B2"))
		require.EqualValues(t, 2, prefetch(t, c, g, "a", "b"), "there are tombstones")
		require.Equal(t, []string{"A2", "B2"}, titles(t, c, "a", "b"), "before")

		put(t, g.Catalog, item("c", "C"), item("d", "D"))
		prefetch(t, c, g, "c", "d")
		put(t, c, item("c", "C2"))
		require.NoError(t, c.Remove(t.Context(), "d"))
		require.Equal(t, []string{"C2", ""}, titles(t, c, "c", "d"), "after")
	})
}

func TestPrefetchFailure(t *testing.T) {
	t.Parallel()
	c, g, client := open(t)
	g.err = catalog.ErrUnavailable
	require.ErrorIs(t, c.Prefetch(t.Context(), []string{"a"}), catalog.ErrUnavailable)
	require.EqualValues(t, 1, g.ids.Load())
	require.NoError(t, client.Close())
	away := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1", MaxRetries: -1})
	t.Cleanup(func() { _ = away.Close() })
	c = New(g, away, Config{})
	for range 2 { // tried once, then not again for a second
		require.ErrorIs(t, c.Prefetch(t.Context(), []string{"a"}), catalog.ErrUnavailable)
	}
}
