package feed

import (
	"math"
	"time"
)

// Ranking holds the parameters that the data team tunes: those of score = relevance × decay ×
// popularity × co-readers, and those that vary pages.
type Ranking struct {
	Decay            Decay
	PopularityWeight float64 // weight of the uploaded popularity, in [Ranking.PopularityFactor]; ≥ 0, 0 turns it off
	Popularity2h     float64 // weight of the readers of about the last 2 hours, see [Counts]; ≥ 0, 0 turns it off
	Popularity2d     float64 // weight of the readers of about the last 2 days; ≥ 0, 0 turns it off
	// PopularityMore holds the weights of the readers of about the last 1 hour, 6 hours, 1 day and 7
	// days, for which those sums must be kept ([HalfLives]); ≥ 0, 0 turns one off.
	PopularityMore  PerHalfLife
	Base            float64 // relevance of every item before interests and keywords; > 0
	KeywordsSummary float64 // share of its weight that a keyword adds if it is only in the summary; 0 to 1
	Diversity       Diversity
	Explore         Explore
	Learned         LearnedWeights // weights of learned interests
	CoRead          CoRead         // weight of co-readers
	Home            Home           // scoring of home's sources
}

// DefaultRanking returns a new system's ranking. Its diversity keeps one site from filling a
// page, and is mild for items that share only an author or a tag.
func DefaultRanking() Ranking {
	var r Ranking
	for i := range Parameters {
		p := &Parameters[i]
		if p.IsDuration() {
			*p.duration(&r) = time.Duration(p.Default * float64(time.Second))
		} else {
			*p.number(&r) = p.Default
		}
	}
	r.Decay = presets[PresetTwo]
	return r
}

// Validate checks the parameters; the error wraps [ErrInvalid].
func (r Ranking) Validate() error {
	d := r.Decay
	if d.Curves != (Curves{}) {
		if d.Scale != 0 || d.Offset != 0 || d.Decay != 0 {
			return Errorf(ErrInvalid, "bad ranking parameters: decay.curves replaces decay.scale, decay.offset and decay.decay: set one or the other")
		}
		if err := d.Curves.Validate(); err != nil {
			return err
		}
	}
	for p, value := range r.Values() {
		problem := p.problem(value)
		if problem != "" && !p.curved(&r) {
			return Errorf(ErrInvalid, "bad ranking parameters: %s %s", p.Path, problem)
		}
	}
	return nil
}

// PopularityFactor returns
//
//	1 + weight_2h·log10(1 + count2h) + weight_2d·log10(1 + count2d) + weight·log10(1 + uploaded)
//
// for an item's [Counts] at a moment and its uploaded popularity, which may be fractional
// in an external index. [Ranking.MorePopularity] is added to it.
func (r Ranking) PopularityFactor(count2h, count2d, uploaded float64) float64 {
	return 1 + r.Popularity2h*LogCount(count2h) + r.Popularity2d*LogCount(count2d) + r.PopularityWeight*LogCount(uploaded)
}

// LogCount returns log10(1 + n), and 0 if n is not positive.
func LogCount(n float64) float64 {
	if !(n > 0) {
		return 0
	}
	return math.Log10(1 + n)
}

// Diversity holds the parameters that vary a page. The zero value leaves candidates in the order
// of their scores.
type Diversity struct {
	Author Spread // for items by one author
	Site   Spread // for items from one site
	Tag    Spread // for items with the same first tag
	// SameStory is the [Story.Likeness] from which two titles of a page count as one story, 0 to
	// 1. Only the first of them is placed. 0 and 1 turn it off.
	SameStory float64
}

// Spread lowers the scores of items that share a property. The score of the n-th of
// them on a page is multiplied by
//
//	max(Floor, Decay^(n−1))
//
// The zero value is off, and so is a Decay of 1.
type Spread struct {
	Decay float64 // in (0, 1]
	Floor float64 // least factor; in [0, 1]
}

// On reports whether the spread changes anything.
func (s Spread) On() bool { return s.Decay > 0 && s.Decay < 1 && s.Floor < 1 }

// On reports whether the diversity changes anything.
func (d Diversity) On() bool {
	spreads := d.Author.On() || d.Site.On() || d.Tag.On()
	return spreads || d.OneStory()
}

// OneStory reports whether titles are compared.
func (d Diversity) OneStory() bool { return d.SameStory > 0 && d.SameStory < 1 }

// written returns the diversity in its written form, in which off is a decay of 1.
func (d Diversity) written() Diversity {
	for _, s := range []*Spread{&d.Author, &d.Site, &d.Tag} {
		if *s == (Spread{}) {
			s.Decay = 1
		}
	}
	return d
}

// DefaultExploreShare is the default of [Explore.Share].
const DefaultExploreShare = 0.05

// WithoutLive returns the ranking without what readers do at present: live popularity and
// co-readers.
func (r Ranking) WithoutLive() Ranking {
	r.Popularity2h, r.Popularity2d, r.CoRead.Weight = 0, 0, 0
	r.PopularityMore = PerHalfLife{}
	return r
}

// WithoutLearned returns the ranking without learned interests.
func (r Ranking) WithoutLearned() Ranking {
	r.Learned = LearnedWeights{Negative: r.Learned.Negative, HalfLife: r.Learned.HalfLife}
	return r
}

// Explore reserves positions for items whose scores would not place them there. The zero value,
// also that of a ranking stored before Explore existed, is off.
type Explore struct {
	// Share is the share of a page's positions, 0 to 1. The first five positions are never used.
	Share float64
}
