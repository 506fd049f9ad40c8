package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/feed"
)

// Forget deletes an agent's profile and sessions, and succeeds when there are none.
func TestForget(t *testing.T) {
	t.Parallel()
	r := newRig(t, 30, nil)
	forgets := func() {
		t.Helper()
		require.NoError(t, r.Forget(t.Context(), "u_1"))
		page, err := r.stores.Sessions.Pop(t.Context(), cache.Pop{Agent: "u_1", Limit: 5, Now: r.clock()})
		require.NoError(t, err)
		require.Empty(t, page.Refs, "the session has ended")
		at, err := r.stores.Sessions.Refreshed(t.Context(), "u_1", feed.ForYou)
		require.NoError(t, err)
		require.True(t, at.IsZero())
		held, err := r.seen.Pending(t.Context(), "u_1", run(0, 5), r.clock())
		require.NoError(t, err)
		require.NotContains(t, held, true, "nothing is pending")
		_, err = r.Profile(t.Context(), "u_1")
		require.ErrorIs(t, err, feed.ErrNotFound)
	}
	r.wants(t, refresh(5), run(0, 5), true)
	forgets()
	require.NoError(t, r.PutProfile(t.Context(), "u_1", feed.Profile{Interests: map[string]float64{"go": 1}}))
	r.wants(t, refresh(5), run(5, 10), true)
	forgets()
	forgets()
	require.ErrorIs(t, r.Forget(t.Context(), "u:1"), feed.ErrBadID)
	r.sessions.down(cache.ErrUnavailable)
	require.ErrorIs(t, r.Forget(t.Context(), "u_1"), cache.ErrUnavailable)
}

// TestMuteSessionStoreDown checks that a mute applies to the next page of a session that could not
// be ended.
func TestMuteSessionStoreDown(t *testing.T) {
	r := newRig(t, 40, nil)
	r.wants(t, refresh(5), run(0, 5), true)
	r.sessions.down(cache.ErrUnavailable)
	require.NoError(t, r.PutProfile(t.Context(), "u_1", feed.Profile{MutedItems: []string{"i005", "i007"}}))
	r.sessions.up()
	r.wants(t, loadMore(3), []string{"i006", "i008", "i009"}, true)
	r.sessions.down(cache.ErrUnavailable)
	require.NoError(t, r.RemoveProfile(t.Context(), "u_1"))
}
