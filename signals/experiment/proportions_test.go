package experiment_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/signals/experiment"
)

// TestWilson compares with R. G. Newcombe, "Two-Sided Confidence Intervals for the Single
// Proportion", Statistics in Medicine 17, 1998, table I, method 3.
func TestWilson(t *testing.T) {
	for _, c := range []struct {
		k, n      int64
		low, high float64
	}{
		{81, 263, 0.2553, 0.3662},
		{15, 148, 0.0624, 0.1605},
		{0, 20, 0, 0.1611},
		{1, 29, 0.0061, 0.1718},
	} {
		got := experiment.Wilson(c.k, c.n)
		assert.InDelta(t, c.low, got.Low, 5e-5, "%d/%d", c.k, c.n)
		assert.InDelta(t, c.high, got.High, 5e-5, "%d/%d", c.k, c.n)
	}
	assert.Equal(t, api.Interval{Low: 0, High: 1}, experiment.Wilson(0, 0))
	assert.Equal(t, 1.0, experiment.Wilson(7, 7).High)
	assert.Equal(t, experiment.Wilson(7, 7), experiment.Wilson(9, 7), "more clicks than impressions")
}
