package indexsync_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/catalog/catalogtest"
	catalogsqlite "github.com/freshet/freshet/catalog/sqlite"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall/indexsync"
	"github.com/freshet/freshet/signals/popularity"
	popularitysqlite "github.com/freshet/freshet/signals/popularity/sqlite"
)

// index is a recall index that records its writes.
type index struct {
	items  map[string]string // titles by id
	counts map[string]feed.Counts
	told   []int // number of items in each call
}

func newIndex() *index { return &index{items: map[string]string{}, counts: map[string]feed.Counts{}} }

func (x *index) Upsert(items []feed.Item) {
	x.told = append(x.told, len(items))
	for i := range items {
		x.items[items[i].ID] = items[i].Title
	}
}

func (x *index) Delete(id string) { delete(x.items, id) }

func (x *index) SetCounts(counts map[string]feed.Counts) {
	for id, c := range counts {
		x.counts[id] = c
	}
}

func file(t *testing.T) *catalogsqlite.Catalog {
	t.Helper()
	c, err := catalogsqlite.Open(t.Context(), filepath.Join(t.TempDir(), catalogsqlite.FileName))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

// refusing is a catalog that refuses the item "bad".
type refusing struct{ *catalogsqlite.Catalog }

func (c refusing) Put(ctx context.Context, items []feed.Item) ([]error, error) {
	i := slices.IndexFunc(items, func(it feed.Item) bool { return it.ID == "bad" })
	if i < 0 {
		return c.Catalog.Put(ctx, items)
	}
	errs := make([]error, len(items))
	errs[i] = feed.ErrInvalid
	_, err := c.Catalog.Put(ctx, slices.Delete(slices.Clone(items), i, i+1))
	return errs, err
}

func open(t *testing.T, items *catalogsqlite.Catalog, x *index) *indexsync.Catalog {
	t.Helper()
	c, err := indexsync.Open(t.Context(), refusing{items}, x, popularitysqlite.New(items.File(), 0))
	require.NoError(t, err)
	return c
}

func TestConformance(t *testing.T) {
	catalogtest.Run(t, func(t *testing.T) catalog.Catalog { return open(t, file(t), newIndex()) })
}

func item(id, title string) feed.Item {
	return feed.Item{ID: id, Title: title, UpdateTime: 1_772_798_400}
}

func put(t *testing.T, c catalog.Writer, items ...feed.Item) {
	t.Helper()
	errs, err := c.Put(t.Context(), items)
	require.NoError(t, errors.Join(append(errs, err)...))
}

// TestWritesIndexed checks that the index always has the same items as the catalog.
func TestWritesIndexed(t *testing.T) {
	t.Parallel()
	x := newIndex()
	c := open(t, file(t), x)
	put(t, c, item("a", "A"), item("b", "B"), item("c", "C"))
	errs, err := c.Put(t.Context(), []feed.Item{item("d", "D"), item("bad", "X")})
	require.NoError(t, err)
	require.ErrorIs(t, errs[1], feed.ErrInvalid)
	assert.Equal(t, map[string]string{"a": "A", "b": "B", "c": "C", "d": "D"}, x.items, "what is not stored is not indexed")

	all, err := c.Update(t.Context(), []string{"a", "b", "nothing", "c"}, func(it feed.Item) (feed.Item, error) {
		switch it.ID {
		case "a":
			it.Title = "A2"
		case "b":
			return it, catalog.RemoveItem
		default:
			return it, errors.New("no change")
		}
		return it, nil
	})
	require.NoError(t, err)
	require.Len(t, all, 4)
	assert.Equal(t, map[string]string{"a": "A2", "c": "C", "d": "D"}, x.items)

	require.NoError(t, c.Remove(t.Context(), "a"))
	x.items["gone"] = "is in no catalog"
	require.ErrorIs(t, c.Remove(t.Context(), "gone"), feed.ErrNotFound)
	assert.Equal(t, map[string]string{"c": "C", "d": "D"}, x.items)

	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = c.Put(gone, []feed.Item{item("e", "E")})
	require.Error(t, err)
	require.Error(t, c.Remove(gone, "c"))
	assert.Equal(t, map[string]string{"c": "C", "d": "D"}, x.items, "what failed changes nothing")
}

// TestOpenBuildsIndex checks that the index gets all stored items and counts, in batches that
// use little memory.
func TestOpenBuildsIndex(t *testing.T) {
	t.Parallel()
	items := file(t)
	var many []feed.Item
	for i := range 10_001 {
		many = append(many, item(fmt.Sprintf("i%d", i), "T"))
	}
	for batch := range slices.Chunk(many, 1000) {
		put(t, items, batch...)
	}
	first := newIndex()
	c := open(t, items, first)
	assert.Equal(t, []int{10_000, 1}, first.told)
	assert.Len(t, first.items, 10_001)
	act := popularity.Act{Agent: popularity.Agent("u"), Item: "i7", At: 1_772_798_400}
	require.NoError(t, c.Count(t.Context(), []popularity.Act{act}))
	want := map[string]feed.Counts{"i7": feed.Counts{}.Add(act.At)}
	assert.Equal(t, want, first.counts)

	again := newIndex()
	c = open(t, items, again)
	assert.Equal(t, want, again.counts)
	require.NoError(t, c.Count(t.Context(), []popularity.Act{act}))
	assert.Equal(t, want, again.counts, "it counts once")
	require.NoError(t, c.Forget(t.Context(), act.Agent))
	require.NoError(t, c.Count(t.Context(), []popularity.Act{act}))
	assert.NotEqual(t, want, again.counts, "nobody knows any more that it was counted")
}
