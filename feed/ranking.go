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

// Ranking holds the parameters that the data team tunes: score = relevance × decay × popularity,
// and how pages are varied by it.
type Ranking struct {
	Decay            Decay
	PopularityWeight float64 // of the popularity that was uploaded, in [Ranking.PopularityFactor]; ≥ 0, 0 turns it off
	Popularity2h     float64 // of the readers of about the last 2 hours, see [Counts]; ≥ 0, 0 turns it off
	Popularity2d     float64 // of the readers of about the last 2 days, likewise
	Base             float64 // relevance every item has before interests and keywords; > 0
	KeywordsSummary  float64 // part of its weight that a keyword adds where it stands in the summary alone; 0 to 1
	Diversity        Diversity
	Explore          Explore
	Learned          LearnedWeights // of what was learned of the reader
	Home             Home           // how the sources of home score
}

// DefaultRanking is a new system's. Its diversity keeps a page from being of one site, and
// is mild where nothing but an author or a tag is the same.
func DefaultRanking() Ranking {
	return Ranking{
		Decay: presets[PresetTwo], Base: 0.1, Popularity2h: 1.5, Popularity2d: 0.2, KeywordsSummary: DefaultKeywordsSummary,
		Diversity: Diversity{
			Author: Spread{Decay: 0.8, Floor: 0.3}, Site: Spread{Decay: 0.6, Floor: 0.02}, Tag: Spread{Decay: 0.95, Floor: 0.5}, SameStory: 0.6,
		},
		Explore: Explore{Share: DefaultExploreShare},
		Learned: LearnedWeights{Tags: 0.5, Author: 0.5, Words: 0.5, Negative: 0.3, HalfLife: DefaultLearnedHalfLife},
		Home:    DefaultHome,
	}
}

// Validate says what is wrong with the parameters; the error wraps
// [ErrBadRanking].
func (r Ranking) Validate() error {
	if err := r.Decay.Validate(); err != nil {
		return err
	}
	for _, w := range []struct {
		name  string
		value float64
	}{{"weight", r.PopularityWeight}, {"weight_2h", r.Popularity2h}, {"weight_2d", r.Popularity2d}} {
		if !(w.value >= 0 && w.value <= 1000) {
			return fmt.Errorf("%w: popularity.%s must be 0 to 1000, not %v", ErrBadRanking, w.name, w.value)
		}
	}
	if !(r.Base > 0 && r.Base <= 1000) {
		return fmt.Errorf("%w: base must be greater than 0 and at most 1000, not %v", ErrBadRanking, r.Base)
	}
	if !(r.KeywordsSummary >= 0 && r.KeywordsSummary <= 1) {
		return fmt.Errorf("%w: keywords.summary must be 0 to 1, not %v", ErrBadRanking, r.KeywordsSummary)
	}
	if err := r.Explore.Validate(); err != nil {
		return err
	}
	if err := r.Learned.Validate(); err != nil {
		return err
	}
	if err := r.Home.Validate(); err != nil {
		return err
	}
	return r.Diversity.Validate()
}

// PopularityFactor returns
//
//	1 + weight_2h·log10(1 + count2h) + weight_2d·log10(1 + count2d) + weight·log10(1 + uploaded)
//
// of an item's [Counts] at a moment and of the popularity that was uploaded, which
// has fractions in the index of somebody else.
func (r Ranking) PopularityFactor(count2h, count2d, uploaded float64) float64 {
	return 1 + r.Popularity2h*LogCount(count2h) + r.Popularity2d*LogCount(count2d) + r.PopularityWeight*LogCount(uploaded)
}

// LogCount returns log10(1 + n), and 0 of what is no count.
func LogCount(n float64) float64 {
	if !(n > 0) {
		return 0
	}
	return math.Log10(1 + n)
}
