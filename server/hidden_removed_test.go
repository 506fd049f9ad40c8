package server

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/signals/events"
)

// TestHidingARemovedItemHidesItsGroup removes items that a reader was shown, one for each way to
// remove them. A hide that comes later still mutes the group.
func TestHidingARemovedItemHidesItsGroup(t *testing.T) {
	t.Parallel()
	for _, mode := range modes {
		t.Run(mode.name, func(t *testing.T) {
			t.Parallel()
			a := open(t, mode.config(t), WithClock(at(noon).Now))
			all := madeItems(6)
			for i, group := range []string{"removed", "erased", "removed", "erased", "", "stays"} {
				all[i].GroupID = group
			}
			all[1].AuthorID = "leaves"
			put(t, a, all...)
			page := ids(ask(t, a, refresh("u_1", 10)))
			require.Subset(t, page, []string{all[0].ID, all[1].ID})
			require.NoError(t, a.Catalog.Remove(t.Context(), all[0].ID))
			require.NoError(t, a.works().Erase(t.Context(), "leaves"))
			for _, it := range all[:2] {
				react(t, a, "u_1", act(events.Hide, it.ID))
			}
			profile, err := a.Engine.Profile(t.Context(), "u_1")
			require.NoError(t, err)
			for _, other := range all[2:4] {
				assert.True(t, profile.Refuses(&other), "another item of the group %s", other.GroupID)
			}
			assert.Equal(t, []string{"removed", all[0].ID, "erased", all[1].ID}, profile.MutedItems)
			assert.False(t, profile.Refuses(&feed.Item{ID: all[5].ID, GroupID: "stays"}))
		})
	}
}
