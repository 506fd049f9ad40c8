package experiment

import (
	"math"

	"github.com/freshet/freshet/feed/api"
)

// Significance is the p-value below which a difference is called significant.
const Significance = 0.05

// scale is the standard deviation of the true differences that the test expects, as a part of the mean
// rate of both arms. The test is valid for any; it finds differences of about this size soonest.
const scale = 0.1

// Width returns the standard deviation of the differences that the test of two rates expects. That of
// control alone would be 0 if nobody clicks there, and no difference would ever be found.
func Width(a, b float64) float64 { return scale * (a + b) / 2 }

// Evidence returns how much more likely an estimate is if the true difference is drawn from a normal
// distribution around 0 with a variance of width², than if it is 0. If it is 0, the probability that
// the evidence ever reaches 1/α is at most α, however often one looks while counts grow: so 1/Evidence
// is a p-value at each look. (The mixture sequential probability ratio test: H. Robbins,
// "Statistical Methods Related to the Law of the Iterated Logarithm", Ann. Math. Stat. 41, 1970; R.
// Johari, P. Koomen, L. Pekelis, D. Walsh, "Always Valid Inference: Continuous Monitoring of A/B
// Tests", Operations Research 70, 2022, equation 7.)
func (e Estimate) Evidence(width float64) float64 {
	v, w := e.Variance, width*width
	switch {
	case math.IsInf(v, 1) || w == 0 || e.Difference == 0 && v == 0:
		return 1
	case v == 0:
		return math.Inf(1)
	}
	return math.Sqrt(v/(v+w)) * math.Exp(e.Difference*e.Difference*w/(2*v*(v+w)))
}

// P returns the p-value of an estimate, 1 at most.
func (e Estimate) P(width float64) float64 { return min(1, 1/e.Evidence(width)) }

// Interval returns the differences that the evidence does not exclude: together, those of all looks
// contain the true one with a probability of 1−α.
func (e Estimate) Interval(width, alpha float64) api.Interval {
	half := reach(e.Variance, width, alpha)
	return api.Interval{Low: max(-1, e.Difference-half), High: min(1, e.Difference+half)}
}

// reach returns the smallest difference whose evidence, given its variance, reaches 1/alpha.
func reach(v, width, alpha float64) float64 {
	w := width * width
	switch {
	case math.IsInf(v, 1) || w == 0:
		return math.Inf(1)
	case v == 0:
		return 0
	}
	return math.Sqrt(2 * v * (v + w) / w * math.Log(math.Sqrt((v+w)/v)/alpha))
}

// z90 is the 90 % quantile of the standard normal distribution.
const z90 = 1.2815515655446004

// resolution returns the variance at which a difference of this size is found with a probability of 90
// %.
func resolution(difference, width, alpha float64) float64 {
	low, high := 0.0, difference*difference
	for range 100 {
		v := (low + high) / 2
		if reach(v, width, alpha)+z90*math.Sqrt(v) <= difference {
			low = v
		} else {
			high = v
		}
	}
	return low
}
