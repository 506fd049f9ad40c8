package engine

import (
	"math"
	"slices"

	"github.com/freshet/freshet/feed"
)

// pageBuilder puts ranked candidates on pages, so that no page is of one author, site
// or tag, and none tells one story twice. It is pooled with what it needs.
//
// Within a page it takes, again and again, the candidate with the highest
//
//	score × author's factor × site's factor × tag's factor
//
// where the factor of something that n−1 items of the page have is
// max(floor, decay^(n−1)), and of equal ones the one that ranks higher. One whose
// title is that of an item of the page, as far as diversity.same_story says, is set aside.
// The next page begins anew with what is left. Where nothing else is left, what was set
// aside comes: the rules order candidates and hide none. On each page stories that it has
// not come first, and the others fill it.
//
// Candidates come by score, so the search for the best one ends where even the
// highest factors cannot lift a score above what was found. Most searches end
// after a few; where one site or author has the highest scores they go past it. m
// candidates so cost about m steps, and m²/2 at worst: half a millisecond for 500.
type pageBuilder struct {
	by     feed.Diversity
	from   []feed.Candidate
	cards  []card       // one for each candidate
	all    []int32      // what rest is a part of
	rest   []int32      // candidates not placed yet, in order
	aside  []int32      // candidates that were set aside
	order  []int32      // placed
	proper int          // positions before what was set aside had to fill one; -1: it has not yet
	kinds  [3]kind      // author, site, tag
	page   []int32      // candidates of the current page
	told   []feed.Story // of page
	story  feed.Story   // of the candidate that was looked at last
	places []place      // of all candidates; nil: nobody asks
	drawer drawer
}

// card is the part of a candidate that the search for the best one reads: a score, and the
// numbers of its values. It is small, because the search is most of the work.
type card struct {
	score float64
	of    [len(kinds)]int32
}

// place is the outcome of a candidate, for explanations.
type place struct {
	at     int             // in the list that pages are built from; from 1, 0: left out
	page   int             // from 1
	nth    [len(kinds)]int // of the page's with that author, site and tag; 0: it has none, or it is off
	factor [len(kinds)]float64
	same   int32 // the candidate of the page that tells its story, or is of its group; -1: none
	source feed.Source
	right  feed.Source // of home: whose position it was
}

