package recall

import (
	"cmp"
	"context"
	"slices"

	"github.com/freshet/freshet/feed"
)

// Explainer tells what the scores of a [Source] are made of.
//
// Explain returns one Factors for each id, in order, by the profile, the
// ranking and the origin of q; its other parts are not looked at. Filters are
// not either: an item that is muted, or dated after the origin, has factors
// too. An id the source does not hold has Known false and nothing else. The
// product of the factors is, within float32, the score a Recall at the same
// moment gives the item.
//
// Duplicate ids are allowed; no ids is an empty answer. Explain changes
// nothing and is safe for concurrent use.
type Explainer interface {
	Explain(ctx context.Context, q feed.Query, ids []string) ([]Factors, error)
}

// Factors are the factors of an item's score:
//
//	score     = relevance × decay × popularity factor
//	relevance = (base + Σ tags + Σ keywords + Σ learned scores) × Π learned factors
type Factors struct {
	Known            bool // the source holds the item
	Group            string
	UpdateTime       int64 // Unix seconds
	Base             float64
	Tags             []feed.Gain        // the interests that match, the highest first
	Keywords         []feed.Gain        // the keywords that match, the highest first
	Learned          []feed.LearnedGain // the learned features that the item has, as [SortLearned] orders
	Relevance        float64
	Decay            float64
	Count2h, Count2d float64 // of its [feed.Counts] at the origin, where the source knows them
	Popularity       float64 // likes + 2·comments, or what the index has in its place
	PopularityFactor float64
	Score            float32
}

// Where a keyword stands.
const (
	InTitle   = "title"
	InSummary = "summary"
)

// SortGains puts the highest first, equal ones by name.
func SortGains(gains []feed.Gain) {
	slices.SortFunc(gains, func(a, b feed.Gain) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Name, b.Name))
	})
}

// Finish fills in what follows from the rest: relevance, decay, popularity
// factor and score, by the formulas of [feed.Ranking]. at is the ranking's
// decay, prepared.
func (f *Factors) Finish(q *feed.Query, at *feed.DecayFunc) {
	f.Base = q.Ranking.Base
	f.Relevance = f.Base
	for _, g := range f.Tags {
		f.Relevance += g.Score
	}
	for _, g := range f.Keywords {
		f.Relevance += g.Score
	}
	for _, g := range f.Learned {
		f.Relevance += g.Score
	}
	f.Relevance *= f.LearnedFactor()
	f.Decay = at.At(float64(q.Origin.Unix() - f.UpdateTime))
	f.PopularityFactor = q.Ranking.PopularityFactor(f.Count2h, f.Count2d, f.Popularity)
	f.Score = float32(f.Relevance * f.Decay * f.PopularityFactor)
}

// LearnedFactor is the factor by which learned features lower the item's relevance; 1
// where there are none.
func (f *Factors) LearnedFactor() float64 {
	factor := 1.0
	for i := range f.Learned {
		factor *= factorOf(&f.Learned[i])
	}
	return factor
}

// Direct returns the source that finds the candidates, without a [Front] around it.
// Explanations and comparisons ask it, so that answers kept for readers are neither
// used nor evicted.
func Direct(s Source) Source {
	if f, ok := s.(*Front); ok {
		return f.source
	}
	return s
}
