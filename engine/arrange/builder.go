// Package arrange puts ranked candidates on pages: it varies authors, sites and tags, repeats no
// story on a page, draws items to explore, and blends the sources of home. It reads and changes
// nothing else.
package arrange

import (
	"math"
	"slices"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/convert"
)

// Builder arranges ranked candidates into pages, so that no page is dominated by one author,
// site or tag, and none repeats a story. It is pooled with its buffers.
//
// On a page it repeatedly takes the candidate with the highest
//
//	score × author's factor × site's factor × tag's factor
//
// where the factor of a value that n−1 items of the page have is max(floor, decay^(n−1)); of
// equal candidates it takes the one that ranks higher. It sets aside a candidate whose title, by
// the measure of diversity.same_story, matches that of an item of the page. The next page starts
// again with the remaining candidates. Once nothing else is left, those set aside follow: the
// rules order candidates and hide none. Stories that a page does not have yet still come first,
// and the others fill it.
//
// Candidates are sorted by score, so the search for the best one ends when even the highest
// factors cannot raise a score above the best found. Most searches end after a few candidates; if
// one site or author has the highest scores they pass over those. m candidates thus cost about m
// steps, and m²/2 at worst: half a millisecond for 500.
type Builder struct {
	by          feed.Diversity
	from        []feed.Candidate
	cards       []card       // one for each candidate
	all         []int32      // the array that rest is a part of
	rest        []int32      // candidates not placed yet, in order
	aside       []int32      // candidates that were set aside
	order       []int32      // placed
	regular     int          // positions before the first one filled from aside; -1 if none was yet
	kinds       [3]kind      // author, site, tag
	page        []int32      // candidates of the current page
	pageStories []feed.Story // stories of page
	story       feed.Story   // story of the candidate examined last
	places      []Place      // of all candidates, for explanations; nil otherwise
	drawer      drawer
}

// Explore prepares the builder to draw items for an agent, if the ranking has a share for that. The
// agent, the origin and the candidates determine what is drawn. The last beyond candidates are
// young items that recall has not returned: they are only drawn, and left out otherwise.
func (b *Builder) Explore(agent string, q *feed.Query, beyond int) { b.drawer.aim(agent, q, beyond) }

// Explain makes the builder note the place of each candidate until Release.
func (b *Builder) Explain() { b.places = []Place{} }

// Places returns the place of each candidate, if [Builder.Explain] was called.
func (b *Builder) Places() []Place { return b.places }

// Regular returns how many positions of the list were filled before the first candidate that had
// been set aside.
func (b *Builder) Regular() int { return b.regular }

// card holds the part of a candidate that the search for the best one reads: its score, and the
// numbers of its values. It is small, because the search is most of the work.
type card struct {
	score float64
	of    [len(Kinds)]int32
}

// Place is the outcome of a candidate, for explanations.
type Place struct {
	At     int             // in the list that pages are built from, from 1; 0 means left out
	Page   int             // from 1
	Nth    [len(Kinds)]int // rank on the page among items of that author, site and tag; 0 if it has none, or the rule is off
	Factor [len(Kinds)]float64
	Same   int32 // the candidate of the page with the same story or group; -1 if there is none
	Source feed.Source
	Wanted feed.Source // of home: the source that the pattern names for the position
}

// Build returns the list that pages of size are taken from, with up to most items including those
// set aside.
func (b *Builder) Build(from []feed.Candidate, by feed.Diversity, size, most int) []feed.Ref {
	if !by.On() && b.places == nil && !b.drawer.on() {
		b.regular = len(from)
		return refsOf(from)
	}
	b.prepare(from, by)
	for page := 1; b.buildPage(page, max(1, size), most); page++ {
	}
	ranked := make([]feed.Ref, len(b.order))
	for i, c := range b.order {
		ranked[i] = feed.Ref{ID: from[c].ID, Group: from[c].Group}
	}
	for _, i := range b.drawer.placed {
		ranked[i].Source = feed.SourceExplore
	}
	return ranked
}

// Reorder returns all candidates in the order in which pages of size show them.
func (b *Builder) Reorder(from []feed.Candidate, by feed.Diversity, size int) []feed.Candidate {
	if !by.On() && !b.drawer.on() {
		return from
	}
	b.Build(from, by, size, len(from))
	out := convert.Each(b.order, func(c int32) feed.Candidate { return from[c] })
	return out
}

func refsOf(from []feed.Candidate) []feed.Ref {
	refs := make([]feed.Ref, len(from))
	for i := range from {
		refs[i] = feed.Ref{ID: from[i].ID, Group: from[i].Group}
	}
	return refs
}

func (b *Builder) prepare(from []feed.Candidate, by feed.Diversity) {
	b.by, b.from = by, from
	b.rest, b.aside, b.order, b.page, b.regular = b.all[:0], b.aside[:0], b.order[:0], b.page[:0], -1
	b.cards = b.cards[:0]
	b.drawer.fill(len(from))
	ranked := len(from) - b.drawer.beyond
	for i := range from {
		if i < ranked {
			b.rest = append(b.rest, int32(i))
		}
		b.cards = append(b.cards, card{score: float64(from[i].Score)})
	}
	b.all = b.rest
	for k, spread := range [len(Kinds)]feed.Spread{by.Author, by.Site, by.Tag} {
		b.kinds[k].reset(spread, len(from))
		if b.kinds[k].on {
			b.number(k)
		}
	}
	if b.places != nil {
		b.places = slices.Repeat([]Place{{Same: -1}}, len(from))
	}
}

