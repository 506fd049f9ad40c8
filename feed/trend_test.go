package feed_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/feed"
)

func TestTrend(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reactions float64
		age       time.Duration
		want      float64
		mark      string
	}{
		{0, 0, 0, ""},
		{5, 0, 5, "warm"}, // the threshold must be exceeded
		{5.01, 0, 5.01, "hot"},
		{20, time.Hour, 5, "warm"},
		{8, time.Hour, 2, ""},
		{100, 3 * time.Hour, 6.25, "hot"},
		{90, 5 * time.Hour, 2.5, "warm"},
		{10, 30 * time.Minute, 10 / 2.25, "warm"},
		{3, -time.Hour, 3, "warm"}, // dated in the future
		{1000, feed.TrendWindow, 1000 / (169. * 169), ""},
	} {
		got := feed.TrendOf(c.reactions, c.age)
		assert.InDelta(t, c.want, float64(got), 1e-12, "%v after %v", c.reactions, c.age)
		assert.Equal(t, c.mark, got.Mark(), "%v after %v", c.reactions, c.age)
	}
}

func TestGuestOrder(t *testing.T) {
	t.Parallel()
	assert.InDelta(t, 6.25*math.Exp(-0.06), feed.TrendOf(100, 3*time.Hour).Guest(3*time.Hour), 1e-12)
	assert.InDelta(t, 6.0, feed.Trend(6).Guest(-time.Minute), 1e-12)
}
