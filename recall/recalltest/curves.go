package recalltest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// decays returns decays of several curves, of every shape, with the floor above, within and
// below the range of their sum.
func decays() map[string]feed.Decay {
	gauss := feed.Curve{Shape: "gauss", Scale: 12 * time.Minute, Decay: 0.5, Weight: 0.56}
	slow := feed.Curve{Shape: "gauss", Scale: 120 * time.Hour, Decay: 0.5, Weight: 0.42}
	exp := feed.Curve{Shape: "exp", Scale: 3 * time.Hour, Offset: time.Hour, Decay: 0.3, Weight: 1.5}
	linear := feed.Curve{Shape: "linear", Scale: 30 * time.Hour, Offset: 30 * time.Minute, Decay: 0.2, Weight: 0.7}
	constant := feed.Curve{Shape: "constant", Weight: 0.02}
	return map[string]feed.Decay{
		"fast and slow":          {Floor: 1e-6, Curves: feed.Curves{gauss, slow, constant}},
		"down to the floor":      {Floor: 0.05, Curves: feed.Curves{gauss, slow}},
		"no floor":               {Curves: feed.Curves{exp, slow}},
		"every shape":            {Floor: 0.03, Curves: feed.Curves{gauss, exp, linear, constant}},
		"one exponential":        {Floor: 1e-6, Curves: feed.Curves{exp}},
		"one line, to its end":   {Floor: 1e-4, Curves: feed.Curves{linear}},
		"lines to the floor":     {Floor: 1e-3, Curves: feed.Curves{linear, linear}},
		"a constant":             {Floor: 1e-6, Curves: feed.Curves{constant}},
		"a constant, floored":    {Floor: 0.5, Curves: feed.Curves{constant}},
		"always below the floor": {Floor: 0.9, Curves: feed.Curves{constant, slow}},
		"above one":              {Curves: feed.Curves{{Shape: "exp", Scale: time.Hour, Decay: 0.5, Weight: 1000}, constant}},
	}
}

func curves(t *testing.T, open Open) {
	items := library()
	s := open(t, items)
	interests := map[string]float64{"go": 2, "rust": 0.5, "data": 1.25}
	for name, decay := range decays() {
		t.Run(name, func(t *testing.T) {
			for _, p := range []feed.Profile{{}, {Interests: interests}, {Interests: interests, Keywords: feed.Keywords("streams")}} {
				q := query(50, p)
				q.Ranking.Decay = decay
				require.NoError(t, q.Ranking.Validate())
				assertRanking(t, items, q, recallAll(t, s, q).Candidates)
				q.Ranking.PopularityWeight, q.N = 0.7, 3
				assertRanking(t, items, q, recallAll(t, s, q).Candidates)
			}
		})
	}
	t.Run("by hand", func(t *testing.T) { curvesByHand(t, open) })
}

