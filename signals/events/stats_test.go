package events_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/signals/events"
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
		got := events.Wilson(c.k, c.n)
		assert.InDelta(t, c.low, got.Low, 5e-5, "%d/%d", c.k, c.n)
		assert.InDelta(t, c.high, got.High, 5e-5, "%d/%d", c.k, c.n)
	}
	assert.Equal(t, api.Interval{Low: 0, High: 1}, events.Wilson(0, 0))
	assert.Equal(t, 1.0, events.Wilson(7, 7).High)
	assert.Equal(t, events.Wilson(7, 7), events.Wilson(9, 7), "more clicks than impressions")
}

// TestDifferenceInterval compares with the examples in Newcombe's second paper of that year, table
// II, method 10.
func TestDifferenceInterval(t *testing.T) {
	for _, c := range []struct {
		k1, n1, k2, n2 int64
		low, high      float64
	}{
		{56, 70, 48, 80, 0.0524, 0.3339},
		{9, 10, 3, 10, 0.1705, 0.8090},
		{5, 56, 0, 29, -0.0381, 0.1926},
		{10, 10, 0, 10, 0.6075, 1},
	} {
		got := events.DifferenceInterval(c.k1, c.n1, c.k2, c.n2)
		assert.InDelta(t, c.low, got.Low, 5e-5, "%+v", c)
		assert.InDelta(t, c.high, got.High, 5e-5, "%+v", c)
	}
	assert.Equal(t, api.Interval{Low: -1, High: 1}, events.DifferenceInterval(0, 0, 1, 2))
}

// TestTwoProportions compares with textbook examples: 351 of 605 against 41 of 195 is the poll on
// cigarette taxes in Pennsylvania State University's STAT 415, lesson 9.4, with z = 8.99. The
// square of z is the χ² of the 2×2 table, here by Pearson's formula.
func TestTwoProportions(t *testing.T) {
	z, p := events.TwoProportions(351, 605, 41, 195)
	assert.InDelta(t, 8.99, z, 0.005)
	assert.Less(t, p, 1e-15)

	rnd := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		n1, n2 := 1+rnd.Int64N(5000), 1+rnd.Int64N(5000)
		k1, k2 := 1+rnd.Int64N(n1), rnd.Int64N(n2)
		z, p := events.TwoProportions(k1, n1, k2, n2)
		a, b, c, d := float64(k1), float64(n1-k1), float64(k2), float64(n2-k2)
		chi2 := (a + b + c + d) * (a*d - b*c) * (a*d - b*c) / ((a + b) * (c + d) * (a + c) * (b + d))
		assert.InEpsilon(t, 1+chi2, 1+z*z, 1e-9)
		back, same := events.TwoProportions(k2, n2, k1, n1)
		assert.InDelta(t, -z, back, 1e-9)
		assert.InDelta(t, p, same, 1e-12)
	}
	// The well-known quantiles |z| = 1.96 and 2.576.
	for want, z := range map[float64]float64{0.05: 1.959964, 0.01: 2.575829} {
		assert.InDelta(t, want, math.Erfc(z/math.Sqrt2), 1e-6)
	}
	for _, c := range [][4]int64{{0, 0, 1, 2}, {0, 10, 0, 10}, {10, 10, 5, 5}} {
		z, p := events.TwoProportions(c[0], c[1], c[2], c[3])
		assert.Zero(t, z)
		assert.Equal(t, 1.0, p)
	}
}

// TestFalseAlarms repeatedly draws two identical variants: at 0.05, one in twenty pairs is reported
// as different. The seed is fixed.
func TestFalseAlarms(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	const rounds, n, rate = 2000, 2000, 0.05
	draw := func() (k int64) {
		for range n {
			if rnd.Float64() < rate {
				k++
			}
		}
		return k
	}
	alarms, outside := 0, 0
	for range rounds {
		k1, k2 := draw(), draw()
		if _, p := events.TwoProportions(k1, n, k2, n); p < events.Significance {
			alarms++
		}
		if i := events.Wilson(k1, n); rate < i.Low || rate > i.High {
			outside++
		}
	}
	assert.InDelta(t, 0.05, float64(alarms)/rounds, 0.015)
	assert.InDelta(t, 0.05, float64(outside)/rounds, 0.015)
}

func TestEnough(t *testing.T) {
	for _, c := range []struct {
		k1, n1, k2, n2 int64
		want           bool
	}{
		{100, 1000, 90, 1000, true},
		{100, 999, 90, 1000, false},
		{100, 1000, 90, 999, false},
		{5, 1000, 5, 1000, true},
		{4, 1000, 5, 1000, false},
		{0, 1000, 300, 100_000, false},
		{1000, 1000, 1000, 1000, false},
	} {
		assert.Equal(t, c.want, events.Enough(c.k1, c.n1, c.k2, c.n2), "%+v", c)
	}
}
