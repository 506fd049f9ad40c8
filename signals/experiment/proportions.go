package experiment

import (
	"math"

	"github.com/freshet/freshet/feed/api"
)

// z95 is the 97.5 % quantile of the standard normal distribution: 2.5 % are excluded on either
// side, so 95 of 100 intervals contain the true value.
const z95 = 1.959963984540054

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
