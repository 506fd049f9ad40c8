package popularitysync_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	catalogelastic "github.com/freshet/freshet/catalog/elastic"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/signals/popularity"
	"github.com/freshet/freshet/signals/popularity/popularitysync"
)

const noon = 1_772_798_400

// counts is a store of item counts that can be made to fail.
type counts struct {
	of      map[string]feed.Counts
	changed []string
	err     error
}

func (c *counts) Counts(_ context.Context, items []string) (map[string]feed.Counts, error) {
	found := map[string]feed.Counts{}
	for _, id := range items {
		if n, ok := c.of[id]; ok {
			found[id] = n
		}
	}
	return found, c.err
}

func (c *counts) Changed(ctx context.Context, items []string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.changed = append(c.changed, items...)
	return c.err
}

func (c *counts) Drop(_ context.Context, items []string) error {
	for _, id := range items {
		delete(c.of, id)
	}
	return c.err
}

// open opens a catalog over a separate index, and returns a function that reads the live popularity
// of a document.
func open(t *testing.T, c *counts) (popularitysync.Catalog, func(id string) float64) {
	t.Helper()
	address, index := testenv.Elastic(t)
	client, err := esindex.Connect(esindex.ClientConfig{Addresses: []string{address}})
	require.NoError(t, err)
	_, err = esindex.Ensure(t.Context(), client, index, esindex.Fields{})
	require.NoError(t, err)
	report, err := esindex.Inspect(t.Context(), client, index, esindex.Fields{})
	require.NoError(t, err)
	items := catalogelastic.New(client, catalogelastic.Config{Index: index, Schema: esindex.Known(report.Schema), Counts: popularitysync.Of(c)})
	return popularitysync.New(items, c), func(id string) float64 {
		var doc struct {
			Source struct {
				Sum float64 `json:"freshet_sum_2h"`
			} `json:"_source"`
		}
		require.NoError(t, esindex.Do(t.Context(), client, http.MethodGet, "/"+index+"/_doc/"+id, "", nil,
			func(b []byte) error { return json.Unmarshal(b, &doc) }))
		return doc.Source.Sum
	}
}

func item(id string) feed.Item { return feed.Item{ID: id, Title: id, UpdateTime: noon} }

func put(t *testing.T, c catalog.Writer, ids ...string) {
	t.Helper()
	var items []feed.Item
	for _, id := range ids {
		items = append(items, item(id))
	}
	errs, err := c.Put(t.Context(), items)
	require.NoError(t, errors.Join(append(errs, err)...))
}

// TestPutKeepsCounts checks that a put writes an item's counts and marks them as changed, so
// acts counted meanwhile are written later.
func TestPutKeepsCounts(t *testing.T) {
	t.Parallel()
	of := &counts{of: map[string]feed.Counts{"a": feed.Counts{}.Add(noon)}}
	c, sum := open(t, of)
	put(t, c, "a", "b")
	assert.Positive(t, sum("a"))
	assert.Zero(t, sum("b"))
	assert.Equal(t, []string{"a"}, of.changed)
}

// TestPutCanceled: a canceled put may have stored some of the items, so their counts must be
// written.
func TestPutCanceled(t *testing.T) {
	t.Parallel()
	of := &counts{of: map[string]feed.Counts{"a": feed.Counts{}.Add(noon)}}
	c, _ := open(t, of)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.Put(gone, []feed.Item{item("a")})
	require.Error(t, err)
	assert.Equal(t, []string{"a"}, of.changed)
}

// TestRemoveDeletesCounts checks that the counts of removed items are deleted, and no others.
func TestRemoveDeletesCounts(t *testing.T) {
	t.Parallel()
	of := &counts{of: map[string]feed.Counts{}}
	for _, id := range []string{"a", "b", "c", "nothing"} {
		of.of[id] = feed.Counts{}.Add(noon)
	}
	c, _ := open(t, of)
	put(t, c, "a", "b", "c")
	left := func() (ids []string) {
		for id := range of.of {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		return ids
	}
	require.NoError(t, c.Remove(t.Context(), "a"))
	assert.Equal(t, []string{"b", "c", "nothing"}, left())
	_, err := c.Update(t.Context(), []string{"b", "c"}, func(it feed.Item) (feed.Item, error) {
		if it.ID == "b" {
			return it, catalog.RemoveItem
		}
		it.Title = "other"
		return it, nil
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"c", "nothing"}, left())
	require.ErrorIs(t, c.Remove(t.Context(), "nothing"), feed.ErrNotFound)
	assert.Equal(t, []string{"c"}, left(), "a removal that was repeated forgets what the first one left")
}

// TestCountsUnreadable checks that unreadable counts are reported as an unavailable catalog.
func TestCountsUnreadable(t *testing.T) {
	t.Parallel()
	of := &counts{err: fmt.Errorf("%w: no connection", popularity.ErrUnavailable)}
	c, _ := open(t, of)
	_, err := c.Put(t.Context(), []feed.Item{item("a")})
	require.ErrorIs(t, err, catalog.ErrUnavailable)
	require.ErrorIs(t, err, popularity.ErrUnavailable)
	require.ErrorIs(t, c.Remove(t.Context(), "a"), catalog.ErrUnavailable)
	_, err = popularitysync.Of(of)(t.Context(), []string{"a"})
	require.ErrorIs(t, err, catalog.ErrUnavailable)
	refused := errors.New("wrong kind")
	of.err = refused
	_, err = popularitysync.Of(of)(t.Context(), []string{"a"})
	require.ErrorIs(t, err, refused)
	require.NotErrorIs(t, err, catalog.ErrUnavailable)
}
