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

// errUnheard is the error of a step that took effect and lost its answer.
var errUnheard = fmt.Errorf("%w: %w", cache.ErrUnavailable, cache.ErrUncertain)

// A page that a call may have been given without getting the answer is taken back as soon as the
// store answers.
func TestTakeBackUndeliveredPage(t *testing.T) {
	t.Parallel()
	lost := rule{err: errUnheard, after: true, only: []string{"Replace", "Pop"}}
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 40, nil)
		r.sessions.set(lost)
		a := r.ask(t, refresh(5))
		assert.Equal(t, []string{"session"}, a.Degraded)
		synctest.Wait() // no time passes
		require.Len(t, r.sessions.takenBack(), 1)
		assert.Zero(t, r.sessions.takenBack()[0].Step)
	})

	// When failing closed, the call fails. Its page is left to the retry if it has a request id.
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

// takenBackFor is how long an engine tries to take a page back.
const takenBackFor = time.Minute

// An engine retries for at most a minute while the store is down. The pauses grow to two seconds,
// each with a jitter of up to half, so that servers do not retry at the same time.
func TestTakeBackStoreDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 40, closed)
		r.sessions.set(rule{err: errUnheard})
		begun, tried := time.Now(), []time.Duration(nil)
		r.sessions.before(func(method string) {
			if method == "Abandon" {
				tried = append(tried, time.Since(begun))
			}
		})
		_, err := r.Feed(t.Context(), refresh(5))
		require.ErrorIs(t, err, cache.ErrUncertain)
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Zero(t, tried[0])
		pause := 500 * time.Millisecond
		for i := range tried[1:] {
			require.InDelta(t, pause, tried[i+1]-tried[i], float64(pause/2), "pause %d", i)
			pause = min(pause*3/2, 2*time.Second)
		}
		last := tried[len(tried)-1]
		require.LessOrEqual(t, last, takenBackFor)
		require.Greater(t, last, takenBackFor-pause*3/2)
		require.Empty(t, r.sessions.takenBack())

		_, err = r.Feed(t.Context(), refresh(5))
		require.ErrorIs(t, err, cache.ErrUncertain)
		synctest.Wait()
		r.sessions.up()
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Len(t, r.sessions.takenBack(), 1, "as soon as the store answers")
		require.LessOrEqual(t, tried[len(tried)-1]-tried[len(tried)-2], 750*time.Millisecond)
	})
}

// The retries end when the engine closes.
func TestTakeBackEndsOnClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 40, closed)
		r.sessions.set(rule{err: errUnheard, after: true})
		_, err := r.Feed(t.Context(), refresh(5))
		require.ErrorIs(t, err, cache.ErrUncertain)
		synctest.Wait()
		begun := time.Now()
		r.Close()
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

// A page that can be neither delivered nor returned to the session is taken back from its first
// step on.
func TestTakeBackUnreturnedPage(t *testing.T) {
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