// curvesByHand compares scores with values calculated by hand.
func curvesByHand(t *testing.T, open Open) {
	s := open(t, []feed.Item{
		{ID: "now", Title: "t", UpdateTime: ago(0)},
		{ID: "1h", Title: "t", UpdateTime: ago(time.Hour)},
		{ID: "2h", Title: "t", UpdateTime: ago(2 * time.Hour)},
		{ID: "4h", Title: "t", UpdateTime: ago(4 * time.Hour)},
		{ID: "9h", Title: "t", UpdateTime: ago(9 * time.Hour)},
	})
	for _, tc := range []struct {
		name   string
		curves feed.Curves
		floor  float64
		want   map[string]float64
	}{
		// Half-lives of an hour: 1, 1/2, 1/4, 1/16, 1/512.
		{"exp", feed.Curves{{Shape: "exp", Scale: time.Hour, Decay: 0.5, Weight: 1}}, 0.01, map[string]float64{"now": 1, "1h": 0.5, "2h": 0.25, "4h": 0.0625, "9h": 0.01}},
		// A line from 1 down to 1/2 at 2h ends at 4h.
		{"linear", feed.Curves{{Shape: "linear", Scale: 2 * time.Hour, Decay: 0.5, Weight: 2}}, 0.001, map[string]float64{"now": 2, "1h": 1.5, "2h": 1, "4h": 0.001, "9h": 0.001}},
		// 1/2 to the square of hours beyond the first: 1, 1, 1/2, 1/512.
		{"gauss", feed.Curves{{Shape: "gauss", Scale: time.Hour, Offset: time.Hour, Decay: 0.5, Weight: 1}}, 0.0001, map[string]float64{"now": 1, "1h": 1, "2h": 0.5, "4h": 1. / 512, "9h": 0.0001}},
		{"sum", feed.Curves{
			{Shape: "exp", Scale: time.Hour, Decay: 0.5, Weight: 0.6}, {Shape: "linear", Scale: 2 * time.Hour, Decay: 0.5, Weight: 0.2}, {Shape: "constant", Weight: 0.02},
		}, 0, map[string]float64{"now": 0.82, "1h": 0.3 + 0.15 + 0.02, "2h": 0.15 + 0.1 + 0.02, "4h": 0.0375 + 0.02, "9h": 0.6/512 + 0.02}},
		{"sum to the floor", feed.Curves{
			{Shape: "exp", Scale: time.Hour, Decay: 0.5, Weight: 0.6}, {Shape: "constant", Weight: 0.02},
		}, 0.1, map[string]float64{"now": 0.62, "1h": 0.32, "2h": 0.17, "4h": 0.1, "9h": 0.1}},
	} {
		q := query(10, feed.Profile{})
		q.Ranking.Base, q.Ranking.Decay = 1, feed.Decay{Floor: tc.floor, Curves: tc.curves}
		got := recallAll(t, s, q).Candidates
		require.Len(t, got, len(tc.want), tc.name)
		for _, c := range got {
			assert.InEpsilon(t, tc.want[c.ID], c.Score, tolerance, "%s at %s", tc.name, c.ID)
		}
	}
}

// legal draws parameters up to their limits. Every score must be finite and not negative, and
// every item of the query must be recalled.
func legal(t *testing.T, open Open) {
	items := library()
	s := open(t, items)
	rnd := rand.New(rand.NewPCG(12, 2))
	pick := func(from ...float64) float64 { return from[rnd.IntN(len(from))] }
	span := func() time.Duration {
		return time.Duration(pick(1, 60, 86_400, 3.6e6, 9e9)) * time.Second
	}
	most := 1 - math.Nextafter(1, 2) + 1
	for i := range 60 {
		q := query(50, feed.Profile{Interests: map[string]float64{"go": pick(1e-9, 1, 100), "data": 100}, Keywords: feed.Keywords("streams")})
		q.Ranking.Base, q.Ranking.PopularityWeight = pick(1e-9, 0.1, 1000), pick(0, 1e-9, 1000)
		q.Ranking.Decay = feed.Decay{Scale: span(), Offset: span() - time.Second, Decay: pick(1e-300, 0.5, 1-1e-15), Floor: pick(0, 1e-300, 0.5, most)}
		if i%4 > 0 {
			d := feed.Decay{Floor: q.Ranking.Decay.Floor}
			for j := range d.Curves[:1+rnd.IntN(feed.MaxCurves)] {
				d.Curves[j] = feed.Curve{
					Shape: []feed.Shape{"gauss", "exp", "linear"}[rnd.IntN(3)], Scale: span(), Offset: span() - time.Second,
					Decay: pick(1e-300, 0.5, 1-1e-15), Weight: pick(1e-300, 0.5, 1000),
				}
				if rnd.IntN(4) == 0 {
					d.Curves[j] = feed.Curve{Shape: "constant", Weight: pick(1e-300, 0.5, 1000)}
				}
			}
			q.Ranking.Decay = d
		}
		require.NoError(t, q.Ranking.Validate(), fmt.Sprint(q.Ranking))
		got := recallAll(t, s, q).Candidates
		require.Len(t, got, len(items)-1, "all but the one of the future, by %s", q.Ranking)
		for _, c := range got {
			score := float64(c.Score)
			require.False(t, math.IsNaN(score) || math.IsInf(score, 0) || score < 0, "%s has %v by %s", c.ID, score, q.Ranking)
		}
	}
}
