package feed

import (
	"fmt"
	"strings"
)

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

// Validate says what is wrong with the parameters; the error wraps
// [ErrBadRanking].
func (d Diversity) Validate() error {
	for _, s := range []struct {
		name string
		Spread
	}{{"author", d.Author}, {"site", d.Site}, {"tag", d.Tag}} {
		if s.Spread == (Spread{}) {
			continue
		}
		if !(s.Decay > 0 && s.Decay <= 1) {
			return fmt.Errorf("%w: diversity.%s.decay must be greater than 0 and at most 1 (off), not %v", ErrBadRanking, s.name, s.Decay)
		}
		if !(s.Floor >= 0 && s.Floor <= 1) {
			return fmt.Errorf("%w: diversity.%s.floor must be 0 to 1, not %v", ErrBadRanking, s.name, s.Floor)
		}
	}
	if !(d.SameStory >= 0 && d.SameStory <= 1) {
		return fmt.Errorf("%w: diversity.same_story must be 0 to 1 (both: off), not %v", ErrBadRanking, d.SameStory)
	}
	return nil
}

// diversityNames are the parameters as lists of changes name them.
var diversityNames = [...]string{
	"author.decay", "author.floor", "site.decay", "site.floor", "tag.decay", "tag.floor", "same_story",
}

// numbers are the parameters, in the order of diversityNames.
func (d *Diversity) numbers() [len(diversityNames)]*float64 {
	return [...]*float64{
		&d.Author.Decay, &d.Author.Floor, &d.Site.Decay, &d.Site.Floor, &d.Tag.Decay, &d.Tag.Floor, &d.SameStory,
	}
}

// written is the diversity as it is written out, where off is a decay of 1.
func (d Diversity) written() Diversity {
	for _, s := range []*Spread{&d.Author, &d.Site, &d.Tag} {
		if *s == (Spread{}) {
			s.Decay = 1
		}
	}
	return d
}

// diversityText is how the diversity is written in JSON.
type diversityText struct {
	Author    *spreadText `json:"author,omitempty"`
	Site      *spreadText `json:"site,omitempty"`
	Tag       *spreadText `json:"tag,omitempty"`
	SameStory *float64    `json:"same_story,omitempty"`
}

type spreadText struct {
	Decay *float64 `json:"decay,omitempty"`
	Floor *float64 `json:"floor,omitempty"`
}

// text is nil for the zero diversity: a ranking from before there was one is
// written as it was.
func (d Diversity) text() *diversityText {
	if d == (Diversity{}) {
		return nil
	}
	d = d.written()
	return &diversityText{
		Author: &spreadText{&d.Author.Decay, &d.Author.Floor}, Site: &spreadText{&d.Site.Decay, &d.Site.Floor},
		Tag: &spreadText{&d.Tag.Decay, &d.Tag.Floor}, SameStory: &d.SameStory,
	}
}

// set writes one parameter, by its name in diversityNames.
func (t *diversityText) set(name string, value *float64) {
	of, part, _ := strings.Cut(name, ".")
	if part == "" {
		t.SameStory = value
		return
	}
	to := map[string]**spreadText{"author": &t.Author, "site": &t.Site, "tag": &t.Tag}[of]
	if *to == nil {
		*to = &spreadText{}
	}
	if part == "decay" {
		(*to).Decay = value
	} else {
		(*to).Floor = value
	}
}

// apply changes the parameters that are named. A decay of 0 is refused here: the
// zero [Spread] is off, and who writes 0 means the strongest.
func (t *diversityText) apply(d *Diversity) error {
	if t == nil {
		return nil
	}
	for _, s := range []struct {
		name string
		from *spreadText
		to   *Spread
	}{{"author", t.Author, &d.Author}, {"site", t.Site, &d.Site}, {"tag", t.Tag, &d.Tag}} {
		if s.from == nil {
			continue
		}
		setNumber(&s.to.Decay, s.from.Decay)
		setNumber(&s.to.Floor, s.from.Floor)
		if s.from.Decay != nil && *s.from.Decay == 0 {
			return errZeroDecay("diversity." + s.name + ".decay")
		}
	}
	setNumber(&d.SameStory, t.SameStory)
	return nil
}

func errZeroDecay(name string) error {
	return fmt.Errorf("%w: %s must be greater than 0 and at most 1 (off), not 0", ErrBadRanking, name)
}
