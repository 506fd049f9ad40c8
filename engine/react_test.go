package engine_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/events"
	"github.com/freshet/freshet/feed"
)

func (r *rig) react(t *testing.T, kind events.Kind, ids ...string) (engine.Taken, error) {
	t.Helper()
	acts := make([]engine.Act, len(ids))
	for i, id := range ids {
		acts[i] = engine.Act{Kind: kind, ID: id}
	}
	return r.React(t.Context(), "u_1", acts)
}

// Acts on what the agent was shown count, be it known in a filter, in the pending
// set, or by this process alone.
func TestReact(t *testing.T) {
	r := newRig(t, 30, nil)
	r.wants(t, refresh(5), run(0, 5), true)
	r.settled(t)
	r.wants(t, refresh(5), run(5, 10), true)
	r.sessions.down(cache.ErrUnavailable)
	assert.Equal(t, run(10, 15), docIDs(r.ask(t, refresh(5))))
	taken, err := r.react(t, events.Click, "i000", "i005", "i010", "i020", "unknown")
	require.NoError(t, err)
	assert.Equal(t, engine.Taken{Accepted: 3, Unshown: 2}, taken)
	assert.Equal(t, 3, r.tally.acts)

	taken, err = r.react(t, events.Click, "i020")
	require.NoError(t, err)
	assert.Equal(t, engine.Taken{Unshown: 1}, taken)
	r.tally.full = true
	_, err = r.react(t, events.Click, "i000")
	require.ErrorIs(t, err, events.ErrUnavailable)
	_, err = r.react(t, "stare", "i000")
	require.ErrorIs(t, err, events.ErrBadKind)
	_, err = r.React(t.Context(), "u:1", nil)
	require.ErrorIs(t, err, feed.ErrBadID)
}

// raised notes the acts that raise live popularity.
type raised struct {
	items []string
	full  bool
	down  error
}

func (r *raised) Forget(_ context.Context, agent string) error {
	if r.down == nil {
		r.items = slices.DeleteFunc(r.items, func(act string) bool { return strings.HasPrefix(act, agent+" ") })
	}
	return r.down
}

func (r *raised) Acted(agent string, items []string, _ time.Time) bool {
	if r.full {
		return false
	}
	for _, id := range items {
		r.items = append(r.items, agent+" "+id)
	}
	return true
}

// Clicks and likes on what the agent was shown raise live popularity, nothing else
// does.
func TestReactRaises(t *testing.T) {
	live := &raised{}
	r := newRig(t, 30, func(s *engine.Stores, _ *engine.Config) { s.Popularity = live })
	r.wants(t, refresh(5), run(0, 5), true)
	_, err := r.React(t.Context(), "u_1", []engine.Act{
		{Kind: events.Click, ID: "i000"},
		{Kind: events.Dislike, ID: "i001"},
		{Kind: events.Like, ID: "i002"},
		{Kind: events.Hide, ID: "i003"},
		{Kind: events.Like, ID: "i020"},
	})
	require.NoError(t, err)
	assert.Equal(t, []string{"u_1 i000", "u_1 i002"}, live.items)
	live.full = true
	_, err = r.react(t, events.Dislike, "i001")
	require.NoError(t, err)
	_, err = r.react(t, events.Click, "i001")
	require.ErrorIs(t, err, events.ErrUnavailable)
}

func TestReactWithoutDedup(t *testing.T) {
	r := newRig(t, 5, nil)
	r.seen.down(dedup.ErrUnavailable)
	taken, err := r.react(t, events.Click, "i000", "i001")
	require.NoError(t, err)
	assert.Equal(t, engine.Taken{Accepted: 2}, taken, "it cannot be told, so all of them count")
	r = newRig(t, 5, closed)
	r.seen.down(dedup.ErrUnavailable)
	_, err = r.react(t, events.Click, "i000")
	require.ErrorIs(t, err, dedup.ErrUnavailable)
}

// What is hidden is out of the session's pages, and counts where it was shown.
func TestHide(t *testing.T) {
	r := newRig(t, 30, nil)
	r.wants(t, refresh(5), run(0, 5), true)
	taken, err := r.react(t, events.Hide, "i000", "i006")
	require.NoError(t, err)
	assert.Equal(t, engine.Taken{Accepted: 1, Unshown: 1}, taken)
	r.wants(t, loadMore(3), []string{"i005", "i007", "i008"}, true)
}
