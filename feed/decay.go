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

// Ranking is what the data team tunes: score = relevance × decay × popularity.
type Ranking struct {
	Decay            Decay
	PopularityWeight float64 // of the popularity that was uploaded, in [Ranking.PopularityFactor]; ≥ 0, 0 turns it off
	Popularity2h     float64 // of the readers of about the last 2 hours, see [Counts]; ≥ 0, 0 turns it off
	Popularity2d     float64 // of the readers of about the last 2 days, likewise
	Base             float64 // relevance every item has before interests and keywords; > 0
	KeywordsSummary  float64 // part of its weight that a keyword adds where it stands in the summary alone; 0 to 1
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
	return nil
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
