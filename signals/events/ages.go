package events

import (
	"math"
	"math/bits"
)

// Buckets of an age histogram. Each is 2^(1/4) times as wide as the previous one; the last one
// begins at about 29 years.
const (
	bucketsPerDoubling = 4
	AgeBuckets         = 120
)

// Ages is a histogram of the ages of items, in seconds: bucket i counts ages from 2^(i/4) up to
// 2^((i+1)/4). Ages below a second are in the first bucket, ages beyond the range in the last. All
// histograms have the same buckets and can be added, across servers and days.
type Ages [AgeBuckets]int64

// AgeBucket returns the bucket of an age in seconds.
func AgeBucket(seconds int64) int {
	if seconds <= 1 {
		return 0
	}
	// The logarithm's integer part is the position of the highest bit; its fraction only has to be
	// compared with three values.
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

// N returns the number of ages counted.
func (a *Ages) N() int64 {
	var n int64
	for _, c := range a {
		n += c
	}
	return n
}

// Median estimates the median age in seconds as the geometric mean of the bounds of its bucket. The
// error is a factor of at most 2^(1/8), that is, 9.1 %. ok is false if nothing was counted.
func (a *Ages) Median() (seconds float64, ok bool) {
	n := a.N()
	if n == 0 {
		return 0, false
	}
	var below int64
	for i, c := range a {
		below += c
		if 2*below >= n {
			return math.Exp2((float64(i) + 0.5) / bucketsPerDoubling), true
		}
	}
	return 0, false
}
