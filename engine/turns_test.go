package engine

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

func newTurns() *turns { return &turns{of: map[turnOf]*turn{}} }

var noon = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

func TestTurnsCoalesce(t *testing.T) {
	for _, c := range []struct {
		name    string
		arrives time.Duration // after the start of the first
		built   bool
		want    bool
	}{
		{"young and built", 900 * time.Millisecond, true, true},
		{"too old", time.Second, true, false},
		{"the first one failed", 10 * time.Millisecond, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				all, of := newTurns(), turnOf{agent: "u_1"}
				first, err := all.enter(t.Context(), of, noon, time.Second)
				require.NoError(t, err)
				assert.False(t, first.follows)
				first.begin(noon)
				got := make(chan bool)
				go func() {
					second, err := all.enter(context.WithoutCancel(t.Context()), of, noon.Add(c.arrives), time.Second)
					if err != nil {
						got <- false
						return
					}
					defer second.leave()
					got <- second.follows
				}()
				synctest.Wait()
				assert.Equal(t, 2, all.of[of].in, "the second one waits")
				if c.built {
					first.built = true
				}
				first.leave()
				assert.Equal(t, c.want, <-got)
			})
		})
	}
}

func TestTurnsSerialized(t *testing.T) {
	all := newTurns()
	running := 0
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			tk, err := all.enter(t.Context(), turnOf{agent: "u_1"}, noon, 0)
			if assert.NoError(t, err) {
				running++ // the race detector checks this
				assert.Equal(t, 1, running)
				running--
				tk.leave()
			}
		})
	}
	wg.Wait()
	assert.Empty(t, all.of, "a queue nobody is in is forgotten")
}

func TestTurnsLaterCallNotCoalesced(t *testing.T) {
	all := newTurns()
	first, err := all.enter(t.Context(), turnOf{agent: "u_1"}, noon, time.Second)
	require.NoError(t, err)
	first.begin(noon)
	first.built = true
	first.leave()
	second, err := all.enter(t.Context(), turnOf{agent: "u_1"}, noon.Add(time.Millisecond), time.Second)
	require.NoError(t, err)
	defer second.leave()
	assert.False(t, second.follows, "a refresh after a refresh is a refresh")
}

func TestTurnsWaitTimeout(t *testing.T) {
	all := newTurns()
	first, err := all.enter(t.Context(), turnOf{agent: "u_1"}, noon, time.Second)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = all.enter(ctx, turnOf{agent: "u_1"}, noon, time.Second)
	require.ErrorIs(t, err, context.Canceled)
	for _, of := range []turnOf{{agent: "u_2"}, {"u_1", feed.HomeFeed}} {
		other, err := all.enter(t.Context(), of, noon, time.Second)
		require.NoError(t, err, "another agent, or feed, does not wait")
		other.leave()
	}
	first.leave()
	assert.Empty(t, all.of)
}

func TestScratchDropsGroupsProposedBefore(t *testing.T) {
	s := scratches.Get().(*scratch)
	defer s.release()
	one := feed.Candidate{ID: "x", Group: "story"}
	two := feed.Candidate{ID: "y", Group: "story"}
	three := feed.Candidate{ID: "z", Group: "z"}
	s.take([]feed.Candidate{one, two, three})
	assert.Equal(t, []feed.Candidate{one, three}, s.fresh, "the best of a group stands for it")
	assert.Equal(t, []string{"story", "x", "z"}, s.keys)
	s.take([]feed.Candidate{two, three})
	assert.Empty(t, s.fresh, "also between rounds")
}

func TestScratchReleaseRetainsNothing(t *testing.T) {
	s := &scratch{proposed: map[string]struct{}{}}
	s.take([]feed.Candidate{{ID: "x", Group: "x"}, {ID: "y", Group: "y"}, {ID: "z", Group: "z"}})
	s.take([]feed.Candidate{{ID: "w", Group: "w"}})
	s.release()
	assert.Empty(t, s.proposed)
	for _, c := range s.fresh[:cap(s.fresh)] {
		assert.Zero(t, c, "of an earlier round")
	}
	for _, r := range s.refs[:cap(s.refs)] {
		assert.Zero(t, r)
	}
	for _, key := range s.keys[:cap(s.keys)] {
		assert.Empty(t, key)
	}
}

// When a refresh begins, the mark that the previous one left a session is cleared.
func TestTurnStartClearsBuilt(t *testing.T) {
	tk, err := newTurns().enter(t.Context(), turnOf{agent: "u_1"}, noon, time.Second)
	require.NoError(t, err)
	tk.built = true
	tk.begin(noon)
	assert.False(t, tk.built)
}
