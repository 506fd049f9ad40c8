package coread

import (
	"cmp"
	"math"
	"slices"

	"github.com/freshet/freshet/feed"
)

// Sums collects nearness by item, for implementations of [Store.Near]. K identifies an item.
type Sums[K comparable] map[K]sum

type sum struct {
	x      float64
	people int
}

// Add adds an entry of the list of a read.
func (s Sums[K]) Add(item K, entry float64, people, readersOfRead, readers int) {
	of := s[item]
	of.x += Part(entry, people, readersOfRead, readers)
	of.people = max(of.people, people)
	s[item] = of
}

// Part returns what an entry of the list of a read adds to [Nearness.X]. The people behind the entry have
// read both items, so these have at least so many readers.
func Part(entry float64, people, readersOfRead, readers int) float64 {
	return entry / math.Sqrt(float64(max(1, people, readersOfRead))*float64(max(1, people, readers)))
}

// Of returns the nearness of an item with so many readers.
func (s Sums[K]) Of(item K, readers int) Nearness {
	of := s[item]
	return Nearness{X: of.x, Readers: max(readers, of.people), People: of.people}
}

// Factors returns the factor of the score of each candidate, and the mean of their
// [feed.CoRead.Factor], which counts those with more readers more:
//
//	Σ r·factor / Σ r   with r = readers / (readers + 1)
//
// near holds their nearness, into is memory for the factors. Without any that is near, no score changes,
// and there are no factors.
func Factors(by feed.CoRead, near []Nearness, into []float32) (factors []float32, mean float64) {
	weights, sum, some := 0.0, 0.0, false
	factors = into[:0]
	for i := range near {
		n := &near[i]
		own := by.Factor(n.X, n.Readers)
		factors = append(factors, float32(own))
		some = some || n.X > 0
		if n.Readers > 0 {
			r := float64(n.Readers) / float64(n.Readers+1)
			weights += r
			sum += r * own
		}
	}
	if !some || weights == 0 {
		return into[:0], 1
	}
	mean = sum / weights
	for i := range factors {
		factors[i] = float32(by.Damped(float64(factors[i]), mean, near[i].Readers))
	}
	return factors, mean
}

// AppendScaled appends candidates with their scores multiplied by their factors; a factor of 0 leaves
// one as it is.
func AppendScaled(into, candidates []feed.Candidate, factors []float32) []feed.Candidate {
	for i := range candidates {
		into = append(into, candidates[i])
		if factors[i] > 0 {
			c := &into[len(into)-1]
			c.Score, c.CoRead = c.Score*factors[i], factors[i]
		}
	}
	return into
}

// AppendSorted is [AppendScaled], the highest score first; equal ones stay in their order. keys is memory
// that it may use, and returns for the next call.
func AppendSorted(into, candidates []feed.Candidate, factors []float32, keys []uint64) ([]feed.Candidate, []uint64) {
	keys = keys[:0]
	for i := range candidates {
		keys = append(keys, uint64(^math.Float32bits(max(0, candidates[i].Score*factors[i])))<<32|uint64(i))
	}
	slices.Sort(keys)
	for _, key := range keys {
		at := uint32(key)
		into = append(into, candidates[at])
		c := &into[len(into)-1]
		c.Score, c.CoRead = c.Score*factors[at], factors[at]
	}
	return into, keys
}

// SortEntries sorts the entries of a list, the highest sum first.
func SortEntries(entries []Entry) {
	slices.SortFunc(entries, func(a, b Entry) int {
		return cmp.Or(cmp.Compare(b.Sum, a.Sum), cmp.Compare(b.Dated, a.Dated), cmp.Compare(a.Item, b.Item))
	})
}
