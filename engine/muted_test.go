package engine_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
)

func mutedIDs(p engine.MutedPage) (ids, withContent []string) {
	for _, e := range p.Entries {
		ids = append(ids, e.ID)
		if !e.Missing() {
			withContent = append(withContent, e.ID)
		}
	}
	return ids, withContent
}

// TestMuted lists what an agent has hidden, the last first, with the content of items that exist.
func TestMuted(t *testing.T) {
	t.Parallel()
	r := newRig(t, 5, nil)
	until := r.clock().Add(time.Hour).UTC()
	require.NoError(t, r.PutProfile(t.Context(), "u_1", feed.Profile{
		MutedItems: []string{"i003", "a_group", "i001", "deleted"}, MutedUntil: feed.MuteEnds{Items: map[string]time.Time{"i003": until}},
	}))
	page, err := r.Muted(t.Context(), "u_1", "", 10)
	require.NoError(t, err)
	ids, shown := mutedIDs(page)
	assert.Equal(t, []string{"deleted", "i001", "a_group", "i003"}, ids)
	assert.Equal(t, []string{"i001", "i003"}, shown)
	assert.Equal(t, until, page.Entries[3].Until)
	assert.Zero(t, page.Entries[1].Until)
	assert.Empty(t, page.Next)
	assert.Empty(t, page.Degraded)
	none, err := r.Muted(t.Context(), "nobody", "", 10)
	require.NoError(t, err)
	assert.Equal(t, engine.MutedPage{}, none)
}

// TestMutedPages pages through a list that changes meanwhile: nothing that stays in it is left out.
func TestMutedPages(t *testing.T) {
	t.Parallel()
	for limit := 1; limit < 6; limit++ {
		r := newRig(t, 12, nil)
		all := run(0, 10)
		set := func(list []string) {
			require.NoError(t, r.PutProfile(t.Context(), "u_1", feed.Profile{MutedItems: list}))
		}
		set(all)
		met, cursor, gone := map[string]bool{}, "", map[string]bool{}
		for n := 0; ; n++ {
			page, err := r.Muted(t.Context(), "u_1", cursor, limit)
			require.NoError(t, err)
			ids, _ := mutedIDs(page)
			for _, id := range ids {
				met[id] = true
			}
			if page.Next == "" {
				break
			}
			cursor = page.Next
			switch last := ids[len(ids)-1]; n {
			case 0: // another item is hidden, and the one that the cursor names is shown again
				gone[last] = true
				all = append(slices.DeleteFunc(all, func(id string) bool { return id == last }), "i010")
			case 1: // the one that was hidden first is shown again
				gone[all[0]] = true
				all = all[1:]
			}
			set(all)
			require.Less(t, n, 20)
		}
		for _, id := range run(0, 10) {
			assert.True(t, met[id] || gone[id], "limit %d: %s", limit, id)
		}
	}
}

func TestMutedRefuses(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1, nil)
	for _, bad := range []struct {
		agent, cursor string
		limit         int
		want          error
	}{
		{"", "", 5, feed.ErrBadID},
		{"u_1", "", 0, feed.ErrBadLimit},
		{"u_1", "", 101, feed.ErrBadLimit},
		{"u_1", "x", 5, feed.ErrInvalid},
		{"u_1", "5.", 5, feed.ErrInvalid},
		{"u_1", "-1.a", 5, feed.ErrInvalid},
		{"u_1", ".a", 5, feed.ErrInvalid},
	} {
		_, err := r.Muted(t.Context(), bad.agent, bad.cursor, bad.limit)
		require.ErrorIs(t, err, bad.want, "%+v", bad)
	}
	page, err := r.Muted(t.Context(), "u_1", "99999.gone", 5)
	require.NoError(t, err)
	assert.Empty(t, page.Entries)
}

// TestMutedCatalogDown: of what cannot be read the list has the ids, and says that content is missing; if no profile can be
// read, there is no list.
func TestMutedCatalogDown(t *testing.T) {
	t.Parallel()
	r := newRig(t, 3, nil)
	require.NoError(t, r.PutProfile(t.Context(), "u_1", feed.Profile{MutedItems: run(0, 3)}))
	r.catalog.cached = run(1, 2)
	r.catalog.down(catalog.ErrUnavailable, "Docs", "Hydrate")
	page, err := r.Muted(t.Context(), "u_1", "", 5)
	require.NoError(t, err)
	ids, shown := mutedIDs(page)
	assert.Equal(t, []string{"i002", "i001", "i000"}, ids)
	assert.Equal(t, []string{"i001"}, shown)
	assert.Equal(t, []string{"catalog"}, page.Degraded)
	r.catalog.down(catalog.ErrUnavailable)
	_, err = r.Muted(t.Context(), "u_1", "", 5)
	require.ErrorIs(t, err, catalog.ErrUnavailable)
}
