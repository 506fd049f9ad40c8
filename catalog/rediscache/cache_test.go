package rediscache

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/catalog/catalogtest"
	catalogsqlite "github.com/freshet/freshet/catalog/sqlite"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

// gate is a catalog that counts calls and can make them fail. Its hooks run when the catalog has
// finished a call, before the caller gets the result.
type gate struct {
	catalog.Catalog
	docs, profiles atomic.Int64
	ids            atomic.Int64 // number of ids requested from Docs
	err            error
	afterDocs      func()
	afterProfile   func()
	afterPut       func()
}

func run(hook *func()) {
	if f := *hook; f != nil {
		*hook = nil // once, and not recursively
		f()
	}
}

func (g *gate) Docs(ctx context.Context, ids []string) ([]feed.Doc, error) {
	g.docs.Add(1)
	g.ids.Add(int64(len(ids)))
	if g.err != nil {
		return nil, g.err
	}
	docs, err := g.Catalog.Docs(ctx, ids)
	run(&g.afterDocs)
	return docs, err
}

func (g *gate) Profile(ctx context.Context, agent string) (feed.Profile, error) {
	g.profiles.Add(1)
	if g.err != nil {
		return feed.Profile{}, g.err
	}
	p, err := g.Catalog.Profile(ctx, agent)
	run(&g.afterProfile)
	return p, err
}

func (g *gate) EditProfile(ctx context.Context, agent string, change func(*feed.Profile) (bool, error)) (feed.Profile, error) {
	if g.err != nil {
		return feed.Profile{}, g.err
	}
	p, err := g.Catalog.EditProfile(ctx, agent, change)
	run(&g.afterPut)
	return p, err
}

func (g *gate) MuteItems(ctx context.Context, agent string, groups []string) error {
	if g.err != nil {
		return g.err
	}
	return g.Catalog.MuteItems(ctx, agent, groups)
}

func store(t testing.TB) *gate {
	t.Helper()
	c, err := catalogsqlite.Open(t.Context(), filepath.Join(t.TempDir(), "catalog.db"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return &gate{Catalog: c}
}

func open(t testing.TB) (*Cache, *gate, redis.UniversalClient) {
	t.Helper()
	client, prefix := testenv.Redis(t)
	g := store(t)
	return New(g, client, Config{KeyPrefix: prefix}), g, client
}

func TestGroupsOfRemovedItems(t *testing.T) {
	c, _, client := open(t)
	catalogtest.Groups(t, c)
	left := client.TTL(t.Context(), c.keys.Group("gone_1")).Val()
	require.Greater(t, left, catalog.GroupsKept-time.Hour)
}

func item(id, title string) feed.Item {
	return feed.Item{ID: id, Title: title, UpdateTime: 1_772_000_000}
}

func put(t testing.TB, c catalog.Catalog, items ...feed.Item) {
	t.Helper()
	perItem, err := c.Put(t.Context(), items)
	require.NoError(t, err)
	require.Nil(t, perItem)
}

// titles reads items and returns their titles, "" for missing ones.
func titles(t testing.TB, c catalog.Reader, ids ...string) []string {
	t.Helper()
	docs, err := c.Docs(t.Context(), ids)
	require.NoError(t, err)
	return titlesOf(t, docs)
}

func titlesOf(t testing.TB, docs []feed.Doc) []string {
	t.Helper()
	list := make([]string, len(docs))
	for i, d := range docs {
		if d.Missing() {
			continue
		}
		it, err := d.Item()
		require.NoError(t, err)
		require.Equal(t, d.ID, it.ID)
		list[i] = it.Title
	}
	return list
}

// expire deletes a tombstone or a mark, as if it had expired.
func expire(t testing.TB, client redis.UniversalClient, key string) {
	t.Helper()
	require.NoError(t, client.Del(t.Context(), key).Err())
}

func TestConformance(t *testing.T) {
	catalogtest.Run(t, func(t *testing.T) catalog.Catalog {
		c, _, _ := open(t)
		return c
	})
}

func TestReadThrough(t *testing.T) {
	c, g, client := open(t)
	put(t, g.Catalog, item("a", "A"), item("b", "B"), item("c:/1", "C"))
	assert.Equal(t, []string{"B", "", "A", "B"}, titles(t, c, "b", "none", "a", "b"))
	assert.EqualValues(t, 1, g.docs.Load(), "all that is missing in one call")
	assert.Equal(t, []string{"A", "B", "A"}, titles(t, c, "a", "b", "a"))
	assert.EqualValues(t, 1, g.docs.Load(), "from the cache")
	assert.Equal(t, []string{"A", "C"}, titles(t, c, "a", "c:/1"))
	assert.EqualValues(t, 2, g.docs.Load())

	put(t, g.Catalog, item("none", "now there is"))
	assert.Equal(t, []string{"now there is"}, titles(t, c, "none"), "absence of an item is not cached")

	ttl := client.TTL(t.Context(), c.keys.Item("a")).Val()
	assert.Greater(t, ttl, 9*time.Minute)
	assert.LessOrEqual(t, ttl, 10*time.Minute)
}

// trips counts round trips to the server, except the handshakes of new connections.
type trips struct{ n atomic.Int64 }

func (h *trips) DialHook(next redis.DialHook) redis.DialHook { return next }
func (h *trips) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		h.count(cmd)
		return next(ctx, cmd)
	}
}