// build returns the list that pages of size are taken from, up to most with what was set aside.
func (b *pageBuilder) build(from []feed.Candidate, by feed.Diversity, size, most int) []feed.Ref {
	if !by.On() && b.places == nil && !b.drawer.on() {
		b.proper = len(from)
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

func refsOf(from []feed.Candidate) []feed.Ref {
	refs := make([]feed.Ref, len(from))
	for i := range from {
		refs[i] = feed.Ref{ID: from[i].ID, Group: from[i].Group}
	}
	return refs
}

func (b *pageBuilder) prepare(from []feed.Candidate, by feed.Diversity) {
	b.by, b.from = by, from
	b.rest, b.aside, b.order, b.page, b.proper = b.all[:0], b.aside[:0], b.order[:0], b.page[:0], -1
	b.cards = b.cards[:0]
	for i := range from {
		b.rest = append(b.rest, int32(i))
		b.cards = append(b.cards, card{score: float64(from[i].Score)})
	}
	b.all = b.rest
	for k, spread := range [len(kinds)]feed.Spread{by.Author, by.Site, by.Tag} {
		b.kinds[k].reset(spread, len(from))
		if b.kinds[k].on {
			b.number(k)
		}
	}
	if b.places != nil {
		b.places = slices.Repeat([]place{{same: -1}}, len(from))
	}
}

// number gives the candidates the numbers of their values of one kind.
func (b *pageBuilder) number(which int) {
	k := &b.kinds[which]
	for i := range b.from {
		t := &b.from[i].Traits
		n := int32(0)
		if value := [...]*string{&t.Author, &t.Site, &t.Tag}[which]; *value != "" {
			if n = k.numbers.of(*value); int(n) == len(k.factor) {
				k.factor, k.count, k.left = append(k.factor, 1), append(k.count, 0), append(k.left, 0)
			}
		}
		b.cards[i].of[which] = n
		if k.left[n]++; k.left[n] == 1 {
			k.live++
		}
	}
}

// buildPage builds the next page; false: nothing is left for one.
func (b *pageBuilder) buildPage(page, size, most int) bool {
	b.beginPage()
	b.drawer.begin(size)
	for taken := 0; len(b.page) < size; {
		for ; len(b.rest) == 0 && taken < 2; taken++ { // first for stories that the page has not
			b.takeUp()
		}
		if len(b.rest) == 0 || b.proper >= 0 && len(b.order) >= most {
			break
		}
		at, drawn := b.draw(size)
		source := feed.SourceExplore
		if !drawn {
			at, source = b.best(), feed.SourceScore
		}
		c := b.takeOut(at)
		same := b.sameStory(c)
		if same >= 0 && taken < 2 {
			b.setAside(c, same)
			b.aside = append(b.aside, c)
			continue
		}
		if drawn {
			b.drawer.place(len(b.order))
		}
		b.put(c, page, same, source)
	}
	return len(b.page) > 0
}

// beginPage begins a page after the one before.
func (b *pageBuilder) beginPage() {
	for k := range b.kinds {
		b.kinds[k].begin(b.page, b.cards, k)
	}
	b.page, b.told = b.page[:0], b.told[:0]
}

// takeUp goes on with what was set aside, because nothing else is left.
func (b *pageBuilder) takeUp() {
	if b.proper < 0 {
		b.proper = len(b.order)
	}
	slices.Sort(b.aside)
	b.all, b.aside = b.aside, b.all[:0]
	b.rest = b.all
}

// takeOut takes a candidate out of rest.
func (b *pageBuilder) takeOut(at int) int32 {
	c := b.rest[at]
	copy(b.rest[1:at+1], b.rest[:at]) // it is most often among the first
	b.rest = b.rest[1:]
	return c
}

// setAside notes for explanations what kept a candidate from the page.
func (b *pageBuilder) setAside(c, same int32) {
	if b.places != nil {
		b.places[c] = place{same: same}
	}
}

// put puts the candidate that was looked at last on the page.
func (b *pageBuilder) put(c int32, page int, same int32, source feed.Source) {
	b.page, b.order = append(b.page, c), append(b.order, c)
	if b.by.OneStory() {
		b.told = append(b.told, b.story)
	}
	if b.places != nil {
		b.places[c] = b.placed(page, c)
		b.places[c].same, b.places[c].source = same, source
	}
	b.leave(c, true)
}

// best finds the place in rest of the candidate to take next.
func (b *pageBuilder) best() int {
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
		// multiplied as most is, so that it is no larger
		if score := card.score * (author[card.of[0]] * site[card.of[1]] * tag[card.of[2]]); score > highest {
			best, highest = i, score
		}
	}
	return best
}

// sameStory answers the candidate of the page that tells this one's story; -1: none does.
func (b *pageBuilder) sameStory(c int32) int32 {
	if !b.by.OneStory() {
		return -1
	}
	b.story = feed.ReadStory(b.from[c].Story)
	for i := range b.told {
		if b.story.AtLeast(&b.told[i], b.by.SameStory) {
			return b.page[i]
		}
	}
	return -1
}

// leave takes a candidate that is placed, or left out, into account.
func (b *pageBuilder) leave(c int32, placed bool) {
	for k := range b.kinds {
		if b.kinds[k].on {
			b.kinds[k].leave(b.cards[c].of[k], placed)
		}
	}
}

// placed is the place of a candidate that has just been put on the page.
func (b *pageBuilder) placed(page int, c int32) place {
	p := place{at: len(b.order), page: page, same: -1}
	for k := range b.kinds {
		p.factor[k] = 1
		if kind, value := &b.kinds[k], b.cards[c].of[k]; value > 0 {
			p.nth[k], p.factor[k] = kind.count[value]+1, kind.factor[value]
		}
	}
	return p
}

// release lets go of what the candidates' texts are parts of.
func (b *pageBuilder) release() {
	b.from, b.places = nil, nil
	for k := range b.kinds {
		clear(b.kinds[k].numbers.values[:cap(b.kinds[k].numbers.values)])
	}
}
