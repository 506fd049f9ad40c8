package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
)

// TestShownNotedOnce reads one timeline again and again: its posts are noted once, until that may have
// been lost or no longer counts.
func TestShownNotedOnce(t *testing.T) {
	t.Parallel()
	page := []string{"i003", "i010"}
	for name, c := range map[string]struct {
		between func(t *testing.T, r *rig)
		want    []string // noted by the second reading
	}{
		"nothing":                  {func(*testing.T, *rig) {}, nil},
		"some minutes":             {func(_ *testing.T, r *rig) { r.advance(4 * time.Minute) }, nil},
		"a quarter of an hour":     {func(_ *testing.T, r *rig) { r.advance(15 * time.Minute) }, page},
		"another day":              {func(_ *testing.T, r *rig) { r.advance(24 * time.Hour) }, page},
		"the day before":           {func(_ *testing.T, r *rig) { r.advance(-24 * time.Hour) }, page},
		"a failover":               {func(_ *testing.T, r *rig) { r.ForgetShown() }, page},
		"the reader was erased":    {func(t *testing.T, r *rig) { require.NoError(t, r.Forget(t.Context(), "u_1")) }, page},
		"another was erased":       {func(t *testing.T, r *rig) { require.NoError(t, r.Forget(t.Context(), "u_2")) }, nil},
		"the reader has refreshed": {func(t *testing.T, r *rig) { r.ask(t, refresh(3)) }, nil},
		"a page was returned": {func(t *testing.T, r *rig) {
			r.catalog.down(context.DeadlineExceeded, "Hydrate")
			_, err := r.Feed(t.Context(), refresh(3))
			require.Error(t, err)
			r.catalog.up()
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, 30, closed)
			show := func(posts ...string) []string {
				before := len(r.recorder.groups())
				ok, err := r.Shown(t.Context(), "u_1", posts)
				require.NoError(t, err)
				assert.True(t, ok)
				return r.recorder.groups()[before:]
			}
			require.Equal(t, page, show(page...))
			c.between(t, r)
			withdrawals := r.sessions.count("Withdraw")
			assert.ElementsMatch(t, c.want, show(page...))
			assert.Equal(t, len(c.want) > 0, r.sessions.count("Withdraw") > withdrawals)
			assert.Equal(t, []string{"i011"}, show("i010", "i011", "i003"), "only the new one")

			for {
				a := r.ask(t, refresh(7))
				if len(docIDs(a)) == 0 {
					break
				}
				assert.NotSubset(t, docIDs(a), []string{"i003"})
				assert.NotSubset(t, docIDs(a), []string{"i010"})
				assert.NotSubset(t, docIDs(a), []string{"i011"})
			}
		})
	}
}

// TestShownNotedAfterFailure has a store that fails: what it may lack is noted again.
func TestShownNotedAfterFailure(t *testing.T) {
	t.Parallel()
	r := newRig(t, 30, closed)
	r.sessions.set(rule{err: cache.ErrUnavailable, only: []string{"Withdraw"}})
	for range 2 {
		ok, err := r.Shown(t.Context(), "u_1", []string{"i003"})
		require.NoError(t, err)
		assert.False(t, ok)
	}
	r.sessions.up()
	assert.Equal(t, 2, r.sessions.count("Withdraw"))
	_, err := r.Shown(t.Context(), "u_1", []string{"i003"})
	require.NoError(t, err)
	assert.Equal(t, 3, r.sessions.count("Withdraw"))

	// A failover is found while a post is being noted: the former master may have got it.
	r.sessions.before(func(method string) {
		if method == "Withdraw" {
			r.ForgetShown()
		}
	})
	_, err = r.Shown(t.Context(), "u_1", []string{"i004"})
	require.NoError(t, err)
	r.sessions.before(nil)
	_, err = r.Shown(t.Context(), "u_1", []string{"i004"})
	require.NoError(t, err)
	assert.Equal(t, 5, r.sessions.count("Withdraw"))
}

// TestShownNotedDuringOutage shows a noted post again while the stores are down: they may come back with
// older data, so it is kept on disk, and noted again until they have recovered.
func TestShownNotedDuringOutage(t *testing.T) {
	t.Parallel()
	r := newRig(t, 30, nil)
	show := func() bool {
		ok, err := r.Shown(t.Context(), "u_1", []string{"i003"})
		require.NoError(t, err)
		return ok
	}
	require.True(t, show())
	r.sessions.set(rule{err: cache.ErrUnavailable, only: []string{"Withdraw"}})
	r.recovery.recovering = true
	assert.False(t, show())
	assert.Equal(t, []string{"i003"}, r.disk.kept)
	r.sessions.up()
	for range 2 {
		assert.True(t, show())
	}
	assert.Equal(t, 4, r.sessions.count("Withdraw"))
}

// TestShownNotedSeenMode has impressions.on: seen, where a post is only pending: nothing else has it
// if the reader is erased by another server, so it is noted each time.
func TestShownNotedSeenMode(t *testing.T) {
	t.Parallel()
	r := newRig(t, 10, func(s *engine.Stores, cfg *engine.Config) { s.Fallback, cfg.RecordServed = nil, false })
	for range 2 {
		_, err := r.Shown(t.Context(), "u_1", []string{"i002"})
		require.NoError(t, err)
	}
	assert.Equal(t, 2, r.sessions.count("Withdraw"))
	assert.Equal(t, []dedup.Verdict{dedup.Pending}, r.verdicts(t, "i002"))
}

// TestShownNotedRepeats has a session with items that are due to be shown again, which this server or
// another one has begun: a timeline that shows one of them again removes it from the session.
func TestShownNotedRepeats(t *testing.T) {
	t.Parallel()
	for name, ours := range map[string]bool{"this server": true, "another server": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var other *engine.Engine
			r := newRig(t, 10, func(s *engine.Stores, cfg *engine.Config) {
				s.Fallback, cfg.ShowAgain = nil, true
				var err error
				other, err = engine.New(*s, *cfg)
				require.NoError(t, err)
				t.Cleanup(func() { other.Close() })
			})
			reads := other
			if ours {
				reads = r.Engine
			}
			r.ask(t, refresh(10))
			r.settled(t)
			_, err := r.Shown(t.Context(), "u_1", []string{"i007"})
			require.NoError(t, err)
			r.settled(t)
			a, err := reads.Feed(t.Context(), refresh(3))
			require.NoError(t, err)
			require.Equal(t, run(0, 3), docIDs(a), "all were shown today: the best comes first")
			_, err = r.Shown(t.Context(), "u_1", []string{"i007"})
			require.NoError(t, err)
			a, err = reads.Feed(t.Context(), loadMore(10))
			require.NoError(t, err)
			assert.Equal(t, append(run(3, 7), run(8, 10)...), docIDs(a))
		})
	}
}
