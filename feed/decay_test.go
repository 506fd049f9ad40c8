package feed_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

var defaultDecay = feed.Decay{Scale: 24 * time.Hour, Offset: time.Hour, Decay: 0.5, Floor: 1e-6}

// TestDecayKnownValues checks the curve against values calculated by hand from Elasticsearch's
// formula: with x = distance − offset in units of scale, the factor is decay^(x²).
func TestDecayKnownValues(t *testing.T) {
	t.Parallel()
	hour := time.Hour.Seconds()
	for _, tc := range []struct {
		name     string
		decay    feed.Decay
		distance float64
		want     float64
	}{
		{"at the origin", defaultDecay, 0, 1},
		{"within the offset", defaultDecay, 0.5 * hour, 1},
		{"at the offset", defaultDecay, hour, 1},
		{"half a scale past the offset", defaultDecay, 13 * hour, 0.8408964152537145},
		{"offset + scale", defaultDecay, 25 * hour, 0.5},
		{"offset + 2 scale", defaultDecay, 49 * hour, 0.0625},
		{"offset + 3 scale", defaultDecay, 73 * hour, 0.001953125},
		{"offset + 4 scale", defaultDecay, 97 * hour, 0.0000152587890625},
		{"past the floor", defaultDecay, 121 * hour, 1e-6},
		{"far past the floor", defaultDecay, 1e9, 1e-6},
		{"in the future", defaultDecay, -25 * hour, 0.5},
		{"no floor", feed.Decay{Scale: 24 * time.Hour, Decay: 0.5}, 120 * hour, 2.9802322387695312e-08},
		{"other decay", feed.Decay{Scale: 6 * time.Hour, Offset: 2 * time.Hour, Decay: 0.33}, 8 * hour, 0.33},
		{"a day at 6h", feed.Decay{Scale: 6 * time.Hour, Decay: 0.9}, 24 * hour, math.Pow(0.9, 16)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			require.NoError(t, validate(tc.decay))
			require.InEpsilon(t, tc.want, tc.decay.Func().At(tc.distance), 1e-12)
		})
	}
}

func TestDecayEqualsElasticsearch(t *testing.T) {
	t.Parallel()
	for _, d := range []feed.Decay{defaultDecay, {Scale: 90 * time.Minute, Offset: time.Minute, Decay: 0.2}, {Scale: 240 * time.Hour, Decay: 0.99, Floor: 0.5}} {
		variance := -math.Pow(d.Scale.Seconds(), 2) / (2 * math.Log(d.Decay))
		last := 1.0
		for s := 0.0; s < 20*24*3600; s += 997 {
			want := math.Exp(-math.Pow(math.Max(0, math.Abs(s)-d.Offset.Seconds()), 2) / (2 * variance))
			got := d.Func().At(s)
			require.InDelta(t, math.Max(d.Floor, want), got, 1e-12)
			require.LessOrEqual(t, got, last, "never rises with distance")
			require.Equal(t, got, d.Func().At(-s), "is symmetric")
			last = got
		}
	}
}

func TestRankingValidate(t *testing.T) {
	t.Parallel()
	good := feed.Ranking{Decay: defaultDecay, Base: 0.1}
	require.NoError(t, good.Validate())
	nan := math.NaN()
	for _, tc := range []struct {
		name   string
		change func(*feed.Ranking)
		want   string
	}{
		{"no scale", func(r *feed.Ranking) { r.Decay.Scale = 0 }, "decay.scale"},
		{"negative scale", func(r *feed.Ranking) { r.Decay.Scale = -time.Hour }, "decay.scale"},
		{"negative offset", func(r *feed.Ranking) { r.Decay.Offset = -1 }, "decay.offset"},
		{"decay 0", func(r *feed.Ranking) { r.Decay.Decay = 0 }, "decay.decay"},
		{"decay 1", func(r *feed.Ranking) { r.Decay.Decay = 1 }, "decay.decay"},
		{"decay NaN", func(r *feed.Ranking) { r.Decay.Decay = nan }, "decay.decay"},
		{"floor 1", func(r *feed.Ranking) { r.Decay.Floor = 1 }, "decay.floor"},
		{"floor NaN", func(r *feed.Ranking) { r.Decay.Floor = nan }, "decay.floor"},
		{"negative weight", func(r *feed.Ranking) { r.PopularityWeight = -1 }, "popularity.weight"},
		{"negative 2h", func(r *feed.Ranking) { r.Popularity2h = -1 }, "popularity.weight_2h"},
		{"2d NaN", func(r *feed.Ranking) { r.Popularity2d = nan }, "popularity.weight_2d"},
		{"weight NaN", func(r *feed.Ranking) { r.PopularityWeight = nan }, "popularity.weight"},
		{"base 0", func(r *feed.Ranking) { r.Base = 0 }, "base"},
		{"base infinite", func(r *feed.Ranking) { r.Base = math.Inf(1) }, "base"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := good
			tc.change(&r)
			err := r.Validate()
			require.ErrorIs(t, err, feed.ErrInvalid)
			require.ErrorContains(t, err, tc.want)
		})
	}
}

func TestPopularityFactor(t *testing.T) {
	t.Parallel()
	require.Equal(t, 1.0, feed.Ranking{}.PopularityFactor(5, 5, 1000))
	r := feed.Ranking{PopularityWeight: 0.5}
	require.Equal(t, 1.0, r.PopularityFactor(0, 0, 0))
	require.Equal(t, 1.0, r.PopularityFactor(-1, -1, -5))
	require.InDelta(t, 1.5, r.PopularityFactor(7, 7, 9), 1e-12)
	require.InDelta(t, 2.5, r.PopularityFactor(7, 7, 999), 1e-12)
	r.Popularity2h, r.Popularity2d = 1.5, 0.25
	require.InDelta(t, 1+1.5+0.25*2+0.5*3, r.PopularityFactor(9, 99, 999), 1e-12)
}
