package bench

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMedianAndQuantile(t *testing.T) {
	for _, c := range []struct {
		values       []float64
		median, high float64
	}{
		{[]float64{3}, 3, 3},
		{[]float64{4, 1}, 2.5, 4},
		{[]float64{9, 1, 5}, 5, 9},
		{[]float64{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 5.5, 10},
	} {
		before := append([]float64(nil), c.values...)
		assert.Equal(t, c.median, median(c.values))
		assert.Equal(t, c.high, quantile(c.values, 0.95))
		assert.Equal(t, before, c.values, "the values keep their order")
	}
}

func TestPercentiles(t *testing.T) {
	times := newTimes()
	for i := range 1000 {
		require.NoError(t, times.RecordValue(int64(i+1)*int64(time.Millisecond)/100)) // 10 µs to 10 ms
	}
	sum := total{name: "x", turn: turn{took: time.Second, times: times, answers: 5000}, rates: []float64{1, 3, 2}}
	sum.used = usage{mallocs: 4000, allocated: 1 << 20, cpu: map[string]time.Duration{"freshet": time.Second}}
	c := sum.measured()
	assert.Equal(t, int64(1000), c.Calls)
	assert.Equal(t, 2.0, c.PerSecond)
	for what, pair := range map[string][2]float64{
		"p50": {5000, c.Latency.P50}, "p95": {9500, c.Latency.P95}, "p99": {9900, c.Latency.P99}, "max": {10_000, c.Latency.Max},
	} {
		assert.InEpsilon(t, pair[0], pair[1], 0.002, what)
	}
	assert.Equal(t, 4.0, c.Allocs)
	assert.Equal(t, float64(1<<20)/1000, c.AllocBytes)
	assert.Equal(t, 5.0, c.AnswerBytes)
	assert.Equal(t, map[string]float64{"freshet": 1000}, c.CPU)
}

func TestRatioPerRound(t *testing.T) {
	// In the second round the machine is half as fast, which must not affect the ratios.
	r := ratio(total{name: "a", rates: []float64{100, 50, 120}}, total{name: "b", rates: []float64{200, 100, 200}})
	assert.Equal(t, Ratio{Of: "a", To: "b", Median: 0.5, Min: 0.5, Max: 0.6, Rounds: []float64{0.5, 0.5, 0.6}}, r)
}

func TestUsage(t *testing.T) {
	before := usage{cpu: map[string]time.Duration{"a": 1, "gone": 5}, mallocs: 10, allocated: 100}
	after := usage{cpu: map[string]time.Duration{"a": 4, "new": 7}, mallocs: 15, allocated: 130}
	spent := after.minus(before)
	assert.Equal(t, usage{cpu: map[string]time.Duration{"a": 3}, mallocs: 5, allocated: 30}, spent, "of what is not in both nothing is known")
	assert.Equal(t, usage{cpu: map[string]time.Duration{"a": 6}, mallocs: 10, allocated: 60}, usage{}.plus(spent).plus(spent))
}

// TestSideOrderRotates checks that each round begins with the next side, and that unmeasured
// steps do not count.
func TestSideOrderRotates(t *testing.T) {
	b := &bench{meter: &meter{}}
	var order string
	sides := make([]side, 3)
	for i, name := range []string{"a", "b", "c"} {
		sides[i] = side{
			name:    name,
			prepare: func(context.Context, int) error { order += "."; return nil },
			run: func(ctx context.Context, _ int) (turn, error) {
				order += name
				return eachFor(ctx, 0, func(int) (time.Duration, error) { return time.Millisecond, nil })
			},
			settle: func(context.Context) error { order += "!"; return nil },
		}
	}
	totals, err := b.compare(t.Context(), 4, sides...)
	require.NoError(t, err)
	assert.Equal(t, ".a!.b!.c!.b!.c!.a!.c!.a!.b!.a!.b!.c!", order)
	for _, sum := range totals {
		assert.Equal(t, []float64{1000, 1000, 1000, 1000}, sum.rates)
		assert.Equal(t, int64(12), sum.turn.times.TotalCount())
	}
}

func TestSideFailure(t *testing.T) {
	b := &bench{meter: &meter{}}
	broken := errors.New("broken")
	_, err := b.compare(t.Context(), 2, side{name: "a", run: func(context.Context, int) (turn, error) { return turn{}, broken }})
	require.ErrorIs(t, err, broken)
	_, err = b.compare(t.Context(), 2, side{name: "a", prepare: func(context.Context, int) error { return broken }})
	require.ErrorIs(t, err, broken)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = eachFor(ctx, time.Hour, func(int) (time.Duration, error) { return 0, nil })
	require.ErrorIs(t, err, context.Canceled)
}
