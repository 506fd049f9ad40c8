package quality

import "math/bits"

// set is a set of item indices.
type set []uint64

func newSet(items int) set { return make(set, (items+63)/64) }

func (s set) add(item int) { s[item/64] |= 1 << (item % 64) }

// join adds the elements of other.
func (s set) join(other set) {
	for i, word := range other {
		s[i] |= word
	}
}

func (s set) size() int {
	n := 0
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}
