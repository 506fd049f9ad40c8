package feed

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// FeatureKind says what a [Feature] is.
type FeatureKind string

// The kinds of features.
const (
	FeatureTag    FeatureKind = "tag"
	FeatureAuthor FeatureKind = "author"
	FeatureLang   FeatureKind = "lang"
	FeatureWord   FeatureKind = "word" // of a title: a token of package words, or two characters that follow each other
)

// Feature is something that an item has in common with others, by which readers
// are learned from. A tag and a language are as one of the items has them written.
type Feature struct {
	Kind  FeatureKind `json:"kind"`
	Value string      `json:"value"`
}

// WeightedFeature is a feature and what part of an act counts for it, 0 to 1.
type WeightedFeature struct {
	Feature
	Weight float64
}

// Bounds of what is learned of a reader.
const (
	MaxLearned   = 50  // features that count for a reader: the strongest
	maxLearnable = 400 // that are remembered, so that one that comes back can become one of those
	// mostLearned bounds what all learned features together add to a relevance: as
	// much as one interest of weight 1.
	mostLearned = 1
	// negligibleEvidence is the evidence below which a feature is dropped.
	negligibleEvidence = 0.01
)

// LearnedFeature is a feature of items that a reader has acted on.
type LearnedFeature struct {
	Feature
	// Evidence is the sum of the acts at [Learned.At]: positive for the feature, negative
	// against it. Each act counts half after the half-life.
	Evidence float64 `json:"evidence"`
	ActCounts
}

// ActCounts are how often a reader has acted on items that have a feature, since it is
// remembered.
type ActCounts struct {
	Clicks   int `json:"clicks,omitempty"`
	Likes    int `json:"likes,omitempty"`
	Dislikes int `json:"dislikes,omitempty"`
	Hides    int `json:"hides,omitempty"`
}

// Learned holds the interests inferred from a reader's acts: the features with the most evidence,
// [MaxLearned] at most, the strongest first.
type Learned struct {
	At       int64            `json:"at,omitempty"` // Unix seconds of the latest act
	Features []LearnedFeature `json:"features,omitempty"`
	// Alone says that the reader has declared no profile.
	Alone bool `json:"alone,omitempty"`
}

// IsZero reports whether nothing was learned.
func (l Learned) IsZero() bool { return len(l.Features) == 0 && !l.Alone }

// Effects lists the features that change a relevance at a moment, in Unix seconds,
// in their order. With e, a feature's evidence by then:
//
//	score  = weight of its kind · base · (1 − 2^−e)     e > 0
//	factor = 1 − negative · (1 − 2^e)                   e < 0
//
// So one act is half of what many come to. The scores are lowered in proportion
// where they sum to more than 1, a declared interest.
func (l *Learned) Effects(w LearnedWeights, base float64, moment int64) []LearnedGain {
	if !w.On() || len(l.Features) == 0 {
		return nil
	}
	left := w.left(moment - l.At)
	effects := make([]LearnedGain, 0, min(len(l.Features), MaxLearned))
	sum := 0.0
	for i := range l.Features[:min(len(l.Features), MaxLearned)] {
		f := &l.Features[i]
		weight, part := w.of(f.Kind), 1-math.Exp2(-math.Abs(f.Evidence)*left)
		g := LearnedGain{Feature: f.Feature, ActCounts: f.ActCounts}
		if f.Evidence > 0 {
			g.Score = weight * base * part
			sum += g.Score
		} else if factor := 1 - w.Negative*part; weight > 0 && factor < 1 {
			g.Factor = factor
		}
		if g.Score > 0 || g.Factor > 0 {
			effects = append(effects, g)
		}
	}
	if sum > mostLearned {
		for i := range effects {
			effects[i].Score *= mostLearned / sum
		}
	}
	return effects
}

// left is the part of an evidence that is left after some seconds.
func (w LearnedWeights) left(seconds int64) float64 {
	return math.Exp2(-float64(max(0, seconds)) / w.halfLife().Seconds())
}

func (w LearnedWeights) halfLife() time.Duration { return cmp.Or(w.HalfLife, DefaultLearnedHalfLife) }

// strongest puts the features with the most evidence first, equal ones in a fixed
// order, and keeps n.
func strongest(features []LearnedFeature, n int) []LearnedFeature {
	slices.SortFunc(features, func(a, b LearnedFeature) int {
		return cmp.Or(
			cmp.Compare(math.Abs(b.Evidence), math.Abs(a.Evidence)),
			cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Value, b.Value),
		)
	})
	return features[:min(len(features), n)]
}

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

// Gain is the contribution of one interest or keyword of a profile to an item's relevance:
// the weight of a tag; the weight of a keyword that stands in the title, or the
// ranking's share of it where the keyword stands in the summary alone.
type Gain struct {
	Name  string  `json:"name"`
	Score float64 `json:"score"`
	In    string  `json:"in,omitempty"` // of a keyword: title or summary
}

// LearnedGain is the effect of a learned feature on the relevance of the items that have it.
type LearnedGain struct {
	Feature
	Score  float64 `json:"score,omitempty"`  // is added
	Factor float64 `json:"factor,omitempty"` // multiplies; in (0, 1), or 0: there is none
	ActCounts
}
