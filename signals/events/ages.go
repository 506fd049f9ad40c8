package events

import (
	"math"
	"math/bits"
)

// Buckets of an age histogram. Each is 2^(1/4) times as wide as the one before
// it; the last one begins at about 29 years.
const (
	bucketsPerDoubling = 4
	AgeBuckets         = 120
)

// Ages is a histogram of the ages of items, in seconds: bucket i counts those
// from 2^(i/4) up to 2^((i+1)/4). What is younger than a second is in the
// first, what is older than all of them in the last. Histograms of the same
// buckets add up, whichever server or day they come from.
type Ages [AgeBuckets]int64

// AgeBucket is the bucket of an age in seconds.
func AgeBucket(seconds int64) int {
	if seconds <= 1 {
		return 0
	}
	// The logarithm's whole part is the place of the highest bit; its fraction
	// only has to be told from three values.
	whole := bits.Len64(uint64(seconds)) - 1
	i, fraction := whole*bucketsPerDoubling, float64(seconds)/float64(uint64(1)<<whole)
	for _, bound := range quarters {
		if fraction >= bound {
			i++
		}
	}
	return min(i, AgeBuckets-1)
}

// quarters are 2^(1/4), 2^(2/4) and 2^(3/4).
var quarters = [...]float64{math.Sqrt(math.Sqrt2), math.Sqrt2, math.Sqrt2 * math.Sqrt(math.Sqrt2)}

// Count adds one age.
func (a *Ages) Count(seconds int64) { a[AgeBucket(seconds)]++ }

// N is how many ages were counted.
func (a *Ages) N() int64 {
	var n int64
	for _, c := range a {
		n += c
	}
	return n
}

// Median estimates the median age in seconds: the geometric middle of the
// bucket that holds it. It is off by a factor of 2^(1/8) at most, that is, by
// 9.1 %. ok is false where nothing was counted.
func (a *Ages) Median() (seconds float64, ok bool) {
	n := a.N()
	if n == 0 {
		return 0, false
	}
	var below int64
	for i, c := range a {
		if below += c; 2*below >= n {
			return math.Exp2((float64(i) + 0.5) / bucketsPerDoubling), true
		}
	}
	return 0, false
}
