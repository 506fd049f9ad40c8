package ranking_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/ranking"
)

// TestChangeWithHalfLives refuses weights of sums that are not kept, in the ranking and in experiments,
// unless they were in force before.
func TestChangeWithHalfLives(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	live := func(names ...string) *ranking.Live {
		keep, err := feed.HalfLivesOf(append(names, "2h", "2d"))
		require.NoError(t, err)
		l, err := ranking.Open(t.Context(), store, ranking.Config{Clock: func() time.Time { return noon }, Configured: configured, HalfLives: keep})
		require.NoError(t, err)
		return l
	}
	l := live("1h")
	_, err := l.Change(t.Context(), ranking.Change{By: "a", Edit: with("weight_6h=1")})
	require.ErrorContains(t, err, "popularity.half_lives has 6h")
	_, err = l.Change(t.Context(), ranking.Change{By: "a", Experiments: []ranking.Experiment{{Name: "x", Share: 0.1, Edit: with("weight_7d=1")}}})
	require.ErrorContains(t, err, "popularity.half_lives has 7d")
	assert.Zero(t, l.InForce().Version)
	change(t, l, ranking.Change{By: "a", Edit: with("weight_1h=1"), Experiments: []ranking.Experiment{{Name: "x", Share: 0.1, Edit: with("weight_1h=2")}}})

	l = live() // the setting was removed
	change(t, l, ranking.Change{By: "a", Edit: with("base=0.2")})
	change(t, l, ranking.Change{By: "a", Experiments: []ranking.Experiment{}})
	change(t, l, ranking.Change{By: "a", Edit: with("weight_1h=0")})
	_, err = l.Change(t.Context(), ranking.Change{By: "a", Edit: with("weight_1h=1")})
	require.ErrorContains(t, err, "popularity.half_lives has 1h")
}
