package catalogtest

import (
	"encoding/json"
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
)

func update(t *testing.T, c catalog.Catalog) {
	old, other := item("update/1", "Old"), item("update/2", "Bystander")
	old.Likes, old.Business = 7, map[string]json.RawMessage{"price": json.RawMessage(`1.50`)}
	put(t, c, old, other)
	docs(t, c, old.ID) // fill the cache, if there is one
	want := old
	want.Title, want.Likes = "New", 0
	got, err := catalog.UpdateOne(t.Context(), c, old.ID, func(it feed.Item) (feed.Item, error) {
		RequireEqual(t, old, it)
		it.Title, it.Likes = "New", 0
		return it, nil
	})
	require.NoError(t, err)
	RequireEqual(t, want, got)
	requireItem(t, want, docs(t, c, old.ID)[0])
	requireItem(t, other, docs(t, c, other.ID)[0])

	refused := errors.New("refused")
	_, err = catalog.UpdateOne(t.Context(), c, old.ID, func(it feed.Item) (feed.Item, error) { return it, refused })
	require.ErrorIs(t, err, refused)
	require.NotErrorIs(t, err, catalog.ErrUnavailable)
	requireItem(t, want, docs(t, c, old.ID)[0])

	_, err = catalog.UpdateOne(t.Context(), c, "update/none", func(it feed.Item) (feed.Item, error) {
		t.Error("there is nothing to change")
		return it, nil
	})
	require.ErrorIs(t, err, feed.ErrNotFound)
	require.True(t, docs(t, c, "update/none")[0].Missing())
}

// updateMany changes some items of a call, rejects one and includes one that does not exist.
func updateMany(t *testing.T, c catalog.Catalog) {
	first, refused, last, other := item("update/first", "T"), item("update/refused", "T"), item("update/last", "T"), item("update/other", "T")
	put(t, c, first, refused, last, other)
	ids := []string{first.ID, "update/none", refused.ID, last.ID}
	docs(t, c, ids...) // fill the cache, if there is one
	no := errors.New("refused")
	all, err := c.Update(t.Context(), ids, func(it feed.Item) (feed.Item, error) {
		if it.ID == refused.ID {
			return it, no
		}
		it.Likes = 5
		return it, nil
	})
	require.NoError(t, err)
	require.Len(t, all, len(ids))
	first.Likes, last.Likes = 5, 5
	for i, want := range map[int]feed.Item{0: first, 3: last} {
		require.NoError(t, all[i].Err)
		RequireEqual(t, want, all[i].Item)
	}
	require.ErrorIs(t, all[1].Err, feed.ErrNotFound)
	require.ErrorIs(t, all[2].Err, no)
	got := docs(t, c, append(ids, other.ID)...)
	requireItem(t, first, got[0])
	require.True(t, got[1].Missing())
	requireItem(t, refused, got[2])
	requireItem(t, last, got[3])
	requireItem(t, other, got[4])

	all, err = c.Update(t.Context(), nil, func(it feed.Item) (feed.Item, error) { return it, nil })
	require.NoError(t, err)
	require.Empty(t, all)
}

// updateRemoves removes one of two items with the result of change.
func updateRemoves(t *testing.T, c catalog.Catalog) {
	old, kept := item("update/old", "T"), item("update/kept", "T")
	put(t, c, old, kept)
	docs(t, c, old.ID, kept.ID)
	sweep := func() []catalog.Updated {
		all, err := c.Update(t.Context(), []string{old.ID, kept.ID}, func(it feed.Item) (feed.Item, error) {
			if it.ID == old.ID {
				return it, catalog.RemoveItem
			}
			return it, nil
		})
		require.NoError(t, err)
		return all
	}
	all := sweep()
	require.Equal(t, catalog.Updated{Removed: true}, all[0])
	require.NoError(t, all[1].Err)
	require.False(t, all[1].Removed)
	got := docs(t, c, old.ID, kept.ID)
	require.True(t, got[0].Missing())
	requireItem(t, kept, got[1])
	require.ErrorIs(t, c.Remove(t.Context(), old.ID), feed.ErrNotFound)
	all = sweep()
	require.ErrorIs(t, all[0].Err, feed.ErrNotFound, "nothing is removed twice")
	require.False(t, all[0].Removed)
	put(t, c, old)
	requireItem(t, old, docs(t, c, old.ID)[0])
}

// updatedAtOnce increments one item concurrently: no increment may be lost.
func updatedAtOnce(t *testing.T, c catalog.Catalog) {
	const workers, each = 3, 5
	it := item("update/at-once", "T")
	put(t, c, it)
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for range each {
				_, err := catalog.UpdateOne(t.Context(), c, it.ID, func(it feed.Item) (feed.Item, error) {
					it.Likes++
					return it, nil
				})
				assert.NoError(t, err)
			}
		})
	}
	all.Wait()
	it.Likes = workers * each
	requireItem(t, it, docs(t, c, it.ID)[0])
}
