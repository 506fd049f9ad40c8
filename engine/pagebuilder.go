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
// title is that of an item of the page, as far as diversity.same_story says, is
// left out of all pages. The next page begins anew with what is left.
//
// Candidates come by score, so the search for the best one ends where even the
// highest factors cannot lift a score above what was found. Most searches end
// after a few; where one site or author has the highest scores they go past it. m
// candidates so cost about m steps, and m²/2 at worst: half a millisecond for 500.
type pageBuilder struct {
	by     feed.Diversity
	from   []feed.Candidate
	cards  []card  // one for each candidate
	all    []int32 // what rest is a part of
	rest   []int32 // candidates not placed yet, in order
	order  []int32 // placed
	kinds  [3]kind // author, site, tag
	page   []int32 // candidates of the current page
	told   []feed.Story
	places []place // of all candidates; nil: nobody asks
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
	same   int32 // with at 0: the candidate that tells its story; -1: the list was full before it
	source feed.Source
	right  feed.Source // of home: whose position it was
}

// kinds are the traits that pages are varied by, in the order of a page builder's.
var kinds = [...]string{"author", "site", "tag"}

// kind is one of the three. Values are numbered from 1; 0 is to have none.
type kind struct {
	on      bool
	spread  feed.Spread
	numbers numbering
	factor  []float64 // value → of its next item on the page
	count   []int     // value → items on the page
	left    []int     // value → candidates not placed
	live    int       // values with candidates left
	free    int       // of those, the ones of which the page has none
}

// build returns the list that pages of size are taken from.
func (b *pageBuilder) build(from []feed.Candidate, by feed.Diversity, size int) []feed.Ref {
	if !by.On() && b.places == nil && !b.drawer.on() {
		return refsOf(from)
	}
	b.prepare(from, by)
	for page := 1; len(b.rest) > 0; page++ {
		b.buildPage(page, max(1, size))
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
	b.rest, b.order, b.page = b.all[:0], b.order[:0], b.page[:0]
	b.cards = b.cards[:0]
	for i := range from {
		b.rest = append(b.rest, int32(i))
		b.cards = append(b.cards, card{score: float64(from[i].Score)})
	}
	b.all = b.rest
	for k, spread := range [len(kinds)]feed.Spread{by.Author, by.Site, by.Tag} {
		b.kinds[k].begun(spread, len(from))
		if b.kinds[k].on {
			b.number(k)
		}
	}
	if b.places != nil {
		b.places = slices.Repeat([]place{{same: -1}}, len(from))
	}
}

// begun begins a list of n candidates, all without a value.
func (k *kind) begun(spread feed.Spread, n int) {
	k.on, k.spread, k.live = spread.On(), spread, 0
	k.factor, k.count, k.left = append(k.factor[:0], 1), append(k.count[:0], 0), append(k.left[:0], 0)
	if k.on {
		k.numbers.clear(n)
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

// buildPage builds the next page.
func (b *pageBuilder) buildPage(page, size int) {
	for k := range b.kinds {
		b.kinds[k].begin(b.page, b.cards, k)
	}
	b.page, b.told = b.page[:0], b.told[:0]
	b.drawer.begin(size)
	for len(b.page) < size && len(b.rest) > 0 {
		at, drawn := b.draw(size)
		if !drawn {
			at = b.best()
		}
		c := b.rest[at]
		copy(b.rest[1:at+1], b.rest[:at]) // it is most often among the first
		b.rest = b.rest[1:]
		if same := b.sameStory(c); same >= 0 {
			if b.places != nil {
				b.places[c] = place{same: same}
			}
			b.leave(c, false)
			continue
		}
		if drawn {
			b.drawer.place(len(b.order))
		}
		b.page, b.order = append(b.page, c), append(b.order, c)
		if b.places != nil {
			b.places[c] = b.placed(page, c)
			if drawn {
				b.places[c].source = feed.SourceExplore
			}
		}
		b.leave(c, true)
	}
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

// sameStory answers the candidate of the page that tells this one's story, and
// -1 where there is none.
func (b *pageBuilder) sameStory(c int32) int32 {
	if !b.by.OneStory() {
		return -1
	}
	story := feed.ReadStory(b.from[c].Story)
	for i := range b.told {
		if story.AtLeast(&b.told[i], b.by.SameStory) {
			return b.page[i]
		}
	}
	b.told = append(b.told, story)
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

// begin begins a page after the one before; the kind is the which-th.
func (k *kind) begin(before []int32, cards []card, which int) {
	if !k.on {
		return
	}
	for _, c := range before {
		value := cards[c].of[which]
		k.factor[value], k.count[value] = 1, 0
	}
	k.free = k.live
}

// leave is told that a candidate with that value is placed, or left out.
func (k *kind) leave(value int32, placed bool) {
	k.left[value]--
	ended := k.left[value] == 0
	if ended {
		k.live--
	}
	placed = placed && value != 0 // to have none is nothing to have in common
	if k.count[value] == 0 && (placed || ended) {
		k.free--
	}
	if placed {
		k.count[value]++
		k.factor[value] = max(k.spread.Floor, k.factor[value]*k.spread.Decay)
	}
}

// most is the highest factor that a candidate can have at the moment.
func (k *kind) most() float64 {
	if !k.on || k.free > 0 {
		return 1
	}
	most := 0.0 // all values with candidates are on the page: there are not many
	for v, left := range k.left {
		if left > 0 {
			most = max(most, k.factor[v])
		}
	}
	return most
}

// release lets go of what the candidates' texts are parts of.
func (b *pageBuilder) release() {
	b.from, b.places = nil, nil
	for k := range b.kinds {
		clear(b.kinds[k].numbers.values[:cap(b.kinds[k].numbers.values)])
	}
}
