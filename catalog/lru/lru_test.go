package lru_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/catalog/catalogtest"
	"github.com/freshet/freshet/catalog/lru"
	catalogsqlite "github.com/freshet/freshet/catalog/sqlite"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

func store(t testing.TB) *catalogsqlite.Catalog {
	t.Helper()
	c, err := catalogsqlite.Open(t.Context(), filepath.Join(t.TempDir(), "c.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

func TestConformance(t *testing.T) {
	for name, open := range map[string]func(catalog.Catalog) *lru.Cache{
		"default": lru.New,
		"small":   func(next catalog.Catalog) *lru.Cache { return lru.NewLimited(next, 64<<10, 20) },
	} {
		t.Run(name, func(t *testing.T) {
			catalogtest.Run(t, func(t *testing.T) catalog.Catalog { return open(store(t)) })
		})
	}
}

// watched counts the reads that reach it, and can run a hook between a read and its answer.
type watched struct {
	catalog.Catalog
	docs, profiles int
	read           func() // runs after a read, before its answer
	wrote          func() // runs within a write, after it took effect
	err            error
}

func (w *watched) Docs(ctx context.Context, ids []string) ([]feed.Doc, error) {
	w.docs += len(ids)
	docs, err := w.Catalog.Docs(ctx, ids)
	w.call(&w.read)
	return docs, errors.Join(err, w.err)
}

func (w *watched) Profile(ctx context.Context, agent string) (feed.Profile, error) {
	w.profiles++
	if w.err != nil {
		return feed.Profile{}, w.err
	}
	p, err := w.Catalog.Profile(ctx, agent)
	w.call(&w.read)
	return p, err
}

func (w *watched) Put(ctx context.Context, items []feed.Item) ([]error, error) {
	errs, err := w.Catalog.Put(ctx, items)
	w.call(&w.wrote)
	return errs, errors.Join(err, w.err)
}

func (w *watched) EditProfile(ctx context.Context, agent string, change func(*feed.Profile) (bool, error)) (feed.Profile, error) {
	p, err := w.Catalog.EditProfile(ctx, agent, change)
	w.call(&w.wrote)
	return p, errors.Join(err, w.err)
}

// call runs a hook once.
func (w *watched) call(step *func()) {
	if fn := *step; fn != nil {
		*step = nil
		fn()
	}
}

func version(v int) feed.Item { return feed.Item{ID: "a", Title: fmt.Sprint("v", v), UpdateTime: 1} }

func put(t testing.TB, c catalog.Writer, items ...feed.Item) {
	t.Helper()
	perItem, err := c.Put(t.Context(), items)
	require.NoError(t, err)
	require.Nil(t, perItem)
}

func title(t *testing.T, c catalog.Reader) string {
	t.Helper()
	docs, err := c.Docs(t.Context(), []string{"a"})
	require.NoError(t, err)
	it, err := docs[0].Item()
	require.NoError(t, err)
	return it.Title
}

func TestRepeatedReadHitsCache(t *testing.T) {
	w := &watched{Catalog: store(t)}
	c := lru.New(w)
	put(t, c, version(1))
	for range 3 {
		require.Equal(t, "v1", title(t, c))
	}
	require.Equal(t, 1, w.docs, "the second read is answered from memory")

	for range 3 {
		docs, err := c.Docs(t.Context(), []string{"none", "a"})
		require.NoError(t, err)
		require.True(t, docs[0].Missing())
	}
	require.Equal(t, 4, w.docs, "what does not exist is asked for each time")

	for range 3 {
		_, err := c.Profile(t.Context(), "u_none")
		require.ErrorIs(t, err, feed.ErrNotFound)
	}
	require.Equal(t, 1, w.profiles, "that there is no profile is remembered")
	require.NoError(t, catalogtest.PutProfile(t.Context(), c, "u_none", feed.Profile{Keywords: feed.Keywords("go")}))
	for range 3 {
		p, err := c.Profile(t.Context(), "u_none")
		require.NoError(t, err)
		require.Equal(t, feed.Keywords("go"), p.Keywords)
	}
	require.Equal(t, 2, w.profiles)
}

// TestReadOvertakenByWriteNotCached runs a write between the read of the old value and the time
// at which it would be cached.
func TestReadOvertakenByWriteNotCached(t *testing.T) {
	w := &watched{Catalog: store(t)}
	c := lru.New(w)
	put(t, c, version(1))
	w.read = func() { put(t, c, version(2)) }
	require.Equal(t, "v1", title(t, c), "read before the write")
	require.Equal(t, "v2", title(t, c), "read after it")

	w.read = func() {
		require.NoError(t, catalogtest.PutProfile(t.Context(), c, "u_1", feed.Profile{Langs: []string{"en"}}))
	}
	_, err := c.Profile(t.Context(), "u_1")
	require.ErrorIs(t, err, feed.ErrNotFound)
	p, err := c.Profile(t.Context(), "u_1")
	require.NoError(t, err)
	require.Equal(t, []string{"en"}, p.Langs)

	w.read = func() { require.NoError(t, c.Remove(t.Context(), "b")) }
	put(t, c, feed.Item{ID: "b", Title: "B", UpdateTime: 1})
	docs, err := c.Docs(t.Context(), []string{"b"})
	require.NoError(t, err)
	require.False(t, docs[0].Missing())
	docs, err = c.Docs(t.Context(), []string{"b"})
	require.NoError(t, err)
	require.True(t, docs[0].Missing())
}

// A read that misses the cache while the item is being written gets the new value from the
// catalog; after that no read may return the old one.
func TestWriteInvalidatesAtStart(t *testing.T) {
	w := &watched{Catalog: store(t)}
	c := lru.New(w)
	put(t, c, version(1))
	require.Equal(t, "v1", title(t, c))
	var during []string
	w.wrote = func() { during = append(during, title(t, c), title(t, c)) }
	put(t, c, version(2))
	require.Equal(t, []string{"v2", "v2"}, during)
}

// TestReadDuringWriteNotCached reads while a write has taken effect but not returned: a concurrent
// read may still have the older value.
func TestReadDuringWriteNotCached(t *testing.T) {
	w := &watched{Catalog: store(t)}
	c := lru.New(w)
	put(t, c, version(1))
	w.wrote = func() {
		require.Equal(t, "v2", title(t, c))
		before := w.docs
		require.Equal(t, "v2", title(t, c))
		require.Equal(t, before+1, w.docs, "the first read was not kept")
	}
	put(t, c, version(2))
	require.Equal(t, "v2", title(t, c))
}

// TestFailedWriteInvalidates returns an error from a write that took effect.
func TestFailedWriteInvalidates(t *testing.T) {
	w := &watched{Catalog: store(t)}
	c := lru.New(w)
	put(t, c, version(1))
	require.Equal(t, "v1", title(t, c))
	w.err = catalog.ErrUnavailable
	_, err := c.Put(t.Context(), []feed.Item{version(2)})
	require.ErrorIs(t, err, catalog.ErrUnavailable)
	_, err = c.Docs(t.Context(), []string{"a"})
	require.ErrorIs(t, err, catalog.ErrUnavailable, "the old value is gone")
	_, err = c.Profile(t.Context(), "u_1")
	require.ErrorIs(t, err, catalog.ErrUnavailable)
	_, _, err = c.Hydrate(t.Context(), "u_1", nil)
	require.ErrorIs(t, err, catalog.ErrUnavailable)
	w.err = nil
	require.Equal(t, "v2", title(t, c))
	_, err = c.Profile(t.Context(), "u_1")
	require.ErrorIs(t, err, feed.ErrNotFound, "the failure is not remembered")
}

func TestHitsCatalogDown(t *testing.T) {
	w := &watched{Catalog: store(t)}
	c := lru.New(w)
	put(t, c, version(1))
	_, _, err := c.Hydrate(t.Context(), "u_1", []string{"a"})
	require.NoError(t, err)
	w.err = catalog.ErrUnavailable
	docs, p, err := c.Hydrate(t.Context(), "u_1", []string{"a", "a"})
	require.NoError(t, err)
	require.False(t, docs[1].Missing())
	require.Equal(t, feed.Profile{}, p)
}

func TestCacheBounds(t *testing.T) {
	w := &watched{Catalog: store(t)}
	const budget = 1 << 20
	c := lru.NewLimited(w, budget, 64)
	ids := make([]string, 1000)
	items := make([]feed.Item, len(ids))
	for i := range ids {
		ids[i] = fmt.Sprint("i", i)
		items[i] = feed.Item{ID: ids[i], Title: strings.Repeat("x", 10_000), UpdateTime: 1}
	}
	huge := feed.Item{ID: "huge", Title: strings.Repeat("x", 100_000), UpdateTime: 1}
	put(t, c, append(items, huge)...)

	read := func(ids ...string) (asked int) {
		before := w.docs
		_, err := c.Docs(t.Context(), ids)
		require.NoError(t, err)
		return w.docs - before
	}
	require.Equal(t, 1000, read(ids...))
	kept := 1000 - countMisses(read, ids)
	require.LessOrEqual(t, kept*10_000, budget)
	require.Greater(t, kept*10_000, budget/2)
	require.Equal(t, 1, read("huge"))
	require.Equal(t, 1, read("huge"), "one large item is not kept")

	for i := range 200 {
		_, _ = c.Profile(t.Context(), fmt.Sprint("u", i))
	}
	before := w.profiles
	for i := range 200 {
		_, _ = c.Profile(t.Context(), fmt.Sprint("u", 199-i))
	}
	require.GreaterOrEqual(t, w.profiles-before, 200-64)
	require.Less(t, w.profiles-before, 200)
}

// countMisses reads the newest ids first, so that its reads evict only entries that were already
// counted.
func countMisses(read func(...string) int, ids []string) (n int) {
	for i := range ids {
		n += read(ids[len(ids)-1-i])
	}
	return n
}

func filled(t testing.TB) (*lru.Cache, []string) {
	c := lru.New(store(t))
	ids := make([]string, 20)
	for i := range ids {
		ids[i] = fmt.Sprintf("doc_%d", 9527+i)
		put(t, c, feed.Item{ID: ids[i], Title: "T", UpdateTime: 1})
	}
	_, _, err := c.Hydrate(t.Context(), "u_1", ids)
	require.NoError(t, err)
	return c, ids
}

func TestHitAllocations(t *testing.T) {
	c, ids := filled(t)
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { _, _ = c.Docs(t.Context(), ids) }), 1.0)
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { _, _, _ = c.Hydrate(t.Context(), "u_1", ids) }), 1.0)
}

func BenchmarkDocs20Hits(b *testing.B) {
	c, ids := filled(b)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := c.Docs(b.Context(), ids); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// Recall's ids are substrings of a text with many others: cached ids must not retain it.
func TestCachedIDRetainsNoOthers(t *testing.T) {
	const items, others = 50, 200 << 10
	next := store(t)
	var all []feed.Item
	for i := range items {
		all = append(all, feed.Item{ID: fmt.Sprintf("i%03d", i), Title: "t", UpdateTime: 1})
	}
	put(t, next, all...)
	c := lru.New(next)
	read := func(i int) {
		text := strings.Repeat("x", others) + fmt.Sprintf("i%03d", i)
		docs, p, err := c.Hydrate(t.Context(), text[len(text)-4:], []string{text[len(text)-4:]})
		require.NoError(t, err)
		require.False(t, docs[0].Missing())
		require.Zero(t, p)
	}
	read(0)
	held := testenv.Retained(func() {
		for i := range items {
			read(i)
		}
	})
	runtime.KeepAlive(c)
	t.Logf("%d bytes an item", held/items)
	assert.Less(t, held/items, int64(20<<10), "an item and a profile, not the %d bytes around their ids", others)
}
