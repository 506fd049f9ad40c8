package bench

import (
	"fmt"
	"math"
	"slices"
)

// unsound returns the defects of a result that no machine's speed can explain: a side without
// calls, percentiles out of order, a ratio with missing rounds, a figure that is not finite.
func (r *Result) unsound(rounds int) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for _, c := range r.Cases {
		switch l := c.Latency; {
		case c.Calls < 1 || c.PerSecond <= 0:
			say("%s: %d calls, %v a second", c.Name, c.Calls, c.PerSecond)
		case !slices.IsSorted([]float64{l.P50, l.P95, l.P99, l.Max}):
			say("%s: p50, p95, p99 and the slowest are %v, %v, %v and %v µs", c.Name, l.P50, l.P95, l.P99, l.Max)
		case !finite(c.PerSecond, l.Max, c.Allocs, c.AllocBytes, c.AnswerBytes):
			say("%s: %+v", c.Name, c)
		}
	}
	for _, ratio := range r.Ratios {
		if len(ratio.Rounds) != rounds || !finite(ratio.Median, ratio.Min, ratio.Max) {
			say("%s to %s: %v in %d rounds", ratio.Of, ratio.To, ratio.Rounds, rounds)
		}
	}
	for _, f := range r.Figures {
		if !finite(f.Value) {
			say("%s is %v", f.Name, f.Value)
		}
	}
	return wrong
}

// finite reports whether no value is NaN or infinite, which JSON cannot represent.
func finite(values ...float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}