func (h *trips) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		h.count(cmds[0])
		return next(ctx, cmds)
	}
}

func (h *trips) count(cmd redis.Cmder) {
	if name := cmd.Name(); name != "hello" && name != "client" {
		h.n.Add(1)
	}
}

func TestHydrateOneRoundTrip(t *testing.T) {
	c, g, client := open(t)
	put(t, g.Catalog, item("a", "A"), item("b", "B"))
	want := feed.Profile{Interests: map[string]float64{"go": 2}, MutedAuthors: []string{"troll"}}
	require.NoError(t, catalogtest.PutProfile(t.Context(), g.Catalog, "u_1", want))
	var h trips
	client.AddHook(&h)
	hydrate := func(agent string, ids ...string) feed.Profile {
		t.Helper()
		docs, p, err := c.Hydrate(t.Context(), agent, ids)
		require.NoError(t, err)
		assert.Equal(t, titles(t, g.Catalog, ids...), titlesOf(t, docs))
		return p
	}
	assert.Equal(t, want, hydrate("u_1", "a", "b"))
	assert.EqualValues(t, 2, h.n.Load(), "misses: one to read, one to fill")
	assert.Equal(t, want, hydrate("u_1", "b", "a"))
	assert.EqualValues(t, 3, h.n.Load())
	assert.EqualValues(t, 1, g.docs.Load())
	assert.EqualValues(t, 1, g.profiles.Load())

	assert.Zero(t, hydrate("u_2", "a", "b"))
	assert.Zero(t, hydrate("u_2", "a", "b"))
	assert.EqualValues(t, 2, g.profiles.Load(), "absent agents are cached")
	assert.EqualValues(t, 6, h.n.Load())
	_, err := c.Profile(t.Context(), "u_2")
	require.ErrorIs(t, err, feed.ErrNotFound)
	assert.EqualValues(t, 2, g.profiles.Load())
}

func TestStaleItemNotCached(t *testing.T) {
	for name, change := range map[string]struct {
		do   func(t *testing.T, c *Cache)
		want string
	}{
		"put":    {func(t *testing.T, c *Cache) { put(t, c, item("a", "new")) }, "new"},
		"remove": {func(t *testing.T, c *Cache) { require.NoError(t, c.Remove(t.Context(), "a")) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			c, g, client := open(t)
			put(t, g.Catalog, item("a", "old"))
			g.afterDocs = func() { change.do(t, c) }
			assert.Equal(t, []string{"old"}, titles(t, c, "a"), "it was the truth when it was read")
			assert.Equal(t, []string{change.want}, titles(t, c, "a"))
			assert.Equal(t, []string{change.want}, titles(t, c, "a"))
			expire(t, client, c.keys.Item("a"))
			assert.Equal(t, []string{change.want}, titles(t, c, "a"))
			assert.Equal(t, []string{change.want}, titles(t, c, "a"))
		})
	}
}

