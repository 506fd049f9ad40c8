package postitems_test

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	catalogsqlite "github.com/freshet/freshet/catalog/sqlite"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/postitems"
	socialsqlite "github.com/freshet/freshet/social/sqlite"
)

func open(t *testing.T) (*postitems.Catalog, *socialsqlite.Store) {
	t.Helper()
	items, err := catalogsqlite.Open(t.Context(), filepath.Join(t.TempDir(), "catalog.db"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, items.Close()) })
	store, err := socialsqlite.Open(t.Context(), filepath.Join(t.TempDir(), "social.db"), social.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, store.Close()) })
	_, err = items.Put(t.Context(), []feed.Item{{ID: "a", Title: "A", UpdateTime: 1}, {ID: "b", Title: "B", UpdateTime: 2}})
	require.NoError(t, err)
	return postitems.New(items, store, nil, nil), store
}

func publish(t *testing.T, store *socialsqlite.Store, a social.Audience) social.Post {
	t.Helper()
	p, _, err := store.CreatePost(t.Context(), social.Post{Author: "ann", Caption: "Snow on the pass\n#ski", Audience: a}, social.Creation{})
	require.NoError(t, err)
	return p.Post
}

func TestPostsReadFromStore(t *testing.T) {
	t.Parallel()
	c, store := open(t)
	p, closed := publish(t, store, social.Audience{Public: true}), publish(t, store, social.Audience{Followers: true})
	// The item of a post only makes it findable; its content comes from the store.
	_, err := c.Put(t.Context(), []feed.Item{{ID: p.ID, Title: "stale", UpdateTime: p.CreatedAt}})
	require.NoError(t, err)
	ids := []string{"a", p.ID, "nothing", closed.ID, "b", p.ID}
	docs, err := c.Docs(t.Context(), ids)
	require.NoError(t, err)
	require.Len(t, docs, len(ids))
	for i, there := range []bool{true, true, false, false, true, true} {
		assert.Equal(t, ids[i], docs[i].ID)
		assert.Equal(t, there, !docs[i].Missing(), ids[i])
	}
	group, at, err := docs[1].Head()
	require.NoError(t, err)
	assert.Equal(t, p.ID, group)
	assert.Equal(t, p.CreatedAt, at)
	it, err := docs[1].Item()
	require.NoError(t, err)
	it.Business = nil // has the post's own fields
	assert.Equal(t, feed.Item{
		ID: p.ID, Title: "Snow on the pass", Summary: "Snow on the pass\n#ski", UpdateTime: p.CreatedAt, AuthorID: "ann", Tags: []string{"ski"},
	}, it)

	_, err = store.Follow(t.Context(), "reader", "ann", time.Time{})
	require.NoError(t, err)
	docs, _, err = c.Hydrate(t.Context(), "reader", []string{closed.ID, "a"})
	require.NoError(t, err)
	var entry struct {
		InFeed struct{ Source, Reason string } `json:"in_feed"`
	}
	require.NoError(t, json.Unmarshal(docs[0].JSON, &entry))
	assert.Equal(t, "discovery", entry.InFeed.Source)
	assert.Equal(t, "follow", entry.InFeed.Reason)
	require.NoError(t, store.DeletePost(t.Context(), p.ID, "ann", time.Time{}))
	docs, _, err = c.Hydrate(t.Context(), "reader", []string{p.ID, "a"})
	require.NoError(t, err)
	assert.True(t, docs[0].Missing(), "at once, although the catalog still has its item")
	assert.False(t, docs[1].Missing())
	require.ErrorIs(t, c.Remove(t.Context(), p.ID), feed.ErrBadID)
	require.NoError(t, c.Remove(t.Context(), "a"))
}

// down is a catalog whose reads fail.
type down struct{ catalog.Catalog }

var errDown = errors.New("refused")

func (down) Docs(_ context.Context, ids []string) ([]feed.Doc, error) {
	return nil, errors.Join(catalog.ErrUnavailable, errDown)
}

func TestOneStoreDown(t *testing.T) {
	t.Parallel()
	c, store := open(t)
	p := publish(t, store, social.Audience{Public: true})
	_, err := postitems.New(down{c}, store, nil, nil).Docs(t.Context(), []string{"a", p.ID})
	require.ErrorIs(t, err, errDown)
	docs, err := c.Docs(t.Context(), []string{"a"})
	require.NoError(t, err)
	assert.False(t, docs[0].Missing())
	require.NoError(t, store.Close())
	docs, err = c.Docs(t.Context(), []string{"a", p.ID})
	require.ErrorIs(t, err, catalog.ErrUnavailable)
	require.ErrorIs(t, err, social.ErrUnavailable)
	require.Len(t, docs, 2)
	assert.False(t, docs[0].Missing())
	assert.True(t, docs[1].Missing())
}

// itemsAhead and cardsAhead record the ids they prefetch.
type itemsAhead struct {
	catalog.Catalog
	asked []string
}

func (a *itemsAhead) Prefetch(_ context.Context, ids []string) error {
	a.asked = append(a.asked, ids...)
	return nil
}

type cardsAhead struct {
	asked []string
	err   error
}

func (a *cardsAhead) CacheAhead(_ context.Context, ids []string) error {
	a.asked = append(a.asked, ids...)
	return a.err
}

// TestPrefetch checks that each id is prefetched by the side that stores it, if that side has a
// cache.
func TestPrefetch(t *testing.T) {
	t.Parallel()
	ids := []string{"a", "post:1", "b", "post:2"}
	items, cards := &itemsAhead{}, &cardsAhead{}
	c := postitems.New(items, nil, nil, cards)
	require.NoError(t, c.Prefetch(t.Context(), ids))
	assert.Equal(t, []string{"a", "b"}, items.asked)
	assert.Equal(t, []string{"post:1", "post:2"}, cards.asked)

	cards.err = social.ErrUnavailable
	require.ErrorIs(t, c.Prefetch(t.Context(), ids), catalog.ErrUnavailable)

	neither, _ := open(t)
	require.NoError(t, neither.Prefetch(t.Context(), ids))
}
