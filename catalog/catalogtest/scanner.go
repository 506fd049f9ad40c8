package catalogtest

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
)

// RunScanner checks a catalog that implements [catalog.Scanner]. Each check opens a separate
// catalog, which must be empty.
func RunScanner(t *testing.T, open func(t *testing.T) catalog.Catalog) {
	t.Run("Scan/every item once", func(t *testing.T) { scanEveryItemOnce(t, open(t)) })
	t.Run("Scan/stops", func(t *testing.T) { scanStops(t, open(t)) })
	t.Run("Scan/other calls meanwhile", func(t *testing.T) { scanMeanwhile(t, open(t)) })
}

func scanner(t *testing.T, c catalog.Catalog) catalog.Scanner {
	t.Helper()
	s, ok := c.(catalog.Scanner)
	require.True(t, ok, "%T implements catalog.Scanner", c)
	return s
}

func scanEveryItemOnce(t *testing.T, c catalog.Catalog) {
	s := scanner(t, c)
	for it, err := range s.Scan(t.Context()) {
		require.Fail(t, "an empty catalog has no items", "%s: %v", it.ID, err)
	}

	want := map[string]feed.Item{}
	var items []feed.Item
	for i := range 2500 {
		it := item(fmt.Sprintf("scan/%d", i), fmt.Sprintf("Item %d", i))
		it.Likes = int64(i)
		items = append(items, it)
		want[it.ID] = it
	}
	put(t, c, items...)
	for i := range 10 {
		renewed := item(fmt.Sprintf("scan/%d", i*100), "Renewed")
		put(t, c, renewed)
		want[renewed.ID] = renewed
		gone := fmt.Sprintf("scan/%d", i*100+1)
		require.NoError(t, c.Remove(t.Context(), gone))
		delete(want, gone)
	}
	require.NoError(t, PutProfile(t.Context(), c, "u_1", feed.Profile{Keywords: feed.Keywords("no item")}))

	for it, err := range s.Scan(t.Context()) {
		require.NoError(t, err)
		w, ok := want[it.ID]
		require.True(t, ok, "item %s came twice or does not exist", it.ID)
		delete(want, it.ID)
		RequireEqual(t, w, it)
	}
	require.Empty(t, want, "items that were not scanned")
}

func scanStops(t *testing.T, c catalog.Catalog) {
	s := scanner(t, c)
	put(t, c, item("stop-1", "A"), item("stop-2", "B"), item("stop-3", "C"))

	items := 0
	for _, err := range s.Scan(t.Context()) {
		require.NoError(t, err)
		items++
		if items == 2 {
			break
		}
	}
	require.Equal(t, 2, items)

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var errs []error
	for _, err := range s.Scan(ctx) {
		errs = append(errs, err)
	}
	require.Len(t, errs, 1)
	require.ErrorIs(t, errs[0], context.Canceled)

	items = 0
	for _, err := range s.Scan(t.Context()) {
		require.NoError(t, err)
		items++
	}
	require.Equal(t, 3, items)
}

func scanMeanwhile(t *testing.T, c catalog.Catalog) {
	s := scanner(t, c)
	put(t, c, item("mean-1", "A"), item("mean-2", "B"))
	for it, err := range s.Scan(t.Context()) {
		require.NoError(t, err)
		requireItem(t, it, docs(t, c, it.ID)[0])
		put(t, c, it)
		require.NoError(t, PutProfile(t.Context(), c, "u_scan", feed.Profile{}))
	}
}
