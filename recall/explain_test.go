package recall_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

func TestDirectBypassesShared(t *testing.T) {
	inner := &source{}
	front := recall.NewShared(inner, func() time.Time { return time.Unix(1000, 0) }, recall.SharedConfig{Share: time.Hour})
	require.Same(t, inner, recall.Direct(front))
	require.Same(t, inner, recall.Direct(inner))

	recalled(t, front, query())
	recalled(t, recall.Direct(front), query())
	require.EqualValues(t, 2, inner.asked.Load(), "it does not come from what is shared")
}

func TestSortGains(t *testing.T) {
	gains := []feed.Gain{{Name: "c", Score: 3}, {Name: "d", Score: 1}, {Name: "a", Score: 3}, {Name: "b", Score: 4}}
	recall.SortGains(gains)
	assert.Equal(t, []feed.Gain{{Name: "b", Score: 4}, {Name: "a", Score: 3}, {Name: "c", Score: 3}, {Name: "d", Score: 1}}, gains)
}

func TestFinish(t *testing.T) {
	q := feed.Query{
		Ranking: feed.Ranking{Base: 0.1, PopularityWeight: 2, Decay: feed.Decay{Scale: 24 * time.Hour, Offset: time.Hour, Decay: 0.5}},
		Origin:  time.Unix(1_000_000, 0),
	}
	for popularity, factor := range map[float64]float64{0: 1, -3: 1, 9: 3, 99: 5} {
		f := recall.Factors{
			UpdateTime: 1_000_000 - 25*3600, Popularity: popularity,
			Tags: []feed.Gain{{Name: "go", Score: 2}}, Keywords: []feed.Gain{{Name: "k", Score: 0.9}},
		}
		f.Finish(&q, q.Ranking.Decay.Func())
		assert.InEpsilon(t, 3, f.Relevance, 1e-12)
		assert.InEpsilon(t, 0.5, f.Decay, 1e-12)
		assert.InEpsilon(t, factor, f.PopularityFactor, 1e-12)
		assert.InEpsilon(t, q.Ranking.PopularityFactor(0, 0, popularity), f.PopularityFactor, 1e-12)
		assert.InEpsilon(t, 1.5*factor, f.Score, 1e-6)
	}
}
