package events

import (
	"math"

	"github.com/freshet/freshet/feed/api"
)

// z95 is the 97.5 % quantile of the standard normal distribution: 2.5 % are excluded on either
// side, so 95 of 100 intervals contain the true value.
const z95 = 1.959963984540054

// Significance is the p-value below which a difference is called significant.
const Significance = 0.05

// MinImpressions is the number of impressions that each of two variants needs before their
// difference is tested, in addition to [minExpected].
const MinImpressions = 1000

// minExpected is the minimum expected number of clicks, and of impressions without one, of each
// variant under the assumption that both are equal: below it the normal approximation of the test
// is poor. (W. G. Cochran, "Some Methods for Strengthening the Common χ² Tests", Biometrics 10,
// 1954.)
const minExpected = 5

// Wilson returns the score interval of a proportion of k in n. Unlike the textbook interval it
// stays within 0 and 1 and is useful for few clicks, or none. (E. B. Wilson, "Probable Inference,
// the Law of Succession, and Statistical Inference", JASA 22, 1927, without continuity correction.)
// For n = 0 it is 0 to 1.
func Wilson(k, n int64) api.Interval {
	if n <= 0 {
		return api.Interval{High: 1}
	}
	k = min(max(k, 0), n)
	total, z2 := float64(n), z95*z95
	p := float64(k) / total
	middle := (p + z2/(2*total)) / (1 + z2/total)
	half := z95 / (1 + z2/total) * math.Sqrt(p*(1-p)/total+z2/(4*total*total))
	interval := api.Interval{Low: max(0, middle-half), High: min(1, middle+half)}
	if k == 0 { // exactly, regardless of rounding
		interval.Low = 0
	}
	if k == n {
		interval.High = 1
	}
	return interval
}

// DifferenceInterval returns the interval of p₁ − p₂ for proportions of k1 in n1 and k2 in n2,
// combined from their two Wilson intervals. (R. G. Newcombe, "Interval Estimation for the
// Difference between Independent Proportions", Statistics in Medicine 17, 1998: method 10.)
func DifferenceInterval(k1, n1, k2, n2 int64) api.Interval {
	if n1 <= 0 || n2 <= 0 {
		return api.Interval{Low: -1, High: 1}
	}
	p1, p2 := proportion(k1, n1), proportion(k2, n2)
	one, two := Wilson(k1, n1), Wilson(k2, n2)
	return api.Interval{
		Low:  p1 - p2 - math.Hypot(p1-one.Low, two.High-p2),
		High: p1 - p2 + math.Hypot(one.High-p1, p2-two.Low),
	}
}

// TwoProportions performs the pooled z-test of whether two proportions, of k1 in n1 and k2 in n2,
// are equal. It returns z and the two-sided p-value, the probability of a difference at least this
// large if they are. (For example J. L. Fleiss, B. Levin, M. C. Paik, "Statistical Methods for
// Rates and Proportions", 3rd edition, 2003, section 3.3, without continuity correction.) If both
// are 0, both are 1 or one of n1 and n2 is 0, z is 0 and p is 1.
func TwoProportions(k1, n1, k2, n2 int64) (z, p float64) {
	if n1 <= 0 || n2 <= 0 {
		return 0, 1
	}
	p1, p2 := proportion(k1, n1), proportion(k2, n2)
	pooled := (p1*float64(n1) + p2*float64(n2)) / float64(n1+n2)
	spread := math.Sqrt(pooled * (1 - pooled) * (1/float64(n1) + 1/float64(n2)))
	if spread == 0 {
		return 0, 1
	}
	z = (p1 - p2) / spread
	return z, math.Erfc(math.Abs(z) / math.Sqrt2)
}

// Enough reports whether two variants have enough impressions and clicks for [TwoProportions] to be
// meaningful.
func Enough(k1, n1, k2, n2 int64) bool {
	if n1 < MinImpressions || n2 < MinImpressions {
		return false
	}
	pooled := (proportion(k1, n1)*float64(n1) + proportion(k2, n2)*float64(n2)) / float64(n1+n2)
	least := float64(min(n1, n2)) * min(pooled, 1-pooled)
	return least >= minExpected
}

// shown returns the figures for k clicks on n impressions.
func shown(n, k int64) api.Shown {
	return api.Shown{Impressions: n, Clicks: k, CTR: proportion(k, n), CTRInterval: Wilson(k, n)}
}

// proportion returns k / n. More clicks than impressions are possible if items are clicked on a
// later day than they were shown; then it returns 1.
func proportion(k, n int64) float64 {
	if n <= 0 {
		return 0
	}
	return float64(min(max(k, 0), n)) / float64(n)
}
