package recall

import (
	"cmp"
	"context"
	"slices"

	"github.com/freshet/freshet/feed"
)

// Explainer reports the factors of a [Source]'s scores.
//
// Explain returns one Factors per id, in order, computed with the profile, the ranking and the
// origin of q; the rest of q is ignored. Filters do not apply: an item that is muted, or dated
// after the origin, has factors too. For an id that the source does not hold, Known is false
// and everything else is zero. The product of the factors equals, within float32, the score of
// a Recall at the same moment.
//
// Duplicate ids are allowed. Without ids the result is empty. Explain changes nothing and is
// safe for concurrent use.
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
	Tags             []feed.Gain        // the matching interests, highest first
	Keywords         []feed.Gain        // the matching keywords, highest first
	Learned          []feed.LearnedGain // the item's learned features, in the order of [SortLearned]
	Relevance        float64
	Decay            float64
	Count2h, Count2d float64 // the item's [feed.Counts] at the origin, if the source has them
	// CountMore are its [feed.Counts.MoreAt] the origin, of the half-lives that the ranking weights.
	CountMore        feed.PerHalfLife
	Popularity       float64 // likes + 2·comments, or the index's own popularity value
	PopularityFactor float64
	Score            float32
}

// The fields of an item in which a keyword can match.
const (
	InTitle   = "title"
	InSummary = "summary"
)

// SortGains sorts gains by score, highest first, then by name.
func SortGains(gains []feed.Gain) {
	slices.SortFunc(gains, func(a, b feed.Gain) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Name, b.Name))
	})
}

// Finish computes the remaining fields (relevance, decay, popularity factor and score) by the
// formulas of [feed.Ranking]. at is the ranking's decay function.
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
	f.PopularityFactor = q.Ranking.PopularityFactor(f.Count2h, f.Count2d, f.Popularity) + q.Ranking.MorePopularity(f.CountMore)
	f.Score = float32(f.Relevance * f.Decay * f.PopularityFactor)
}

// LearnedFactor returns the product of the learned factors, which lowers the item's relevance.
// It is 1 if there are none.
func (f *Factors) LearnedFactor() float64 {
	factor := 1.0
	for i := range f.Learned {
		factor *= factorOf(&f.Learned[i])
	}
	return factor
}

// Direct returns the source that finds the candidates, without a [Shared] around it.
// Explanations and comparisons use it so that they neither use nor evict the answers cached for
// readers.
func Direct(s Source) Source {
	if f, ok := s.(*Shared); ok {
		return f.source
	}
	return s
}
