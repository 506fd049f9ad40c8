package catalog_test

import (
	"context"
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
		removed, _, err := catalog.NewRetention(list, items, cfg).Sweep(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 23, removed)
		assert.Equal(t, 3, pages)
		assert.Equal(t, 200*time.Millisecond, time.Since(begin), "a pause between two pages")
		assert.ElementsMatch(t, []string{"old-10", "edge", "young", "future", "post:1"}, left())

		removed, _, err = catalog.NewRetention(items, items, cfg).Sweep(t.Context())
		require.NoError(t, err)
		assert.Zero(t, removed)
		now = now.Add(time.Second)
		removed, _, err = catalog.NewRetention(items, items, cfg).Sweep(t.Context())
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
		removed, _, err := catalog.NewRetention(list, items, catalog.RetentionConfig{Keep: time.Hour}).Sweep(t.Context())
		require.ErrorContains(t, err, "1 items could not be removed, the first because: damaged: ")
		assert.Equal(t, 3, removed)
	})
}

// TestRetentionBounded checks that a sweep ends after some items, and says that there are more.
func TestRetentionBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		items, err := catalogsqlite.Open(t.Context(), filepath.Join(t.TempDir(), "catalog.db"))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, items.Close()) })
		old := make([]feed.Item, 2300)
		for i := range old {
			old[i] = feed.Item{ID: fmt.Sprint("old-", i), Title: "T", UpdateTime: 1}
		}
		_, err = items.Put(t.Context(), old)
		require.NoError(t, err)
		r := catalog.NewRetention(items, items, catalog.RetentionConfig{Keep: time.Hour})
		removed, more, err := r.Sweep(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 2000, removed)
		assert.True(t, more)
		removed, more, err = r.Sweep(t.Context())
		require.NoError(t, err)
		assert.Equal(t, 300, removed)
		assert.False(t, more)
	})
}

// TestLearnedRetention has readers who act, who have not acted for longer than acts are remembered, and for
// longer than what was learned is kept; one has declared a profile, and one was erased.
func TestLearnedRetention(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		profiles, err := catalogsqlite.Open(ctx, filepath.Join(t.TempDir(), "catalog.db"))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, profiles.Close()) })
		const day = 24 * time.Hour
		now := time.Unix(1_772_791_200, 0)
		learn := func(agent string, ago time.Duration) {
			at := now.Add(-ago)
			one := feed.LearningAct{Kind: feed.Clicked, Group: "i", At: at, Features: []feed.WeightedFeature{{Feature: feed.Feature{Kind: feed.FeatureTag, Value: "go"}, Weight: 1}}}
			require.NoError(t, profiles.Learn(ctx, agent, func(l *feed.Learning) bool { return l.Add([]feed.LearningAct{one}, 0, at) }))
		}
		for i := range 2100 {
			learn(fmt.Sprintf("reader-%04d", i), day)
		}
		learn("idle", 100*day)
		learn("gone", 365*day)
		learn("gone-declared", 365*day)
		_, err = profiles.EditProfile(ctx, "gone-declared", func(p *feed.Profile) (bool, error) { p.MutedTags = []string{"mud"}; return true, nil })
		require.NoError(t, err)
		require.NoError(t, profiles.Learn(ctx, "erased", func(l *feed.Learning) bool { l.Erase(now.Add(-400 * day)); return true }))

		r := catalog.NewLearnedRetention(profiles, profiles, catalog.RetentionConfig{Keep: 365 * day, Now: func(context.Context) (time.Time, error) { return now, nil }})
		pass := func() (removed int) {
			for more := true; more; {
				var n int
				n, more, err = r.Step(ctx)
				require.NoError(t, err)
				removed += n
			}
			return removed
		}
		assert.Equal(t, 3, pass())
		assert.Zero(t, pass(), "it begins again a day later")
		now = now.Add(day)
		assert.Zero(t, pass())
		left := func(agent string) (left feed.Learning) {
			require.NoError(t, profiles.Learn(ctx, agent, func(l *feed.Learning) bool { left = *l; return false }))
			return left
		}
		assert.Len(t, left("reader-1199").Acts, 1)
		assert.Empty(t, left("idle").Acts)
		assert.Len(t, left("idle").Features, 1)
		gone, declared, erased := left("gone"), left("gone-declared"), left("erased")
		assert.True(t, gone.IsZero())
		assert.True(t, declared.IsZero())
		assert.NotZero(t, erased.Erased)
		_, err = profiles.Profile(ctx, "gone")
		require.ErrorIs(t, err, feed.ErrNotFound)
		p, err := profiles.Profile(ctx, "gone-declared")
		require.NoError(t, err)
		assert.Equal(t, []string{"mud"}, p.MutedTags)
		assert.Empty(t, p.Learned.Features)
		now = now.Add(265 * day)
		assert.Equal(t, 2101, pass(), "what was learned about one, and the acts of the others")
		assert.Empty(t, left("idle").Features)
		assert.Len(t, left("reader-1199").Features, 1)
	})
}
