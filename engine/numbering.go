package engine

import "hash/maphash"

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
