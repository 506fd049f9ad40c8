package feed

import (
	"math"
	"time"
)

// Sum is one sum of [Counts] and the number of its epoch, for a store that makes
// counts of sums by itself.
type Sum struct {
	Epoch int64
	Value float64
}

// Sums returns both sums, in the epochs that the latest act is in.
func (c Counts) Sums() (shortSum, longSum Sum) {
	return Sum{short.epoch(c.Last), c.Short}, Sum{long.epoch(c.Last), c.Long}
}

// Epoch is an epoch whose sums count something at some moment.
type Epoch struct {
	Number int64
	Factor float64 // a sum of this epoch times it is a count, > 0
}

// LiveEpochs returns the epochs whose sums with a half-life count something at a
// moment, in Unix seconds: the one the moment is in and the one before, as long as
// a float32 can hold its factor. After that at most 2⁻⁴⁹ of each act is left.
func LiveEpochs(halfLife time.Duration, moment int64) []Epoch {
	h := forward(halfLife / time.Second)
	now := h.epoch(max(moment, 0))
	live := make([]Epoch, 0, 2)
	for number := now; number >= max(now-1, 0); number-- {
		if factor := math.Exp2(-h.since(number, moment)); float32(factor) > 0 {
			live = append(live, Epoch{number, factor})
		}
	}
	return live
}

// Count is the value of a sum at the moment that the epochs belong to.
func (s Sum) Count(live []Epoch) float64 {
	for _, e := range live {
		if e.Number == s.Epoch {
			return s.Value * e.Factor
		}
	}
	return 0
}
