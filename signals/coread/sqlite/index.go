package sqlite

import "hash/maphash"

// index has the numbers of items by the hashes of their ids. A refresh looks up hundreds of ids, most of
// the time of which is memory that the processor has not cached: this is one line of it for an id, where
// a map of strings has three. It does not compare ids: among a million, one process in 20 million has two
// of the same hash, which count as one item until it ends. The seed is random, so nobody can choose them.
type index struct {
	seed  maphash.Seed
	slots []slot // their number is a power of 2
	shift uint8  // of a hash, to its slot
	used  int
}

type slot struct {
	hash   uint64 // 0 if the slot is free
	number uint32
}

const leastSlots = 64

func newIndex() index {
	return index{seed: maphash.MakeSeed(), slots: make([]slot, leastSlots), shift: 64 - 6}
}

// hash returns the hash of an id; it is not 0.
func (x *index) hash(id string) uint64 { return maphash.String(x.seed, id) | 1 }

// slot returns the slot of a hash, or the free one where it belongs.
func (x *index) slot(hash uint64) *slot {
	for i := hash >> x.shift; ; i = (i + 1) & uint64(len(x.slots)-1) {
		s := &x.slots[i]
		if s.hash == hash || s.hash == 0 {
			return s
		}
	}
}

// find returns the number of an item.
func (x *index) find(id string) (number uint32, known bool) {
	s := x.slot(x.hash(id))
	return s.number, s.hash != 0
}

// add adds an item that it does not have.
func (x *index) add(id string, number uint32) {
	if 2*(x.used+1) > len(x.slots) {
		old := x.slots
		x.slots, x.shift = make([]slot, 2*len(old)), x.shift-1
		for _, s := range old {
			if s.hash != 0 {
				*x.slot(s.hash) = s
			}
		}
	}
	hash := x.hash(id)
	*x.slot(hash) = slot{hash, number}
	x.used++
}

// clear removes all items.
func (x *index) clear() {
	clear(x.slots)
	x.used = 0
}
