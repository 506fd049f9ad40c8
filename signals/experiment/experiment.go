// Package experiment compares variants of the ranking by what their readers were shown and did. The
// counts are those of package events, per bucket of agents ([feed.Bucket]).
//
// An experiment assigns whole buckets at random, so buckets, not impressions, are the independent
// units: what one reader clicks, today and tomorrow, is correlated. With fewer readers than buckets
// a bucket is a reader. Everything here stays valid however often, and whenever, one looks
// ([Evidence]).
package experiment

import (
	"math"

	"github.com/freshet/freshet/signals/events"
)

// Arm holds what the agents of some buckets were shown and did: those of a variant, or of control.
type Arm struct {
	Buckets []int            // assigned to the arm, each once
	During  events.Cells     // the counts of the run
	Before  events.Cells     // of the same buckets before the run, under any ranking; nil if unknown
	Columns [2]events.Column // of which the rate is a ratio, e.g. clicks and impressions
}

// Estimate is an estimate of a difference, approximately normal.
type Estimate struct {
	Difference float64
	Variance   float64 // +Inf if nothing is known
}

// rate is the ratio of two sums over the buckets of an arm.
type rate struct {
	k, n  float64
	ratio float64
	// scores hold, for each bucket, its part of the error of the ratio, times the number of buckets:
	// their mean is 0, and their variance over the number of buckets is that of the ratio.
	scores []float64
}

// rateOf linearizes the ratio of the sums of two columns. (For example W. G. Cochran, "Sampling
// Techniques", 3rd edition, 1977, section 6.3; as delta method for experiments: A. Deng, U. Knoblich,
// J. Lu, "Applying the Delta Method in Metric Analytics", KDD 2018.)
func rateOf(cells events.Cells, buckets []int, columns [2]events.Column) rate {
	r := rate{scores: make([]float64, len(buckets))}
	for _, b := range buckets {
		r.k += float64(cells.At(b, columns[0]))
		r.n += float64(cells.At(b, columns[1]))
	}
	if r.n == 0 {
		return r
	}
	r.ratio = r.k / r.n
	mean := r.n / float64(len(buckets))
	for i, b := range buckets {
		r.scores[i] = (float64(cells.At(b, columns[0])) - r.ratio*float64(cells.At(b, columns[1]))) / mean
	}
	return r
}

// Compare returns the rate of arm a minus that of arm b. If both know what their agents did before,
// the part of the difference that this explains is subtracted, which narrows the estimate and moves
// it in neither direction, because the buckets were assigned at random. (CUPED: A. Deng, Y. Xu, R.
// Kohavi, T. Walker, "Improving the Sensitivity of Online Controlled Experiments by Utilizing
// Pre-Experiment Data", WSDM 2013.)
func Compare(a, b Arm) Estimate {
	one, two := rateOf(a.During, a.Buckets, a.Columns), rateOf(b.During, b.Buckets, b.Columns)
	plain := Estimate{one.ratio - two.ratio, variance(one.scores) + variance(two.scores)}
	if one.n == 0 || two.n == 0 || len(a.Buckets) < 2 || len(b.Buckets) < 2 {
		plain.Variance = math.Inf(1)
		return plain
	}
	before, slope := explained(a, b, one.scores, two.scores)
	if slope == 0 {
		return plain
	}
	return Estimate{
		Difference: plain.Difference - slope*(mean(before[0])-mean(before[1])),
		Variance:   variance(residuals(one.scores, before[0], slope)) + variance(residuals(two.scores, before[1], slope)),
	}
}

// explained returns the scores of both arms before the experiment, and the slope of those during it on
// them: 0 if nothing is known.
func explained(a, b Arm, one, two []float64) (before [2][]float64, slope float64) {
	if a.Before == nil || b.Before == nil {
		return before, 0
	}
	before = priorScores(a, b)
	return before, regression(one, before[0], two, before[1])
}

// priorScores returns the scores of the buckets of both arms before the experiment, by the same
// measure: only their differences between the arms count.
func priorScores(a, b Arm) (scores [2][]float64) {
	all := append(append([]int{}, a.Buckets...), b.Buckets...)
	merged := a.Before.Of(a.Buckets)
	merged.Merge(b.Before.Of(b.Buckets))
	r := rateOf(merged, all, a.Columns)
	return [2][]float64{r.scores[:len(a.Buckets)], r.scores[len(a.Buckets):]}
}

// variance returns the variance of the mean.
func variance(xs []float64) float64 {
	m, sum := mean(xs), 0.0
	for _, x := range xs {
		sum += (x - m) * (x - m)
	}
	n := float64(len(xs))
	return sum / (n * (n - 1))
}

func mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}

// regression returns the slope of y on x within two groups; 0 if x is constant.
func regression(y1, x1, y2, x2 []float64) float64 {
	var xy, xx float64
	for _, g := range [][2][]float64{{y1, x1}, {y2, x2}} {
		my, mx := mean(g[0]), mean(g[1])
		for i := range g[0] {
			xy += (g[0][i] - my) * (g[1][i] - mx)
			xx += (g[1][i] - mx) * (g[1][i] - mx)
		}
	}
	if xx == 0 {
		return 0
	}
	return xy / xx
}

func residuals(ys, xs []float64, slope float64) []float64 {
	left := make([]float64, len(ys))
	for i := range ys {
		left[i] = ys[i] - slope*xs[i]
	}
	return left
}
