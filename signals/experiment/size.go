package experiment

import (
	"math"

	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/signals/events"
)

// Size returns how long a test takes to find a difference that is a part of a rate, with a probability
// of 80 % or more, given the estimate after some days, the impressions of an arm until then and the
// part of the variance that lasts ([Lasting]). It is nil if too little is known, and has no time if counts are
// not stored for that long.
//
// It aims at 90 %, because the variance is itself an estimate. Further clicks narrow an estimate, but not by what differs between the readers who come every day:
// the variance after t days is taken to be a + b/t.
func Size(e Estimate, days int, lasting, impressions, rate, relative float64) *api.ReportSize {
	if days == 0 || rate <= 0 || !(e.Variance > 0) || math.IsInf(e.Variance, 1) {
		return nil
	}
	size := &api.ReportSize{Relative: relative}
	a := lasting * e.Variance
	need := resolution(relative*rate, scale*rate, Significance)
	if need <= a {
		return size
	}
	t := (e.Variance - a) * float64(days) / (need - a)
	if t > events.KeepDays {
		return size
	}
	size.Days, size.Impressions = &t, int64(math.Ceil(impressions*t/float64(days)))
	return size
}

// Lasting returns the part of the variance of a comparison that further days do not reduce, 0 to 1: how
// alike buckets are on the odd and on the even days, whose counts are given.
func Lasting(a, b Arm, odd, even events.Cells) float64 {
	var covariance, all float64
	one, two := rateOf(a.During, a.Buckets, a.Columns), rateOf(b.During, b.Buckets, b.Columns)
	before, slope := explained(a, b, one.scores, two.scores)
	for i, arm := range []Arm{a, b} {
		n := float64(len(arm.Buckets))
		if n < 2 {
			return 0
		}
		parts := [3][]float64{
			[]rate{one, two}[i].scores,
			rateOf(odd, arm.Buckets, arm.Columns).scores, rateOf(even, arm.Buckets, arm.Columns).scores,
		}
		if slope != 0 {
			for j := range parts {
				parts[j] = residuals(parts[j], before[i], slope)
			}
		}
		m, k := mean(parts[1]), mean(parts[2])
		sum := 0.0
		for j := range parts[1] {
			sum += (parts[1][j] - m) * (parts[2][j] - k)
		}
		covariance += sum / (n * (n - 1))
		all += variance(parts[0])
	}
	if all == 0 {
		return 0
	}
	return min(max(covariance/all, 0), 1)
}
