package bench

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestUnsoundResult(t *testing.T) {
	sound := func() Result {
		return Result{
			Cases:   []Case{{Name: "freshet", Calls: 1, PerSecond: 2, Latency: Latency{P50: 1, P95: 1, P99: 2, Max: 3}}},
			Ratios:  []Ratio{{Of: "freshet", To: "gin", Median: 1, Min: 1, Max: 1, Rounds: []float64{1, 1}}},
			Figures: []Value{{"items", 0, ""}},
		}
	}
	r := sound()
	assert.Empty(t, r.unsound(2))
	assert.Empty(t, (&Result{Skipped: "no service"}).unsound(2))
	for says, change := range map[string]func(*Result){
		"freshet: 0 calls, 2 a second":                                func(r *Result) { r.Cases[0].Calls = 0 },
		"freshet: 1 calls, 0 a second":                                func(r *Result) { r.Cases[0].PerSecond = 0 },
		"freshet: p50, p95, p99 and the slowest are 4, 1, 2 and 3 µs": func(r *Result) { r.Cases[0].Latency.P50 = 4 },
		"freshet: p50, p95, p99 and the slowest are 1, 1, 2 and 1 µs": func(r *Result) { r.Cases[0].Latency.Max = 1 },
		"AllocBytes:+Inf":                   func(r *Result) { r.Cases[0].AllocBytes = math.Inf(1) },
		"freshet to gin: [1] in 2 rounds":   func(r *Result) { r.Ratios[0].Rounds = []float64{1} },
		"freshet to gin: [1 1] in 2 rounds": func(r *Result) { r.Ratios[0].Median = math.NaN() },
		"items is NaN":                      func(r *Result) { r.Figures[0].Value = math.NaN() },
	} {
		r := sound()
		change(&r)
		wrong := r.unsound(2)
		assert.Len(t, wrong, 1, says)
		assert.Contains(t, wrong[0], says)
	}
}
