package feed

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Decay is Elasticsearch's Gaussian decay of a score with distance in time:
//
//	factor(t) = max(Floor, exp(−max(0, |t − origin| − Offset)² / (2σ²)))
//	σ²        = −Scale² / (2 ln Decay)
//
// so the factor is 1 up to Offset and exactly Decay at Offset + Scale. Source:
// the "Decay functions" chapter of Elasticsearch's function_score reference.
type Decay struct {
	Scale  time.Duration // distance beyond Offset at which the factor is Decay; > 0
	Offset time.Duration // distance up to which nothing decays; ≥ 0
	Decay  float64       // factor at Offset + Scale; in (0, 1)
	Floor  float64       // least factor; in [0, 1), 0 is the plain Gaussian
}

// ErrBadRanking is wrapped by every error about unusable ranking parameters.
var ErrBadRanking = errors.New("bad ranking parameters")

// Validate says what is wrong with the parameters; the error wraps
// [ErrBadRanking].
func (d Decay) Validate() error {
	switch {
	case d.Scale < time.Second:
		return fmt.Errorf("%w: decay.scale must be at least 1s, not %s", ErrBadRanking, d.Scale)
	case d.Offset < 0:
		return fmt.Errorf("%w: decay.offset must not be negative, not %s", ErrBadRanking, d.Offset)
	case !(d.Decay > 0 && d.Decay < 1):
		return fmt.Errorf("%w: decay.decay must lie between 0 and 1, both excluded, not %v", ErrBadRanking, d.Decay)
	case !(d.Floor >= 0 && d.Floor < 1):
		return fmt.Errorf("%w: decay.floor must be at least 0 and less than 1, not %v", ErrBadRanking, d.Floor)
	}
	return nil
}

// Curve is a Decay made ready for many evaluations.
type Curve struct {
	offset, minusHalfInvVar, floor float64
}

// Curve prepares the decay for evaluation; d must be valid.
func (d Decay) Curve() Curve {
	scale := d.Scale.Seconds()
	variance := -scale * scale / (2 * math.Log(d.Decay))
	return Curve{offset: d.Offset.Seconds(), minusHalfInvVar: -1 / (2 * variance), floor: d.Floor}
}

// At returns the factor at a distance from the origin, in seconds; the sign
// of the distance does not matter.
func (c Curve) At(seconds float64) float64 {
	x := math.Abs(seconds) - c.offset
	if x <= 0 {
		return 1
	}
	return math.Max(c.floor, math.Exp(x*x*c.minusHalfInvVar))
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
