package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
)

// errUnheard is that of a step that was made and whose answer was lost.
var errUnheard = fmt.Errorf("%w: %w", cache.ErrUnavailable, cache.ErrUncertain)

// What a call may have been handed out without learning of it is taken back as
// soon as the store answers.
func TestAnUnheardPageIsTakenBack(t *testing.T) {
	lost := rule{err: errUnheard, after: true, only: []string{"Replace", "Pop"}}
	r := newRig(t, 40, nil)
	r.sessions.set(lost)
	a := r.ask(t, refresh(5))
	assert.Equal(t, []string{"session"}, a.Degraded)
	r.sessions.up()
	require.Eventually(t, func() bool { return len(r.sessions.takenBack()) == 1 }, 20*time.Second, time.Millisecond)
	assert.Zero(t, r.sessions.takenBack()[0].Step)

	// Failing closed, the call fails; what it was handed out with a request id
	// is its retry's.
	for id, abandoned := range map[string]int{"": 1, "r1": 0} {
		r = newRig(t, 40, closed)
		r.sessions.set(lost)
		_, err := r.Feed(t.Context(), named(refresh(5), id))
		require.ErrorIs(t, err, cache.ErrUncertain)
		r.sessions.up()
		if abandoned == 0 {
			r.Close(t.Context())
			assert.Empty(t, r.sessions.takenBack())
			continue
		}
		require.Eventually(t, func() bool { return len(r.sessions.takenBack()) == abandoned }, 20*time.Second, time.Millisecond)
	}
}

// It waits while the store is down, and no longer than the engine.
func TestTakingBackWaitsForTheStore(t *testing.T) {
	r := newRig(t, 40, closed)
	r.sessions.set(rule{err: errUnheard, after: true})
	_, err := r.Feed(t.Context(), refresh(5))
	require.ErrorIs(t, err, cache.ErrUncertain)
	require.Eventually(t, func() bool { return r.sessions.count("Abandon") > 1 }, 20*time.Second, time.Millisecond)
	r.Close(t.Context())
	tried := r.sessions.count("Abandon")
	_, err = r.Feed(t.Context(), refresh(5))
	require.ErrorIs(t, err, cache.ErrUncertain)
	assert.Equal(t, tried, r.sessions.count("Abandon"), "a closed engine takes nothing back")
}

// What could neither be delivered nor given back is taken back from the first
// step on.
func TestAPageThatCannotBeGivenBackIsTakenBack(t *testing.T) {
	r := newRig(t, 40, nil)
	r.wants(t, refresh(5), run(0, 5), true)
	r.catalog.down(cache.ErrUnavailable)
	r.sessions.down(cache.ErrUnavailable, "Restore")
	_, err := r.Feed(t.Context(), loadMore(5))
	require.ErrorIs(t, err, cache.ErrUnavailable)
	require.Eventually(t, func() bool { return len(r.sessions.takenBack()) == 1 }, 20*time.Second, time.Millisecond)
	assert.Zero(t, r.sessions.takenBack()[0].Step)
}
