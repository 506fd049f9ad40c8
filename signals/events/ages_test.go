package events_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/signals/events"
)

func TestAgeBuckets(t *testing.T) {
	for seconds, want := range map[int64]int{-5: 0, 0: 0, 1: 0, 2: 4, 3: 6, 4: 8, 1024: 40, 3600: 47, 1 << 29: 116, math.MaxInt64: events.AgeBuckets - 1} {
		assert.Equal(t, want, events.AgeBucket(seconds), "%d s", seconds)
	}
	for s := int64(2); s < 1<<32; s = s*9/8 + 1 {
		i := events.AgeBucket(s)
		if i < events.AgeBuckets-1 {
			assert.LessOrEqual(t, math.Exp2(float64(i)/4), float64(s)*(1+1e-12))
			assert.Greater(t, math.Exp2(float64(i+1)/4), float64(s)*(1-1e-12))
		}
	}
}

// TestMedian compares with the exact median, for several distributions of ages.
func TestMedian(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for name, age := range map[string]func() float64{
		"minutes":      func() float64 { return 60 + 3000*rnd.Float64() },
		"log normal":   func() float64 { return math.Exp(10 + 2*rnd.NormFloat64()) },
		"all the same": func() float64 { return 86_400 },
		"years":        func() float64 { return 3e7 * (1 + 5*rnd.Float64()) },
	} {
		t.Run(name, func(t *testing.T) {
			var ages events.Ages
			all := make([]float64, 4001)
			for i := range all {
				all[i] = math.Floor(age())
				ages.Count(int64(all[i]))
			}
			slices.Sort(all)
			require.EqualValues(t, len(all), ages.N())
			median, ok := ages.Median()
			require.True(t, ok)
			assert.InDelta(t, 0, math.Log2(median/all[len(all)/2]), 0.125+1e-9, "got %v, want %v", median, all[len(all)/2])
		})
	}
	var none events.Ages
	_, ok := none.Median()
	assert.False(t, ok)
}
