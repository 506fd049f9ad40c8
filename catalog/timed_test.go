package catalog_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/catalog/catalogtest"
	"github.com/freshet/freshet/catalog/lru"
	catalogsqlite "github.com/freshet/freshet/catalog/sqlite"
	"github.com/freshet/freshet/feed"
)

// TestTimedMutesEnd checks that no call returns a mute that has ended, whatever a cache has, and that
// the next change removes it.
func TestTimedMutesEnd(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	stored, err := catalogsqlite.Open(ctx, filepath.Join(t.TempDir(), "catalog.db"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = stored.Close() })
	now := time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)
	end := now.Add(time.Minute)
	c := catalog.Timed{Catalog: lru.New(stored), Clock: func() time.Time { return now }}
	timed := feed.Profile{
		MutedAuthors: []string{"ann"}, MutedItems: []string{"a"}, MutedWords: []feed.MutedWord{{Term: "war", Until: end}},
		MutedUntil: feed.MuteEnds{Authors: map[string]time.Time{"ann": end}, Items: map[string]time.Time{"a": end}},
	}
	require.NoError(t, catalogtest.PutProfile(ctx, c, "u", timed))
	all := func() (list []feed.Profile) {
		t.Helper()
		one, err := c.Profile(ctx, "u")
		require.NoError(t, err)
		many, err := c.ProfilesOf(ctx, []string{"u"})
		require.NoError(t, err)
		_, read, err := c.Hydrate(ctx, "u", nil)
		require.NoError(t, err)
		edited, err := c.EditProfile(ctx, "u", func(p *feed.Profile) (bool, error) {
			list = append(list, *p)
			return false, nil
		})
		require.NoError(t, err)
		return append(list, one, many[0], read, edited)
	}
	for _, p := range all() {
		require.Equal(t, timed, p)
	}
	now = end
	for _, p := range all() {
		require.Equal(t, feed.Profile{}, p)
	}
	before, err := stored.Profile(ctx, "u")
	require.NoError(t, err)
	require.Equal(t, timed, before, "ending is no write")
	require.NoError(t, catalogtest.PutProfile(ctx, c, "u", feed.Profile{Langs: []string{"en"}}))
	after, err := stored.Profile(ctx, "u")
	require.NoError(t, err)
	require.Equal(t, feed.Profile{Langs: []string{"en"}}, after)
}

// TestTimedMutesMakeRoom checks that hidden items whose mute has ended do not count.
func TestTimedMutesMakeRoom(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	stored, err := catalogsqlite.Open(ctx, filepath.Join(t.TempDir(), "catalog.db"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = stored.Close() })
	now := time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)
	c := catalog.Timed{Catalog: stored, Clock: func() time.Time { return now }}
	full := feed.Profile{MutedUntil: feed.MuteEnds{Items: map[string]time.Time{"i0": now.Add(time.Minute)}}}
	for i := range feed.MaxMutedItems {
		full.MutedItems = append(full.MutedItems, fmt.Sprint("i", i))
	}
	require.NoError(t, catalogtest.PutProfile(ctx, c, "u", full))
	require.ErrorIs(t, c.MuteItems(ctx, "u", []string{"more"}), feed.ErrLimit)
	now = now.Add(time.Minute)
	require.NoError(t, c.MuteItems(ctx, "u", []string{"more"}))
	p, err := c.Profile(ctx, "u")
	require.NoError(t, err)
	require.Len(t, p.MutedItems, feed.MaxMutedItems)
	require.NotContains(t, p.MutedItems, "i0")
}