// A reader who hides an item while the catalog is down keeps their feed: the cached profile stays,
// with the item muted.
func TestHideCatalogDown(t *testing.T) {
	down := fmt.Errorf("%w: gone", catalog.ErrUnavailable)
	for name, before := range map[string]*feed.Profile{
		"with a profile": {Langs: []string{"en"}, MutedItems: []string{"a"}},
		"without one":    nil,
	} {
		t.Run(name, func(t *testing.T) {
			c, g, client := open(t)
			want := feed.Profile{MutedItems: []string{"b"}}
			if before != nil {
				require.NoError(t, catalogtest.PutProfile(t.Context(), c, "u_1", *before))
				want = feed.Profile{Langs: []string{"en"}, MutedItems: []string{"a", "b"}}
			}
			_, err := c.Profile(t.Context(), "u_1")
			require.True(t, err == nil || errors.Is(err, feed.ErrNotFound), "%v", err)

			g.err = down
			require.ErrorIs(t, c.MuteItems(t.Context(), "u_1", []string{"b"}), catalog.ErrUnavailable)
			got, err := c.Profile(t.Context(), "u_1")
			require.NoError(t, err)
			assert.Equal(t, want, got)
			ttl := client.PTTL(t.Context(), c.keys.Profile("u_1")).Val()
			assert.LessOrEqual(t, ttl, itemTTL)

			require.ErrorIs(t, catalogtest.PutProfile(t.Context(), c, "u_1", feed.Profile{}), catalog.ErrUnavailable)
			_, err = c.Profile(t.Context(), "u_1")
			require.ErrorIs(t, err, catalog.ErrUnavailable, "which of two profiles holds is not known")
			require.ErrorIs(t, c.MuteItems(t.Context(), "u_1", []string{"c"}), catalog.ErrUnavailable)
			_, err = c.Profile(t.Context(), "u_1")
			require.ErrorIs(t, err, catalog.ErrUnavailable, "another writer's change is under way")
		})
	}
}

func TestStaleProfileNotCached(t *testing.T) {
	old, changed := feed.Profile{Keywords: feed.Keywords("old")}, feed.Profile{Keywords: feed.Keywords("new")}
	read := func(c *Cache) feed.Profile {
		_, p, err := c.Hydrate(t.Context(), "u_1", nil)
		require.NoError(t, err)
		return p
	}
	t.Run("put", func(t *testing.T) {
		c, g, client := open(t)
		require.NoError(t, catalogtest.PutProfile(t.Context(), g.Catalog, "u_1", old))
		g.afterProfile = func() { require.NoError(t, catalogtest.PutProfile(t.Context(), c, "u_1", changed)) }
		assert.Equal(t, old, read(c))
		assert.Equal(t, changed, read(c))
		assert.EqualValues(t, 2, g.profiles.Load(), "written through, after a look at what it keeps of the old one")
		ttl := client.TTL(t.Context(), c.keys.Profile("u_1")).Val()
		assert.Greater(t, ttl, 23*time.Hour)
	})
	t.Run("read in the middle of a put", func(t *testing.T) {
		c, g, _ := open(t)
		require.NoError(t, catalogtest.PutProfile(t.Context(), c, "u_1", old))
		// The catalog has the new profile but the cache does not; then a slow reader tries to cache
		// the old one.
		g.afterPut = func() {
			assert.Equal(t, changed, read(c))
			c.fill(t.Context(), nil, &knownProfile{agent: "u_1", profile: old})
		}
		require.NoError(t, catalogtest.PutProfile(t.Context(), c, "u_1", changed))
		assert.Equal(t, changed, read(c))
	})
	t.Run("remove", func(t *testing.T) {
		c, g, _ := open(t)
		require.NoError(t, catalogtest.PutProfile(t.Context(), g.Catalog, "u_1", old))
		g.afterProfile = func() { require.NoError(t, c.RemoveProfile(t.Context(), "u_1")) }
		assert.Equal(t, old, read(c))
		assert.Zero(t, read(c))
		assert.EqualValues(t, 2, g.profiles.Load(), "the absence is cached, after a look at what stays")
		require.ErrorIs(t, c.RemoveProfile(t.Context(), "u_1"), feed.ErrNotFound)
	})
	t.Run("two writers", func(t *testing.T) {
		c, g, client := open(t)
		// The other write is the later one in the catalog, but is cached first: only a fresh read
		// shows which was last.
		g.afterPut = func() { require.NoError(t, catalogtest.PutProfile(t.Context(), c, "u_1", changed)) }
		require.NoError(t, catalogtest.PutProfile(t.Context(), c, "u_1", old))
		assert.Equal(t, changed, read(c))
		expire(t, client, c.keys.Profile("u_1"))
		assert.Equal(t, changed, read(c))
	})
	t.Run("a write that fails", func(t *testing.T) {
		c, g, _ := open(t)
		require.NoError(t, catalogtest.PutProfile(t.Context(), c, "u_1", old))
		g.err = errors.New("disk full")
		require.ErrorIs(t, catalogtest.PutProfile(t.Context(), c, "u_1", changed), g.err)
		g.err = nil
		assert.Equal(t, old, read(c))
	})
}

