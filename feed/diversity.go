package feed

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
