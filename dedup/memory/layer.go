package memory

import (
	"math"
	"math/bits"
	"sync/atomic"

	"github.com/bits-and-blooms/bloom/v3"
	"github.com/cespare/xxhash/v2"
)

// maxProbes bounds the number of bits set for a member. The best number for a rate p is −log₂ p, so
// the bound matters only for rates below one in four billion.
const maxProbes = 32

// layer is a Bloom filter of fixed size. It uses the sizing and stored format of bits-and-blooms.
// Words are read and set atomically, so that a check never waits for a batch being recorded. A
// member is hashed once for all days, whatever their sizes.
type layer struct {
	capacity uint64  // members it is sized for
	rate     float64 // false-positive probability at capacity
	words    []uint64
	m        uint64 // bits in use
	k        uint64 // probes per member

	count atomic.Int64 // members added that were new
	ones  atomic.Int64 // bits set
}

// newLayer sizes a layer for n members at false-positive probability p, as [dedup.SizeFilter].
func newLayer(n uint64, p float64) *layer {
	m, k := bloom.EstimateParameters(uint(n), p)
	m, k = max(m, 64), min(max(k, 1), maxProbes)
	return &layer{capacity: n, rate: p, words: make([]uint64, (uint64(m)+63)/64), m: uint64(m), k: uint64(k)}
}

// probe is a member's hash, from which all its bits are derived.
type probe struct{ start, step uint64 }

// hashMember hashes a member once. The second half is the finalizer of
// splitmix64 over the first: two members share all their probes only if their
// 64-bit hashes are equal.
func hashMember(member []byte) probe {
	h := xxhash.Sum64(member)
	s := h + 0x9e3779b97f4a7c15
	s = (s ^ s>>30) * 0xbf58476d1ce4e5b9
	s = (s ^ s>>27) * 0x94d049bb133111eb
	return probe{start: h, step: s ^ s>>31 | 1}
}

// locate maps a point of the 64-bit circle to one of m bits: ⌊x·m / 2⁶⁴⌋, which needs a
// multiplication where a remainder would need a division.
func (l *layer) locate(x uint64) (word uint64, mask uint64) {
	at, _ := bits.Mul64(x, l.m)
	return at >> 6, 1 << (at & 63)
}

// sift returns those of the members with indices in alive that the layer may hold; alive is
// overwritten. It does one probe of all members before the next probe of any, and selects survivors
// without a branch: the loads of a round do not depend on each other, so their cache misses
// overlap. (Member by member, every second probe is a mispredicted branch and waits for a cache
// miss.)
func (l *layer) sift(probes []probe, alive []int32) []int32 {
	for round := uint64(0); round < l.k && len(alive) > 0; round++ {
		n := 0
		for _, i := range alive {
			p := probes[i]
			at, _ := bits.Mul64(p.start+round*p.step, l.m)
			alive[n] = i
			n += int(atomic.LoadUint64(&l.words[at>>6]) >> (at & 63) & 1)
		}
		alive = alive[:n]
	}
	return alive
}

// add adds the member and reports whether it was new.
func (l *layer) add(p probe) bool {
	fresh := int64(0)
	x := p.start
	for range l.k {
		word, mask := l.locate(x)
		if atomic.LoadUint64(&l.words[word])&mask == 0 && atomic.OrUint64(&l.words[word], mask)&mask == 0 {
			fresh++
		}
		x += p.step
	}
	if fresh == 0 {
		return false
	}
	l.ones.Add(fresh)
	l.count.Add(1)
	return true
}

// has reports whether the layer may hold the member.
func (l *layer) has(p probe) bool {
	x := p.start
	for range l.k {
		word, mask := l.locate(x)
		if atomic.LoadUint64(&l.words[word])&mask == 0 {
			return false
		}
		x += p.step
	}
	return true
}

func (l *layer) full() bool { return uint64(l.count.Load()) >= l.capacity }

// falsePositives estimates the layer's current false-positive probability: the share of set bits to
// the power of the number of probes.
func (l *layer) falsePositives() float64 {
	return math.Pow(float64(l.ones.Load())/float64(l.m), float64(l.k))
}
