package feed

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// FeatureKind is the kind of a [Feature].
type FeatureKind string

// The kinds of features.
const (
	FeatureTag    FeatureKind = "tag"
	FeatureAuthor FeatureKind = "author"
	FeatureLang   FeatureKind = "lang"
	FeatureWord   FeatureKind = "word" // of a title: a token of package words, or two consecutive characters
)

// Feature is a property that items can share, from which interests are learned. Tags and
// languages have the spelling of one of the items.
type Feature struct {
	Kind  FeatureKind `json:"kind"`
	Value string      `json:"value"`
}

// WeightedFeature is a feature with the share of an act that counts for it, 0 to 1.
type WeightedFeature struct {
	Feature
	Weight float64
}

// Bounds of learned interests.
const (
	MaxLearned   = 50  // features that count for a reader, the strongest ones
	maxLearnable = 400 // features stored, so that a weak one can become strong again
	// mostLearned bounds what all learned features together add to a relevance: as much as one
	// interest of weight 1.
	mostLearned = 1
	// negligibleEvidence is the evidence below which a feature is dropped.
	negligibleEvidence = 0.01
)

// LearnedFeature is a feature of items that a reader has acted on.
type LearnedFeature struct {
	Feature
	// Evidence is the sum of the acts at [Learned.At]: positive for items with the feature,
	// negative against them. Each act counts half after each half-life.
	Evidence float64 `json:"evidence"`
	ActCounts
}

// ActCounts counts the reader's acts on items that have a feature, since the feature was stored.
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
	// Alone reports that the reader has declared no profile.
	Alone bool `json:"alone,omitempty"`
}

// Since reports whether some of it was learned more than [ActTolerance] after a moment: then it tells
// what the reader did later.
func (l *Learned) Since(moment time.Time) bool {
	return l.At > moment.Add(ActTolerance).Unix()
}

// IsZero reports whether nothing was learned and Alone is false.
func (l Learned) IsZero() bool { return len(l.Features) == 0 && !l.Alone }

// Effects returns the features that change a relevance at a moment, in Unix seconds,
// those with most evidence first. With e, a feature's evidence at that moment:
//
//	score  = weight of its kind · base · (1 − 2^−e)     e > 0
//	factor = 1 − negative · (1 − 2^e)                   e < 0
//
// So one act has half the effect of many. If the scores sum to more than 1, the weight of
// one declared interest, they are scaled down to that sum.
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

// left returns the part of an evidence that remains after some seconds.
func (w LearnedWeights) left(seconds int64) float64 {
	return math.Exp2(-float64(max(0, seconds)) / w.halfLife().Seconds())
}

func (w LearnedWeights) halfLife() time.Duration { return cmp.Or(w.HalfLife, DefaultLearnedHalfLife) }

// strongest sorts the features by the amount of evidence, for or against, descending, with ties
// in a fixed order, and returns the first n.
func strongest(features []LearnedFeature, n int) []LearnedFeature {
	slices.SortFunc(features, func(a, b LearnedFeature) int {
		return cmp.Or(
			cmp.Compare(math.Abs(b.Evidence), math.Abs(a.Evidence)),
			cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Value, b.Value),
		)
	})
	return features[:min(len(features), n)]
}

// DefaultLearnedHalfLife is the default of [LearnedWeights.HalfLife], also used for a zero value.
const DefaultLearnedHalfLife = 30 * 24 * time.Hour

// LearnedWeights sets how much learned interests count; see [Learned.Effects]. The zero value
// turns them off.
type LearnedWeights struct {
	// The most that a feature adds to a relevance, as a share of [Ranking.Base]; 0 turns the kind
	// off, including evidence against it.
	Tags, Author, Lang, Words float64
	// Negative is the largest part of a relevance that evidence against a feature removes; 0 to
	// 0.9.
	Negative float64
	// HalfLife is the time after which an act counts half; 0 means the default. A change applies
	// from then on: earlier decay is not undone.
	HalfLife time.Duration
}

// maxNegative leaves a feature's items some relevance: items that must never be shown are muted
// instead.
const maxNegative = 0.9

// On reports whether learned interests change anything.
func (w LearnedWeights) On() bool { return max(w.Tags, w.Author, w.Lang, w.Words) > 0 }

// of returns the weight of a kind of features.
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

// Gain is the contribution of one interest or keyword of a profile to an item's relevance: the
// weight of a tag, the weight of a keyword in the title, or the ranking's share of that weight if
// the keyword is only in the summary.
type Gain struct {
	Name  string  `json:"name"`
	Score float64 `json:"score"`
	In    string  `json:"in,omitempty"` // for a keyword: title or summary
}

// LearnedGain is the effect of a learned feature on the relevance of the items that have it.
type LearnedGain struct {
	Feature
	Score  float64 `json:"score,omitempty"`  // added to the relevance
	Factor float64 `json:"factor,omitempty"` // multiplies the relevance; in (0, 1), or 0 for none
	ActCounts
}
