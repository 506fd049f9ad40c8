package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	catalogsqlite "github.com/freshet/freshet/catalog/sqlite"
	"github.com/freshet/freshet/feed"
)

// between lists pages of at most limit items, and calls do after each.
type between struct {
	catalog.Lister
	limit int
	do    func(catalog.Page)
}

func (b between) List(ctx context.Context, s catalog.Selection) (catalog.Page, error) {
	s.Limit = b.limit
	page, err := b.Lister.List(ctx, s)
	b.do(page)
	return page, err
}

func TestRetention(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		now := time.Unix(1_772_791_200, 0)
		items, err := catalogsqlite.Open(t.Context(), filepath.Join(t.TempDir(), "catalog.db"))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, items.Close()) })
		put := func(id string, age time.Duration) {
			_, err := items.Put(t.Context(), []feed.Item{{ID: id, Title: "T", UpdateTime: now.Add(-age).Unix()}})
			require.NoError(t, err)
		}
		left := func() (ids []string) {
			for it, err := range items.Scan(t.Context()) {
				require.NoError(t, err)
				ids = append(ids, it.ID)
			}
			return ids
		}
		for i := range 25 {
			put(fmt.Sprintf("old-%d", i), time.Duration(i+25)*time.Hour)
		}
		put("edge", 24*time.Hour)
		put("young", time.Hour)
		put("future", -time.Hour)
		put("post:1", 1000*time.Hour)

		pages := 0
		list := between{items, 10, func(page catalog.Page) {
			if pages++; pages != 2 {
				return
			}
			put(page.Items[0].ID, time.Minute) // a newer version
			require.NoError(t, items.Remove(t.Context(), page.Items[1].ID))
		}}
		cfg := catalog.RetentionConfig{Keep: 24 * time.Hour, Now: func(context.Context) (time.Time, error) { return now, nil }}
		begin := time.Now()
		removed, err := catalog.NewRetention(list, items, cfg).Sweep(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 23, removed)
		assert.Equal(t, 3, pages)
		assert.Equal(t, 200*time.Millisecond, time.Since(begin), "a pause between two pages")
		assert.ElementsMatch(t, []string{"old-10", "edge", "young", "future", "post:1"}, left())

		removed, err = catalog.NewRetention(items, items, cfg).Sweep(t.Context())
		require.NoError(t, err)
		assert.Zero(t, removed)
		now = now.Add(time.Second)
		removed, err = catalog.NewRetention(items, items, cfg).Sweep(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 1, removed, "the edge")
	})
}

// TestRetentionDamagedDocument: a document that cannot be read does not stop the removal of other
// items.
func TestRetentionDamagedDocument(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		items, err := catalogsqlite.Open(t.Context(), filepath.Join(t.TempDir(), "catalog.db"))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, items.Close()) })
		for i, id := range []string{"oldest", "older", "damaged", "old"} {
			_, err := items.Put(t.Context(), []feed.Item{{ID: id, Title: "T", UpdateTime: int64(i + 1)}})
			require.NoError(t, err)
		}
		_, err = items.File().Writer.ExecContext(t.Context(), `UPDATE items SET doc = CAST('{"id"' AS BLOB) WHERE id = 'damaged'`)
		require.NoError(t, err)
		list := between{items, 1, func(catalog.Page) {}}
		removed, err := catalog.NewRetention(list, items, catalog.RetentionConfig{Keep: time.Hour}).Sweep(t.Context())
		require.ErrorContains(t, err, "1 items could not be removed, the first because: damaged: ")
		assert.Equal(t, 3, removed)
	})
}

// TestRetentionTurns has a turn that belongs to another server, one whose check fails, and one
// of its own.
func TestRetentionTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		items, err := catalogsqlite.Open(t.Context(), filepath.Join(t.TempDir(), "catalog.db"))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, items.Close()) })
		_, err = items.Put(t.Context(), []feed.Item{{ID: "old", Title: "T", UpdateTime: 1}})
		require.NoError(t, err)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var turns []time.Duration
		begin, lists := time.Now(), 0
		catalog.NewRetention(between{items, 1, func(catalog.Page) {
			lists++
			assert.Len(t, turns, 3)
			stop()
		}}, items, catalog.RetentionConfig{
			Keep: time.Hour,
			Turn: func(context.Context) (bool, error) {
				turns = append(turns, time.Since(begin))
				return len(turns) == 3, map[int]error{2: errors.New("no answer")}[len(turns)]
			},
		}).Run(ctx)
		assert.Equal(t, 1, lists)
		assert.Equal(t, []time.Duration{0, 10 * time.Minute, 20 * time.Minute}, turns)
	})
}
