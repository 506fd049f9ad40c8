package feed

import (
	"math"
	"time"
)

// Decay is how a score falls with distance in time, |t − origin|, never below
// Floor. It is one of two forms; the other one's fields are zero:
//
//	factor(t) = max(Floor, gauss(t))                one Gaussian, by Scale, Offset and Decay
//	factor(t) = max(Floor, Σ weightᵢ · curveᵢ(t))   a sum of Curves
//
// The Gaussian is 1 up to Offset and exactly Decay at Offset + Scale; [Curve]
// has the formulas. A sum may begin above or below 1: what matters to an order
// is how much falls, and when.
type Decay struct {
	Scale  time.Duration // distance beyond Offset at which the factor is Decay; ≥ 1 s
	Offset time.Duration // distance up to which nothing decays; ≥ 0
	Decay  float64       // factor at Offset + Scale; in (0, 1)
	Floor  float64       // least factor; in [0, 1), 0: none
	Curves Curves
}

// Validate says what is wrong with the parameters; the error wraps [ErrInvalid].
func (d Decay) Validate() error {
	r := DefaultRanking()
	r.Decay = d
	return r.Validate()
}

// Sum lists the curves that are added: those of the decay, or its one Gaussian
// with a weight of 1.
func (d Decay) Sum() []Curve {
	if n := d.Curves.Len(); n > 0 {
		return d.Curves[:n]
	}
	return []Curve{{Shape: Gauss, Scale: d.Scale, Offset: d.Offset, Decay: d.Decay, Weight: 1}}
}

// DecayFunc is a Decay made ready for many evaluations. It is safe for concurrent
// use.
type DecayFunc struct {
	floor float64
	n     int
	parts [MaxCurves]preparedCurve
}

// Func prepares the decay for evaluation; d must be valid.
func (d Decay) Func() *DecayFunc {
	f := &DecayFunc{floor: d.Floor}
	for _, c := range d.Sum() {
		f.parts[f.n] = c.prepare()
		f.n++
	}
	return f
}

// At returns the factor at a distance from the origin, in seconds; the sign
// of the distance does not matter. It never rises with the distance.
func (f *DecayFunc) At(seconds float64) float64 {
	return max(f.floor, f.sum(math.Abs(seconds)))
}

func (f *DecayFunc) sum(seconds float64) float64 {
	sum := f.parts[0].at(seconds)
	for i := 1; i < f.n; i++ {
		sum += f.parts[i].at(seconds)
	}
	return sum
}

// Parts returns what each curve of [Decay.Sum] adds at a distance in seconds, its
// weight included and the floor not.
func (f *DecayFunc) Parts(seconds float64) []float64 {
	parts := make([]float64, f.n)
	for i := range parts {
		parts[i] = f.parts[i].at(math.Abs(seconds))
	}
	return parts
}

// FloorAge is the greatest distance, in whole seconds, at which the curves add up
// to the floor or more. It is −1 where they never do; ok is false where they do at
// every distance.
func (f *DecayFunc) FloorAge() (seconds int64, ok bool) {
	low, high := int64(-1), int64(1)<<60
	if f.sum(float64(high)) >= f.floor {
		return 0, false
	}
	for high-low > 1 {
		if mid := low + (high-low)/2; f.sum(float64(mid)) >= f.floor {
			low = mid
		} else {
			high = mid
		}
	}
	return low, true
}
