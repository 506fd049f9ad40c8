package mirror

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
)

// To compare a copied filter with the one in Redis, strings are needed that
// the filter holds, and its members are not known any more. They can be made:
// MurmurHash64A is no secret-keyed hash, each of its steps can be undone, and
// so a string can be found whose two hashes are any pair asked for. With b = 0
// all probes of a member fall on the one bit a mod bits: BF.MEXISTS then reads
// single bits of the filter in Redis.

// murmurBack is the inverse of murmurM modulo 2⁶⁴, by Newton's iteration: each
// step doubles the number of right bits, of which an odd number is its own
// inverse in the lowest three.
var murmurBack = func() uint64 {
	x := uint64(murmurM)
	for range 5 {
		x *= 2 - murmurM*x
	}
	return x
}()

// craftLeast is the shortest string that craft makes: a block to try with and
// the two blocks that solve.
const craftLeast = 24

// craftTries bounds the search for one string, which takes about a hundred
// tries where there are such strings.
const craftTries = 400

// craft returns a string of the given length, craftLeast at least, with the
// hashes asked for. Most pairs have none: ok is false where none is found soon. What the pair leaves open is random.
//
// Both hashes absorb the same blocks, from different states. The first blocks
// are chosen at random and take the states to (x, y); the tail and the end are
// undone from the hashes, which gives the states (u, v) before the last step's
// multiplication. Two blocks K₁, K₂ have to lead from the ones to the others:
//
//	(x ⊕ K₁)·M ⊕ K₂ = u   and   (y ⊕ K₁)·M ⊕ K₂ = v
//
// With w = x ⊕ K₁ and d = x ⊕ y that is w·M ⊕ (w ⊕ d)·M = u ⊕ v, one equation
// for w, which [solve] solves or finds that it has no solution; then other
// random blocks are tried. Because M mod 8 is 5, the lowest three bits of its
// left side do not depend on w, nor do those of d on the blocks before it: they
// are right at once or never.
func craft(length int, want hashPair, random *rand.Rand) (s string, ok bool) {
	buf := make([]byte, length)
	end := length - length%8
	for i := range buf {
		buf[i] = byte(random.Uint32())
	}
	u, v := undoEnd(want.a, buf[end:]), undoEnd(want.b, buf[end:])
	for range craftTries {
		binary.LittleEndian.PutUint64(buf[end-24:], random.Uint64())
		x, y := absorb(murmurSeed, buf[:end-16], length), absorb(want.a, buf[:end-16], length)
		if ((x^y)*murmurM^u^v)&7 != 0 {
			return "", false
		}
		if w, ok := solve(x^y, u^v); ok {
			binary.LittleEndian.PutUint64(buf[end-16:], undoMix(x^w))
			binary.LittleEndian.PutUint64(buf[end-8:], undoMix(w*murmurM^u))
			return string(buf), true
		}
	}
	return "", false
}

// absorb is the state of a hash after whole blocks of a string of that length.
func absorb(seed uint64, blocks []byte, length int) uint64 {
	h := seed ^ uint64(length)*murmurM
	for ; len(blocks) >= 8; blocks = blocks[8:] {
		h = (h ^ murmurMix(binary.LittleEndian.Uint64(blocks))) * murmurM
	}
	return h
}

// undoEnd goes back from a hash to the state before the last block's
// multiplication. x ⊕ x>>r is its own inverse where 2r ≥ 64.
func undoEnd(h uint64, rest []byte) uint64 {
	h ^= h >> murmurR
	h *= murmurBack
	h ^= h >> murmurR
	if len(rest) > 0 {
		h = h*murmurBack ^ tail(string(rest))
	}
	return h * murmurBack
}

func undoMix(k uint64) uint64 {
	k *= murmurBack
	k ^= k >> murmurR
	return k * murmurBack
}

// solve finds w with w·M ⊕ (w ⊕ d)·M = sum, if there is one. Bit i of the left
// side depends on the bits of w below i alone (bit i itself cancels out, M
// being odd). So the lowest bit t that is wrong rules out every w with the same
// t lowest bits; the walk goes on with the next t bits, in the order in which
// the highest changes first.
func solve(d, sum uint64) (w uint64, ok bool) {
	for {
		wrong := w*murmurM ^ (w^d)*murmurM ^ sum
		if wrong == 0 {
			return w, true
		}
		zeros := ^w & (1<<bits.TrailingZeros64(wrong) - 1)
		if zeros == 0 {
			return 0, false
		}
		highest := uint64(1) << (63 - bits.LeadingZeros64(zeros))
		w = w&(highest-1) | highest
	}
}
