package feed

import (
	"errors"
	"fmt"
	"math"
)

// ErrBadRanking is wrapped by every error about unusable ranking parameters.
var ErrBadRanking = errors.New("bad ranking parameters")

// Validate says what is wrong with the parameters; the error wraps
// [ErrBadRanking].
func (d Decay) Validate() error {
	if !(d.Floor >= 0 && d.Floor < 1) {
		return fmt.Errorf("%w: decay.floor must be at least 0 and less than 1, not %v", ErrBadRanking, d.Floor)
	}
	if d.Curves != (Curves{}) {
		if d.Scale != 0 || d.Offset != 0 || d.Decay != 0 {
			return fmt.Errorf("%w: decay.curves stand in the place of decay.scale, decay.offset and decay.decay: set one or the other", ErrBadRanking)
		}
		return d.Curves.Validate()
	}
	if field, problem := gaussProblem(d.Scale, d.Offset, d.Decay); problem != "" {
		return fmt.Errorf("%w: decay%s %s", ErrBadRanking, field, problem)
	}
	return nil
}

// Ranking is what the data team tunes: score = relevance × decay × popularity,
// and how pages are dealt by it.
type Ranking struct {
	Decay            Decay
	PopularityWeight float64 // popularity factor is 1 + weight·log10(1 + popularity); ≥ 0, 0 turns it off
	Base             float64 // relevance every item has before interests and keywords; > 0
	KeywordsSummary  float64 // part of its weight that a keyword adds where it stands in the summary alone; 0 to 1
	Diversity        Diversity
}

// Validate says what is wrong with the parameters; the error wraps
// [ErrBadRanking].
func (r Ranking) Validate() error {
	if err := r.Decay.Validate(); err != nil {
		return err
	}
	if !(r.PopularityWeight >= 0 && r.PopularityWeight <= 1000) {
		return fmt.Errorf("%w: popularity.weight must be 0 to 1000, not %v", ErrBadRanking, r.PopularityWeight)
	}
	if !(r.Base > 0 && r.Base <= 1000) {
		return fmt.Errorf("%w: base must be greater than 0 and at most 1000, not %v", ErrBadRanking, r.Base)
	}
	if !(r.KeywordsSummary >= 0 && r.KeywordsSummary <= 1) {
		return fmt.Errorf("%w: keywords.summary must be 0 to 1, not %v", ErrBadRanking, r.KeywordsSummary)
	}
	return r.Diversity.Validate()
}

// PopularityFactor returns 1 + weight·log10(1 + popularity), which has fractions
// in the index of somebody else.
func (r Ranking) PopularityFactor(popularity float64) float64 {
	if r.PopularityWeight == 0 || popularity <= 0 {
		return 1
	}
	return 1 + r.PopularityWeight*math.Log10(1+popularity)
}
