package feed

import (
	"math"
	"time"
)

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
	var r Ranking
	for i := range Parameters {
		if p := &Parameters[i]; p.IsDuration() {
			*p.duration(&r) = time.Duration(p.Default * float64(time.Second))
		} else {
			*p.number(&r) = p.Default
		}
	}
	r.Decay = presets[PresetTwo]
	return r
}

// Validate says what is wrong with the parameters; the error wraps
// [ErrInvalid].
func (r Ranking) Validate() error {
	if d := r.Decay; d.Curves != (Curves{}) {
		if d.Scale != 0 || d.Offset != 0 || d.Decay != 0 {
			return Errorf(ErrInvalid, "bad ranking parameters: decay.curves stand in the place of decay.scale, decay.offset and decay.decay: set one or the other")
		}
		if err := d.Curves.Validate(); err != nil {
			return err
		}
	}
	for p, value := range r.Values() {
		if problem := p.problem(value); problem != "" && !p.curved(&r) {
			return Errorf(ErrInvalid, "bad ranking parameters: %s %s", p.Path, problem)
		}
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

// Diversity says how a page is built. The zero value leaves candidates in the
// order of their scores.
type Diversity struct {
	Author Spread // of items by one author
	Site   Spread // of items of one site
	Tag    Spread // of items whose first tag is the same
	// SameStory is the share of their words from which on two titles of a page
	// tell one story, 0 to 1: that of [Story.Likeness]. Only the first of them is
	// placed. 0 and 1 turn it off.
	SameStory float64
}

// Spread lowers the scores of items that have something in common. The n-th of
// them on a page counts
//
//	max(Floor, Decay^(n−1))
//
// times its score. The zero value is off, as a Decay of 1 is.
type Spread struct {
	Decay float64 // in (0, 1]
	Floor float64 // least factor; in [0, 1]
}

// On reports whether the spread changes anything.
func (s Spread) On() bool { return s.Decay > 0 && s.Decay < 1 && s.Floor < 1 }

// On reports whether the diversity changes anything.
func (d Diversity) On() bool { return d.Author.On() || d.Site.On() || d.Tag.On() || d.OneStory() }

// OneStory reports whether titles are compared.
func (d Diversity) OneStory() bool { return d.SameStory > 0 && d.SameStory < 1 }

// written is the diversity as it is written out, where off is a decay of 1.
func (d Diversity) written() Diversity {
	for _, s := range []*Spread{&d.Author, &d.Site, &d.Tag} {
		if *s == (Spread{}) {
			s.Decay = 1
		}
	}
	return d
}

// DefaultExploreShare is a new system's [Explore.Share].
const DefaultExploreShare = 0.05

// Explore says which positions go to items that their score would not bring there.
// The zero value is off, and that of a ranking that was stored before there was one.
type Explore struct {
	// Share is the part of a page's positions, 0 to 1. The first five are never
	// among them.
	Share float64
}
