package catalogtest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
)

// Groups checks that the groups of items stay known when these are removed, in every way.
func Groups(t *testing.T, c interface {
	catalog.Catalog
	catalog.Groups
},
) {
	t.Helper()
	ctx := t.Context()
	of := func(ids ...string) map[string]string {
		t.Helper()
		groups, err := c.GroupsOf(ctx, ids)
		require.NoError(t, err)
		return groups
	}
	grouped := func(id, group string) feed.Item {
		it := item(id, "removed")
		it.GroupID = group
		return it
	}
	all := []string{"gone_1", "gone_2", "gone_own", "gone_none", "gone_kept"}
	put(t, c, grouped("gone_1", "story"), grouped("gone_2", "a:b/c?"), grouped("gone_own", "gone_own"), item("gone_none", "removed"), grouped("gone_kept", "story"))
	require.Empty(t, of(all...))
	require.NoError(t, c.Remove(ctx, "gone_1"))
	require.ErrorIs(t, c.Remove(ctx, "gone_never"), feed.ErrNotFound)
	_, err := c.Update(ctx, all[1:], func(it feed.Item) (feed.Item, error) {
		if it.ID == "gone_kept" {
			return it, nil
		}
		return it, catalog.RemoveItem
	})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"gone_1": "story", "gone_2": "a:b/c?"}, of(all...))
	require.Empty(t, of())

	put(t, c, grouped("gone_1", "other"))
	require.NoError(t, c.Remove(ctx, "gone_1"))
	put(t, c, item("gone_2", "without"))
	require.NoError(t, c.Remove(ctx, "gone_2"))
	require.Equal(t, map[string]string{"gone_1": "other"}, of(all...), "the last one with the id counts")
	require.NoError(t, c.Remove(ctx, "gone_kept"))
}
