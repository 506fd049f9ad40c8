package feed

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestChangesAppliedByWith(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	spread := func() Spread { return Spread{Decay: 0.01 + 0.9*r.Float64(), Floor: r.Float64()} }
	random := func() Ranking {
		return Ranking{
			Diversity: Diversity{Author: spread(), Site: spread(), Tag: spread(), SameStory: r.Float64()},
			Decay: Decay{
				Scale:  time.Second + time.Duration(r.Int64N(int64(1000*time.Hour))),
				Offset: time.Duration(r.Int64N(int64(time.Hour))), Decay: 0.01 + 0.9*r.Float64(), Floor: r.Float64() / 1e6,
			},
			PopularityWeight: r.Float64(), Popularity2h: r.Float64(), Popularity2d: r.Float64(), Base: 0.1 + r.Float64(), KeywordsSummary: r.Float64(),
		}.written()
	}
	for range 500 {
		from, to := random(), random()
		got, err := from.With(to.Changes(from))
		require.NoError(t, err)
		require.Equal(t, to, got)
		require.Empty(t, to.Changes(to))
		got, err = from.With(to.String())
		require.NoError(t, err)
		require.Equal(t, to, got)
	}
	from := Ranking{Decay: Decay{Scale: 24 * time.Hour, Offset: time.Hour, Decay: 0.5, Floor: 1e-6}, Base: 0.1, KeywordsSummary: 0.5}
	to := from
	to.Decay.Scale, to.PopularityWeight = 48*time.Hour, 0.2
	require.Equal(t, "scale=48h,weight=0.2", to.Changes(from))
	require.Equal(t, "scale=24h,offset=1h,decay=0.5,floor=1e-06,weight=0,weight_2h=0,weight_2d=0,weight_1h=0,weight_6h=0,weight_1d=0,weight_7d=0,base=0.1,summary=0.5,"+
		"author.decay=1,author.floor=0,site.decay=1,site.floor=0,tag.decay=1,tag.floor=0,same_story=0,explore.share=0,"+
		"learned.tags=0,learned.author=0,learned.lang=0,learned.words=0,learned.negative=0,learned.half_life=720h,co_read.weight=0,co_read.scale=0.1,"+
		"home.decay=0.02,home.following=1,home.trending=0.6,home.promoted=0.8,home.affinity=0.5,home.affinity_days=30", from.String())
	to = from
	to.Diversity = Diversity{Site: Spread{Decay: 0.6, Floor: 0.02}, SameStory: 0.5}
	require.Equal(t, "site.decay=0.6,site.floor=0.02,same_story=0.5", to.Changes(from))
	require.Equal(t, "site.decay=1,site.floor=0,same_story=0", from.Changes(to))
	got, err := to.With(from.Changes(to))
	require.NoError(t, err)
	require.False(t, got.Diversity.On())
}
