package engine

import (
	"hash/maphash"

	"github.com/freshet/freshet/feed"
)

// kinds are the traits that pages are varied by, in the order of a page builder's.
var kinds = [...]string{"author", "site", "tag"}

// kind is one of the three. Values are numbered from 1; 0 stands for none.
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

// reset prepares for a list of n candidates, all without a value.
func (k *kind) reset(spread feed.Spread, n int) {
	k.on, k.spread, k.live = spread.On(), spread, 0
	k.factor, k.count, k.left = append(k.factor[:0], 1), append(k.count[:0], 0), append(k.left[:0], 0)
	if k.on {
		k.numbers.clear(n)
	}
}

// begin starts a page after the one before; which is the index of the kind in [kinds].
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

// numbering numbers texts from 1 in the order they come, like a map, for lists of some
// hundred that are numbered anew with every refresh: emptying it costs less than
// emptying a map, and so does looking up. Collisions go to the next free slot.
type numbering struct {
	slots  []int32  // number at the text's hash, 0: free; at least twice as many as texts, a power of two
	values []string // text of each number, from 1
}

var numberingSeed = maphash.MakeSeed()

// clear makes it ready for at most n texts.
func (t *numbering) clear(n int) {
	size := max(8, cap(t.slots))
	for size < 2*n {
		size *= 2
	}
	if size > cap(t.slots) {
		t.slots = make([]int32, size)
	} else {
		clear(t.slots)
	}
	t.values = append(t.values[:0], "")
}

// of returns the number of a text, the next one where it is new.
func (t *numbering) of(value string) int32 {
	mask := uint64(len(t.slots) - 1)
	at := maphash.String(numberingSeed, value) & mask
	for ; t.slots[at] != 0; at = (at + 1) & mask {
		if n := t.slots[at]; t.values[n] == value {
			return n
		}
	}
	n := int32(len(t.values))
	t.slots[at], t.values = n, append(t.values, value)
	return n
}
