package feed_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/feed"
)

func TestCoReadFactor(t *testing.T) {
	t.Parallel()
	standard := feed.CoRead{Weight: 3, Scale: 0.1}
	assert.Equal(t, feed.CoRead{Scale: 0.1}, feed.DefaultRanking().CoRead)
	for _, tt := range []struct {
		by      feed.CoRead
		near    float64
		readers int
		factor  float64
		damped  float64 // with a mean of 1.5
	}{
		{standard, 0, 0, 1, 1.5},
		{standard, 0, 3, 1, 1.125},
		{standard, 0.9, 99, 4, 3.975},
		{standard, 0.9, 1, 2.77037, 2.135184}, // as much as ten readers raise live popularity
		{standard, 0.9, 11, 2.834608, 2.723391},
		{standard, 0.1, 9, 1.90309, 1.862781},
		{standard, 99, 999, 4, 3.9975},
		{feed.CoRead{Weight: 1, Scale: 1}, 9, 1, 2, 1.75},
		{feed.CoRead{Weight: 3}, 0.1, 9, 1.90309, 1.862781}, // the default scale
		{feed.CoRead{}, 9, 1, 1, 1.25},
	} {
		factor := tt.by.Factor(tt.near, tt.readers)
		assert.InDelta(t, tt.factor, factor, 1e-5)
		assert.InDelta(t, tt.damped, tt.by.Damped(factor, 1.5, tt.readers), 1e-5)
	}
	assert.True(t, standard.On())
	assert.False(t, feed.CoRead{Scale: 1}.On())
	assert.False(t, feed.Ranking{CoRead: standard}.WithoutLive().CoRead.On())
}