// cut returns a Redis client that can be disconnected and reconnected.
func cut(t *testing.T) (client redis.UniversalClient, prefix string, h *cutHook) {
	t.Helper()
	real, prefix := testenv.Redis(t)
	opts := *real.(*redis.Client).Options()
	h = new(cutHook)
	opts.MaxRetries, opts.DialerRetries = -1, 1
	opts.MaxIdleConns, opts.PoolSize = 0, 2
	c := redis.NewClient(&opts)
	c.AddHook(h)
	t.Cleanup(func() { _ = c.Close() })
	return c, prefix, h
}

// cutHook refuses calls while it is off, and counts the refused pipelines.
type cutHook struct {
	off     atomic.Bool
	refused atomic.Int64
}

var errCut = &net.OpError{Op: "read", Err: errors.New("connection reset")}

func (h *cutHook) DialHook(next redis.DialHook) redis.DialHook { return next }
func (h *cutHook) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if h.off.Load() {
			cmd.SetErr(errCut)
			return errCut
		}
		return next(ctx, cmd)
	}
}

func (h *cutHook) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if h.off.Load() {
			h.refused.Add(1)
			for _, cmd := range cmds {
				cmd.SetErr(errCut)
			}
			return errCut
		}
		return next(ctx, cmds)
	}
}

func TestReadsRedisDown(t *testing.T) {
	client, prefix, redis := cut(t)
	g := store(t)
	var mu sync.Mutex
	now := time.Unix(1_772_000_000, 0)
	clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	c := New(g, client, Config{KeyPrefix: prefix, Clock: clock})
	put(t, c, item("a", "A"))
	want := feed.Profile{Keywords: feed.Keywords("go")}
	require.NoError(t, catalogtest.PutProfile(t.Context(), c, "u_1", want))

	redis.off.Store(true)
	for range 5 {
		docs, p, err := c.Hydrate(t.Context(), "u_1", []string{"a", "none"})
		require.NoError(t, err)
		assert.Equal(t, []string{"A", ""}, titlesOf(t, docs))
		assert.Equal(t, want, p)
	}
	assert.EqualValues(t, 1, redis.refused.Load(), "tried once, then left alone for a while")
	_, err := c.Profile(t.Context(), "u_2")
	require.ErrorIs(t, err, feed.ErrNotFound)

	_, err = c.Put(t.Context(), []feed.Item{item("a", "A2")})
	require.ErrorIs(t, err, catalog.ErrUnavailable, "others would go on answering the old one")
	require.ErrorIs(t, c.Remove(t.Context(), "a"), catalog.ErrUnavailable)
	require.ErrorIs(t, catalogtest.PutProfile(t.Context(), c, "u_1", feed.Profile{}), catalog.ErrUnavailable)
	require.ErrorIs(t, c.RemoveProfile(t.Context(), "u_1"), catalog.ErrUnavailable)
	got, err := c.Profile(t.Context(), "u_1")
	require.NoError(t, err)
	assert.Equal(t, want, got, "neither was written")

	redis.off.Store(false)
	mu.Lock()
	now = now.Add(2 * time.Second)
	mu.Unlock()
	asked := g.profiles.Load()
	got, err = c.Profile(t.Context(), "u_1")
	require.NoError(t, err)
	assert.Equal(t, want, got)
	assert.Equal(t, asked, g.profiles.Load(), "the cache is used again")
}

