package arrange

import (
	"hash/maphash"

	"github.com/freshet/freshet/feed"
)

// Kinds lists the traits that pages are varied by, in the order of a page builder's kinds.
var Kinds = [...]string{"author", "site", "tag"}

// kind is the state of one trait. Values are numbered from 1; 0 means no value.
type kind struct {
	on      bool
	spread  feed.Spread
	numbers numbering
	factor  []float64 // value → factor of its next item on the page
	count   []int     // value → items on the page
	left    []int     // value → candidates not placed
	live    int       // values with candidates left
	free    int       // values with candidates left and no item on the page
}

// reset prepares for a list of n candidates, all without a value at first.
func (k *kind) reset(spread feed.Spread, n int) {
	k.on, k.spread, k.live = spread.On(), spread, 0
	k.factor, k.count, k.left = append(k.factor[:0], 1), append(k.count[:0], 0), append(k.left[:0], 0)
	if k.on {
		k.numbers.clear(n)
	}
}

// begin starts a page; before is the previous page, which the index of the kind in [Kinds].
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

// leave records that a candidate with that value was placed or left out.
func (k *kind) leave(value int32, placed bool) {
	k.left[value]--
	ended := k.left[value] == 0
	if ended {
		k.live--
	}
	placed = placed && value != 0 // having no value is not a common value
	if k.count[value] == 0 && (placed || ended) {
		k.free--
	}
	if placed {
		k.count[value]++
		k.factor[value] = max(k.spread.Floor, k.factor[value]*k.spread.Decay)
	}
}

// most returns the highest factor that a candidate can have at the moment.
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

// numbering numbers texts from 1 in the order of their arrival. It serves as a map for lists of
// some hundred texts that are numbered again at every refresh: clearing it and looking up cost
// less than with a map. On a collision it uses the next free slot.
type numbering struct {
	slots  []int32  // number at the text's hash, 0 if free; a power of two, at least twice the number of texts
	values []string // text of each number, from 1
}

var numberingSeed = maphash.MakeSeed()

// clear prepares the numbering for at most n texts.
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

// of returns the number of a text, and assigns the next one to a new text.
func (t *numbering) of(value string) int32 {
	mask := uint64(len(t.slots) - 1)
	at := maphash.String(numberingSeed, value) & mask
	for ; t.slots[at] != 0; at = (at + 1) & mask {
		n := t.slots[at]
		if t.values[n] == value {
			return n
		}
	}
	n := int32(len(t.values))
	t.slots[at], t.values = n, append(t.values, value)
	return n
}
