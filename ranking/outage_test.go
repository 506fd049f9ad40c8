package ranking_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/ranking"
)

func TestStoreUnreadable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newStore(t)
		w := &wire{Store: store}
		l, log := openLive(t, w)
		other, _ := openLive(t, store)
		change(t, l, ranking.Change{Edit: with("scale=48h")})

		w.set(true)
		look()
		require.EqualValues(t, 1, gauge(t, "freshet_ranking_stale"))
		look()
		change(t, other, ranking.Change{Edit: with("scale=96h")})
		_, err := l.Change(t.Context(), ranking.Change{Edit: with("scale=12h")})
		require.ErrorIs(t, err, ranking.ErrUnavailable)
		require.Equal(t, 1, current(t, l), "the one in force stays")
		_, r := l.For("u_1")
		require.Equal(t, "scale=48h", r.Changes(configured))
		_, err = ranking.Open(t.Context(), w, ranking.Config{Clock: time.Now, Configured: configured})
		require.ErrorIs(t, err, ranking.ErrUnavailable, "no server starts with a ranking of its own")

		w.set(false)
		reaches(t, l, 2)
		require.Zero(t, gauge(t, "freshet_ranking_stale"))
		require.Equal(t, 1, log.count("can be read again"))
		require.Equal(t, 1, log.count("cannot be read"), "it is told once, not at each try")
	})
}

// TestStoreDownAtStart: a server that starts without its store must not report its
// configuration as the newest version.
func TestStoreDownAtStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newStore(t)
		other, _ := openLive(t, store)
		change(t, other, ranking.Change{Edit: with("scale=48h")})
		w := &wire{Store: store}
		w.set(true)
		l, err := ranking.Open(t.Context(), w, ranking.Config{Clock: time.Now, Configured: configured, StartWithout: true})
		require.NoError(t, err)
		_, err = l.Current(t.Context())
		require.ErrorIs(t, err, ranking.ErrUnavailable)
		w.set(false)
		require.Equal(t, 1, current(t, l))
		w.set(true)
		require.Equal(t, 1, current(t, l), "from here on the one in force stays")
	})
}

// TestStoreRestoredToOlderState replaces the store by an older state.
func TestStoreRestoredToOlderState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wire{Store: newStore(t)}
		l, log := openLive(t, w)
		change(t, l, ranking.Change{Edit: with("scale=48h")})
		w.lead(newStore(t))
		reaches(t, l, 0)
		require.Equal(t, configured, l.InForce().Live.Ranking)
		require.Equal(t, 1, log.count("older ranking"))
	})
}

// hanging is a store that, once it is stuck, blocks reads until hang is closed.
type hanging struct {
	ranking.Store
	stuck       atomic.Bool
	asked, hang chan struct{}
}

func (h *hanging) Newest(ctx context.Context) (ranking.Version, error) {
	if !h.stuck.Load() {
		return h.Store.Newest(ctx)
	}
	select {
	case h.asked <- struct{}{}:
	case <-ctx.Done():
		return ranking.Version{}, ctx.Err()
	}
	select {
	case <-h.hang:
		return h.Store.Newest(ctx)
	case <-ctx.Done():
		return ranking.Version{}, ctx.Err()
	}
}

// While one call waits for a hanging store, the others end at their own deadlines instead of
// waiting in line.
func TestStoreHangsForOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck := &hanging{Store: newStore(t), asked: make(chan struct{}), hang: make(chan struct{})}
		l, err := ranking.Open(t.Context(), stuck, ranking.Config{Clock: time.Now, Configured: configured})
		require.NoError(t, err)
		stuck.stuck.Store(true)
		go func() { _, _ = l.Current(t.Context()) }()
		<-stuck.asked
		begin := time.Now()
		for _, most := range []time.Duration{0, time.Second} {
			gone, cancel := context.WithTimeout(t.Context(), most)
			_, err = l.Current(gone)
			cancel()
			require.NoError(t, err, "what is in force")
			require.Equal(t, most, time.Since(begin))
		}
		close(stuck.hang)
	})
}

// TestPollStoreHangs checks that a hanging poll is aborted and the next one starts.
func TestPollStoreHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newStore(t)
		stuck := &hanging{Store: store, asked: make(chan struct{}, 2), hang: make(chan struct{})}
		l, log := openLive(t, stuck)
		other, _ := openLive(t, store)
		stuck.stuck.Store(true)
		change(t, other, ranking.Change{Edit: with("scale=48h")})
		time.Sleep(6*time.Second - 1)
		synctest.Wait()
		require.Zero(t, log.count("cannot be read"))
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		require.Equal(t, 1, log.count("cannot be read"), "a second to the look, and five that it may take")
		require.Zero(t, l.InForce().Version)
		close(stuck.hang) // the next read has begun
		synctest.Wait()
		require.Equal(t, 1, l.InForce().Version)
	})
}