func TestCachedItemsCatalogDown(t *testing.T) {
	c, g, client := open(t)
	put(t, g.Catalog, item("a", "A"), item("b", "B"))
	require.NoError(t, catalogtest.PutProfile(t.Context(), c, "u_1", feed.Profile{}))
	titles(t, c, "a")
	g.err = fmt.Errorf("%w: down", catalog.ErrUnavailable)

	docs, err := c.Docs(t.Context(), []string{"b", "a"})
	require.ErrorIs(t, err, catalog.ErrUnavailable)
	assert.Equal(t, []string{"", "A"}, titlesOf(t, docs))
	docs, _, err = c.Hydrate(t.Context(), "u_1", []string{"a", "b"})
	require.ErrorIs(t, err, catalog.ErrUnavailable)
	assert.Equal(t, []string{"A", ""}, titlesOf(t, docs))
	assert.Equal(t, []string{"A"}, titles(t, c, "a"), "what is cached needs no catalog")

	expire(t, client, c.keys.Profile("u_1"))
	docs, _, err = c.Hydrate(t.Context(), "u_1", []string{"a"})
	require.ErrorIs(t, err, catalog.ErrUnavailable)
	assert.Nil(t, docs, "without the profile nobody knows what is muted")
}

func TestDamagedValueIsMiss(t *testing.T) {
	c, g, client := open(t)
	want := feed.Profile{Langs: []string{"en"}}
	require.NoError(t, catalogtest.PutProfile(t.Context(), g.Catalog, "u_1", want))
	require.NoError(t, client.Set(t.Context(), c.keys.Profile("u_1"), "{", time.Minute).Err())
	got, err := c.Profile(t.Context(), "u_1")
	require.NoError(t, err)
	assert.Equal(t, want, got)
	assert.False(t, c.down(), "one bad value is no reason to leave the cache alone")
}

func TestLargeBatchLeavesTombstones(t *testing.T) {
	c, _, client := open(t)
	items := make([]feed.Item, buryAtOnce+7)
	for i := range items {
		items[i] = item(fmt.Sprintf("doc_%d", i), "T")
	}
	put(t, c, items...)
	for _, i := range []int{0, buryAtOnce - 1, buryAtOnce, buryAtOnce + 6} {
		value, err := client.Get(t.Context(), c.keys.Item(items[i].ID)).Result()
		require.NoError(t, err)
		assert.Empty(t, value)
	}
}

func BenchmarkHydrate(b *testing.B) {
	c, g, _ := open(b)
	ids := make([]string, 20)
	items := make([]feed.Item, 20)
	for i := range ids {
		ids[i] = fmt.Sprintf("doc_%d", i)
		items[i] = item(ids[i], "A title of the usual length, about sixty characters")
		items[i].Business = map[string]json.RawMessage{"body": json.RawMessage(`"some more text"`)}
	}
	put(b, g.Catalog, items...)
	require.NoError(b, catalogtest.PutProfile(b.Context(), g.Catalog, "u_1", feed.Profile{Interests: map[string]float64{"go": 1, "db": 2}}))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := c.Hydrate(b.Context(), "u_1", ids); err != nil {
			b.Fatal(err)
		}
	}
}
