package engine_test

import (
	"fmt"
	"testing"
	"testing/synctest"
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
	t.Parallel()
	lost := rule{err: errUnheard, after: true, only: []string{"Replace", "Pop"}}
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 40, nil)
		r.sessions.set(lost)
		a := r.ask(t, refresh(5))
		assert.Equal(t, []string{"session"}, a.Degraded)
		synctest.Wait() // and no time passes
		require.Len(t, r.sessions.takenBack(), 1)
		assert.Zero(t, r.sessions.takenBack()[0].Step)
	})

	// Failing closed, the call fails; what it was handed out with a request id
	// is its retry's.
	for id, abandoned := range map[string]int{"": 1, "r1": 0} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, 40, closed)
			r.sessions.set(lost)
			_, err := r.Feed(t.Context(), named(refresh(5), id))
			require.ErrorIs(t, err, cache.ErrUncertain)
			synctest.Wait()
			require.Len(t, r.sessions.takenBack(), abandoned)
			time.Sleep(takenBackFor)
			synctest.Wait()
			require.Len(t, r.sessions.takenBack(), abandoned, "it is done once")
		})
	}
}

const (
	// takenBackFor is how long the store is asked to take a page back.
	takenBackFor = time.Minute
	// The second attempt comes half a second after the first, by up to half of that
	// earlier or later, so that servers do not ask at the same time.
	secondLeast, secondMost = 250 * time.Millisecond, 750 * time.Millisecond
	// longestPause is two seconds and half of that.
	longestPause = 3 * time.Second
)

// It waits while the store is down, and no longer than a minute.
func TestTakingBackWaitsForTheStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 40, closed)
		r.sessions.set(rule{err: errUnheard})
		tried := func() int { synctest.Wait(); return r.sessions.count("Abandon") }
		_, err := r.Feed(t.Context(), refresh(5))
		require.ErrorIs(t, err, cache.ErrUncertain)
		require.Equal(t, 1, tried())
		time.Sleep(secondLeast - time.Nanosecond)
		require.Equal(t, 1, tried())
		time.Sleep(secondMost - secondLeast)
		require.Equal(t, 2, tried())
		time.Sleep(takenBackFor - secondMost)
		most := tried()
		require.Greater(t, most, int(takenBackFor/longestPause))
		time.Sleep(time.Hour)
		require.Equal(t, most, tried(), "given up")
		require.Empty(t, r.sessions.takenBack())

		_, err = r.Feed(t.Context(), refresh(5))
		require.ErrorIs(t, err, cache.ErrUncertain)
		require.Equal(t, most+1, tried())
		r.sessions.up()
		time.Sleep(secondMost)
		require.Equal(t, most+2, tried())
		require.Len(t, r.sessions.takenBack(), 1, "as soon as the store answers")
	})
}

// It waits no longer than the engine.
func TestTakingBackEndsWithTheEngine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 40, closed)
		r.sessions.set(rule{err: errUnheard, after: true})
		_, err := r.Feed(t.Context(), refresh(5))
		require.ErrorIs(t, err, cache.ErrUncertain)
		synctest.Wait()
		begun := time.Now()
		r.Close(t.Context())
		require.Zero(t, time.Since(begun), "it does not wait for the next attempt")
		tried := r.sessions.count("Abandon")
		require.Equal(t, 1, tried)
		_, err = r.Feed(t.Context(), refresh(5))
		require.ErrorIs(t, err, cache.ErrUncertain)
		time.Sleep(takenBackFor)
		synctest.Wait()
		assert.Equal(t, tried, r.sessions.count("Abandon"), "a closed engine takes nothing back")
	})
}

// What could neither be delivered nor given back is taken back from the first
// step on.
func TestAPageThatCannotBeGivenBackIsTakenBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 40, nil)
		r.wants(t, refresh(5), run(0, 5), true)
		r.catalog.down(cache.ErrUnavailable)
		r.sessions.down(cache.ErrUnavailable, "Restore")
		_, err := r.Feed(t.Context(), loadMore(5))
		require.ErrorIs(t, err, cache.ErrUnavailable)
		synctest.Wait()
		require.Len(t, r.sessions.takenBack(), 1)
		assert.Zero(t, r.sessions.takenBack()[0].Step)
	})
}