// number assigns the numbers of one kind's values to the candidates.
func (b *Builder) number(which int) {
	k := &b.kinds[which]
	for i := range b.from {
		t := &b.from[i].Traits
		n := int32(0)
		value := [...]*string{&t.Author, &t.Site, &t.Tag}[which]
		if *value != "" {
			n = k.numbers.of(*value)
			if int(n) == len(k.factor) {
				k.factor, k.count, k.left = append(k.factor, 1), append(k.count, 0), append(k.left, 0)
			}
		}
		b.cards[i].of[which] = n
		k.left[n]++
		if k.left[n] == 1 {
			k.live++
		}
	}
}

// buildPage builds the next page. It returns false if nothing is left.
func (b *Builder) buildPage(page, size, most int) bool {
	b.beginPage()
	b.drawer.begin(size)
	for taken := 0; len(b.page) < size; {
		for ; len(b.rest) == 0 && taken < 2; taken++ { // the first time for stories that the page does not have
			b.resume()
		}
		if len(b.rest) == 0 || b.regular >= 0 && len(b.order) >= most {
			break
		}
		c, drawn := b.draw(size)
		source := feed.SourceExplore
		if !drawn {
			c, source = b.remove(b.best()), feed.SourceScore
		}
		same := b.sameStory(c)
		if same >= 0 && taken < 2 {
			b.setAside(c, same)
			if int(c) < len(b.from)-b.drawer.beyond {
				b.aside = append(b.aside, c)
			}
			continue
		}
		if drawn {
			b.drawer.place(len(b.order))
		}
		b.put(c, page, same, source)
	}
	return len(b.page) > 0
}

// beginPage starts the next page.
func (b *Builder) beginPage() {
	for k := range b.kinds {
		b.kinds[k].begin(b.page, b.cards, k)
	}
	b.page, b.pageStories = b.page[:0], b.pageStories[:0]
}

// resume resumes the candidates set aside, because nothing else is left.
func (b *Builder) resume() {
	if b.regular < 0 {
		b.regular = len(b.order)
	}
	slices.Sort(b.aside)
	b.all, b.aside = b.aside, b.all[:0]
	b.rest = b.all
}

// remove removes a candidate from rest.
func (b *Builder) remove(at int) int32 {
	c := b.rest[at]
	copy(b.rest[1:at+1], b.rest[:at]) // it is most often among the first
	b.rest = b.rest[1:]
	return c
}

// setAside records for explanations why a candidate is not on the page.
func (b *Builder) setAside(c, same int32) {
	if b.places != nil {
		b.places[c] = Place{Same: same}
	}
}

// put places the candidate examined last on the page.
func (b *Builder) put(c int32, page int, same int32, source feed.Source) {
	b.page, b.order = append(b.page, c), append(b.order, c)
	if b.by.OneStory() {
		b.pageStories = append(b.pageStories, b.story)
	}
	if b.places != nil {
		b.places[c] = b.placed(page, c)
		b.places[c].Same, b.places[c].Source = same, source
	}
	b.leave(c, true)
}

// best returns the index in rest of the candidate to take next.
func (b *Builder) best() int {
	most := 1.0
	for k := range b.kinds {
		most *= b.kinds[k].most()
	}
	author, site, tag := b.kinds[0].factor, b.kinds[1].factor, b.kinds[2].factor
	best, highest := 0, math.Inf(-1)
	for i, c := range b.rest {
		card := &b.cards[c]
		if card.score*most <= highest {
			break
		}
		// multiplied in the order of most, so that rounding cannot make it larger
		score := card.score * (author[card.of[0]] * site[card.of[1]] * tag[card.of[2]])
		if score > highest {
			best, highest = i, score
		}
	}
	return best
}

// sameStory returns the candidate of the page with the same story; -1 if there is none.
func (b *Builder) sameStory(c int32) int32 {
	if !b.by.OneStory() {
		return -1
	}
	b.story = feed.ReadStory(b.from[c].Story)
	for i := range b.pageStories {
		if b.story.AtLeast(&b.pageStories[i], b.by.SameStory) {
			return b.page[i]
		}
	}
	return -1
}

// leave updates the kinds after a candidate was placed or left out.
func (b *Builder) leave(c int32, placed bool) {
	for k := range b.kinds {
		if b.kinds[k].on {
			b.kinds[k].leave(b.cards[c].of[k], placed)
		}
	}
}

// placed returns the place of a candidate that was just put on the page.
func (b *Builder) placed(page int, c int32) Place {
	p := Place{At: len(b.order), Page: page, Same: -1}
	for k := range b.kinds {
		p.Factor[k] = 1
		kind, value := &b.kinds[k], b.cards[c].of[k]
		if value > 0 {
			p.Nth[k], p.Factor[k] = kind.count[value]+1, kind.factor[value]
		}
	}
	return p
}

// Release drops the references to the candidates and their texts.
func (b *Builder) Release() {
	b.from, b.places, b.drawer.beyond = nil, nil, 0
	for k := range b.kinds {
		clear(b.kinds[k].numbers.values[:cap(b.kinds[k].numbers.values)])
	}
}
