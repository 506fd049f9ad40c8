package feed

import "time"

// DefaultLearnedHalfLife is a new system's [LearnedWeights.HalfLife], and what a
// zero one stands for.
const DefaultLearnedHalfLife = 30 * 24 * time.Hour

// LearnedWeights is how much what was learned of a reader counts; see
// [Learned.Effects]. The zero value is off.
type LearnedWeights struct {
	// What a feature with much evidence adds to a relevance, as a share of
	// [Ranking.Base]; 0 turns the kind off, and what speaks against it, too.
	Tags, Author, Lang, Words float64
	// Negative is the part of a relevance that a feature with much evidence against
	// it takes away; 0 to 0.9.
	Negative float64
	// HalfLife is the time after which an act counts half; 0: the default. It counts
	// from when it changes: what was forgotten before stays so.
	HalfLife time.Duration
}

// maxNegative leaves a feature's items some of their relevance: what is never to be
// shown is muted.
const maxNegative = 0.9

// On reports whether what was learned changes anything.
func (w LearnedWeights) On() bool { return w.Tags > 0 || w.Author > 0 || w.Lang > 0 || w.Words > 0 }

// of is the weight of a kind of features.
func (w *LearnedWeights) of(kind FeatureKind) float64 {
	switch kind {
	case FeatureTag:
		return w.Tags
	case FeatureAuthor:
		return w.Author
	case FeatureLang:
		return w.Lang
	case FeatureWord:
		return w.Words
	}
	return 0
}
