package server

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/signals/events"
)

// TestAnItemKeepsItsReadersWhenItsGroupChanges has a clustering job assign, change and remove
// groups later. An item that was shown, reported or hidden in one group is not shown in the other.
func TestAnItemKeepsItsReadersWhenItsGroupChanges(t *testing.T) {
	t.Parallel()
	a := open(t, embedded(t), WithClock(at(noon).Now))
	all := madeItems(10)
	regroup := func(prefix string) {
		for i := range all {
			all[i].GroupID = ""
			if prefix != "" {
				all[i].GroupID = prefix + all[i].ID
			}
		}
		put(t, a, all...)
	}
	want := []string{all[4].ID, all[6].ID, all[8].ID, all[9].ID}
	for _, before := range []string{"", "story_"} {
		regroup(before)
		agents := map[string]string{"u_1" + before: "", "u_2" + before: "story_", "u_3" + before: "another_"}
		for agent := range agents {
			require.Equal(t, []string{all[0].ID, all[1].ID, all[2].ID, all[3].ID}, ids(ask(t, a, refresh(agent, 4))))
			require.NoError(t, a.Engine.Seen(t.Context(), agent, []string{all[5].ID}))
			react(t, a, agent, act(events.Hide, all[7].ID))
		}
		recorded(t, a)
		for agent, after := range agents {
			regroup(after)
			assert.Equal(t, api.EventsTaken{Accepted: 1}, react(t, a, agent, act(events.Click, all[0].ID)), "it was shown, whatever its group is now")
			assert.Equal(t, want, ids(ask(t, a, refresh(agent, 10))), "%q, then %q", before, after)
			assert.Empty(t, ids(ask(t, a, refresh(agent, 10))))
			profile, err := a.Engine.Profile(t.Context(), agent)
			require.NoError(t, err)
			assert.True(t, profile.Refusals().Ref(feed.Ref{ID: all[7].ID, Group: "whatever"}))
		}
	}
}
