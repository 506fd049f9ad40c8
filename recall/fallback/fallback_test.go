package fallback_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/catalog/catalogtest"
	catalogsqlite "github.com/freshet/freshet/catalog/sqlite"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
	"github.com/freshet/freshet/recall/fallback"
)

var noon = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

// cut is a catalog that can be disconnected before or after it executes a call.
type cut struct {
	catalog.Catalog
	before, after bool
}

var errDown = fmt.Errorf("%w: no connection", catalog.ErrUnavailable)

func (c *cut) Docs(ctx context.Context, ids []string) ([]feed.Doc, error) {
	if c.before {
		return nil, errDown
	}
	return c.Catalog.Docs(ctx, ids)
}

func (c *cut) Profile(ctx context.Context, agent string) (feed.Profile, error) {
	if c.before {
		return feed.Profile{}, errDown
	}
	return c.Catalog.Profile(ctx, agent)
}

func (c *cut) Hydrate(ctx context.Context, agent string, ids []string) ([]feed.Doc, feed.Profile, error) {
	return catalog.Hydrate(ctx, c, c, agent, ids)
}

func (c *cut) Put(ctx context.Context, items []feed.Item) ([]error, error) {
	if c.before {
		return nil, errDown
	}
	return c.Catalog.Put(ctx, items)
}

func (c *cut) Remove(ctx context.Context, id string) error {
	err := c.Catalog.Remove(ctx, id)
	if c.after {
		return errDown
	}
	return err
}

// some is a source that recalls the same items for everyone.
type some []string

func (some) Name() string { return "some" }

func (s some) Recall(context.Context, feed.Query) (recall.Result, error) {
	var found []feed.Candidate
	for _, id := range s {
		found = append(found, feed.Candidate{ID: id, Group: id, Score: 1})
	}
	return recall.Result{Candidates: found}, nil
}

func store(t *testing.T) *cut {
	t.Helper()
	c, err := catalogsqlite.Open(t.Context(), filepath.Join(t.TempDir(), catalogsqlite.FileName))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return &cut{Catalog: c}
}

// kept returns a catalog of a, b, c and d, with a fallback list of a, b and c.
func kept(t *testing.T) (*cut, fallback.Catalog) {
	t.Helper()
	under := store(t)
	for _, id := range []string{"a", "b", "c", "d"} {
		put(t, under, id, id)
	}
	shared := recall.NewShared(some{"a", "b", "c"}, func() time.Time { return noon }, recall.SharedConfig{Fallback: time.Minute})
	require.NoError(t, shared.RenewFallback(t.Context(), feed.Query{N: 10}, under.Docs, nil))
	return under, fallback.New(under, shared)
}

func put(t *testing.T, c catalog.Writer, id, title string) {
	t.Helper()
	errs, err := c.Put(t.Context(), []feed.Item{{ID: id, Title: title, UpdateTime: noon.Unix()}})
	require.NoError(t, errors.Join(append(errs, err)...))
}

// titles returns the titles of documents, "" for missing ones.
func titles(t *testing.T, docs []feed.Doc) []string {
	t.Helper()
	out := make([]string, len(docs))
	for i, d := range docs {
		if !d.Missing() {
			it, err := d.Item()
			require.NoError(t, err)
			assert.Equal(t, it.ID, d.ID)
			out[i] = it.Title
		}
	}
	return out
}

func TestConformance(t *testing.T) {
	catalogtest.Run(t, func(t *testing.T) catalog.Catalog {
		return fallback.New(store(t), recall.NewShared(some{}, time.Now, recall.SharedConfig{}))
	})
}

// TestListFillsCatalogOutage checks that the error remains only if an item is
// missing.
func TestListFillsCatalogOutage(t *testing.T) {
	t.Parallel()
	under, c := kept(t)
	under.before = true
	docs, err := c.Docs(t.Context(), []string{"c", "a", "b"})
	require.NoError(t, err)
	assert.Equal(t, []string{"c", "a", "b"}, titles(t, docs))
	docs, err = c.Docs(t.Context(), []string{"a", "d"})
	require.ErrorIs(t, err, catalog.ErrUnavailable)
	assert.Equal(t, []string{"a", ""}, titles(t, docs))

	_, _, err = c.Hydrate(t.Context(), "u", []string{"a"})
	require.ErrorIs(t, err, catalog.ErrUnavailable, "the reader may have muted it")

	under.before = false
	require.NoError(t, under.Remove(t.Context(), "a"))
	docs, err = c.Docs(t.Context(), []string{"a", "b"})
	require.NoError(t, err)
	assert.Equal(t, []string{"", "b"}, titles(t, docs), "the catalog answers that it is not there")
}

// TestListFollowsWrites checks that writes update the list, so it shows nothing deleted or
// outdated.
func TestListFollowsWrites(t *testing.T) {
	t.Parallel()
	under, c := kept(t)
	put(t, c, "a", "A2")
	put(t, c, "d", "D2") // not in the list
	_, err := c.Update(t.Context(), []string{"b", "c"}, func(it feed.Item) (feed.Item, error) {
		if it.ID == "b" {
			return it, catalog.RemoveItem
		}
		it.Title = "C2"
		return it, nil
	})
	require.NoError(t, err)
	under.before = true
	_, err = c.Put(t.Context(), []feed.Item{{ID: "a", Title: "A3", UpdateTime: noon.Unix()}})
	require.ErrorIs(t, err, catalog.ErrUnavailable)
	docs, err := c.Docs(t.Context(), []string{"a", "b", "c", "d"})
	require.ErrorIs(t, err, catalog.ErrUnavailable)
	assert.Equal(t, []string{"A2", "", "C2", ""}, titles(t, docs))
}

// TestListHidesFailedRemovals: a removal that failed may have succeeded, with only its reply
// lost.
func TestListHidesFailedRemovals(t *testing.T) {
	t.Parallel()
	under, c := kept(t)
	under.before, under.after = true, true
	require.ErrorIs(t, c.Remove(t.Context(), "a"), catalog.ErrUnavailable)
	docs, err := c.Docs(t.Context(), []string{"a", "b"})
	require.ErrorIs(t, err, catalog.ErrUnavailable)
	assert.Equal(t, []string{"", "b"}, titles(t, docs))
}
