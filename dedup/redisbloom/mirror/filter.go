package mirror

import (
	"fmt"

	"github.com/bits-and-blooms/bloom/v3"
)

// exactFilter answers as the RedisBloom filter does whose bits it holds. It is
// not written to once it is complete.
type exactFilter struct {
	layers []exactLayer
	bytes  int64
}

// exactLayer is one layer; its bits and its number of hashes are kept as a
// bits-and-blooms filter. Only where a member's bits lie is RedisBloom's.
type exactLayer struct {
	*bloom.BloomFilter
	words   []uint64
	begin   uint64 // where its bytes begin in the dump
	members uint64
}

// newExactFilter makes a filter of the described sizes, without members.
func newExactFilter(h dumpHeader) *exactFilter {
	f := &exactFilter{bytes: int64(h.size())}
	for _, l := range h.layers {
		words := make([]uint64, l.bytes/8)
		f.layers = append(f.layers, exactLayer{
			BloomFilter: bloom.From(words, uint(l.hashes)), words: words, begin: l.beginsAtBytes, members: l.members,
		})
	}
	return f
}

// fill stores the piece of the dump that begins at a byte. RedisBloom's bit i
// is bit i mod 8 of byte i/8, which in words is bit i mod 64 of word i/64.
func (f *exactFilter) fill(at uint64, data string) error {
	for _, l := range f.layers {
		end := l.begin + 8*uint64(len(l.words))
		if at < l.begin || at >= end {
			continue
		}
		if at%8 != 0 || len(data)%8 != 0 || at+uint64(len(data)) > end {
			return fmt.Errorf("%w: a piece of %d bytes at %d, in a layer of bytes %d to %d", errLayout, len(data), at, l.begin, end)
		}
		words := l.words[(at-l.begin)/8:]
		for ; len(data) > 0; data, words = data[8:], words[1:] {
			words[0] = block(data)
		}
		return nil
	}
	return fmt.Errorf("%w: a piece at byte %d, behind the last layer", errLayout, at)
}

// holds reports whether the filter takes a member for added.
func (f *exactFilter) holds(p hashPair) bool {
	for _, l := range f.layers {
		if l.holds(p) {
			return true
		}
	}
	return false
}

func (l exactLayer) holds(p hashPair) bool {
	m, at := uint64(l.Cap()), p.a
	for range l.K() {
		if bit := at % m; l.words[bit>>6]>>(bit&63)&1 == 0 {
			return false
		}
		at += p.b
	}
	return true
}

// sift splits the members whose indices are in asked: found gets those that
// the filter holds, the others stay in asked, which is returned. scratch is
// room for as many indices.
//
// It takes one probe of all members before the next probe of any, and keeps
// survivors without a branch: the loads of a round do not depend on each other,
// so their cache misses overlap.
func (f *exactFilter) sift(pairs []hashPair, asked, scratch []int32, found func(int32)) []int32 {
	for _, l := range f.layers {
		if len(asked) == 0 {
			return asked
		}
		alive := l.sift(pairs, append(scratch[:0], asked...))
		if len(alive) == 0 {
			continue
		}
		rest := asked[:0] // alive is a subsequence of asked
		for _, i := range asked {
			if len(alive) > 0 && alive[0] == i {
				found(i)
				alive = alive[1:]
			} else {
				rest = append(rest, i)
			}
		}
		asked = rest
	}
	return asked
}

func (l exactLayer) sift(pairs []hashPair, alive []int32) []int32 {
	m := uint64(l.Cap())
	for round := range uint64(l.K()) {
		n := 0
		for _, i := range alive {
			p := pairs[i]
			bit := (p.a + round*p.b) % m
			alive[n] = i
			n += int(l.words[bit>>6] >> (bit & 63) & 1)
		}
		if alive = alive[:n]; n == 0 {
			break
		}
	}
	return alive
}
