package mirror

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
)

// errMismatch says that a copy answers otherwise than the filter in Redis.
var errMismatch = errors.New("the copy of a filter and the filter in Redis answer differently")

const (
	// verifyAsked is how many strings a day's copies are compared by, all
	// shards together. One of many shards has a sixteenth of them at least.
	verifyAsked, verifyShards = 4096, 16
	verifyChunk               = 256 // strings of one BF.MEXISTS
	// searchMost bounds the bit patterns looked at to find members of a filter
	// or the places of one, sparseBits the bits that are paired for it.
	searchMost, sparseBits = 1 << 18, 4096
)

// verify compares a copy with its filter on n strings and returns how many of
// them are in it. The error wraps errMismatch where one is answered otherwise.
func (c copier) verify(ctx context.Context, f *exactFilter, n int, random *rand.Rand) (in, out int, err error) {
	if problem := f.implausible(); problem != "" {
		return 0, 0, fmt.Errorf("%w: %s", errMismatch, problem)
	}
	asked := f.sample(n, random)
	for len(asked) > 0 {
		part := asked[:min(verifyChunk, len(asked))]
		asked = asked[len(part):]
		args := make([]any, len(part))
		for i := range part {
			args[i] = part[i]
		}
		got, err := c.client.BFMExists(ctx, c.key, args...).Result()
		if err == nil && len(got) != len(part) {
			err = fmt.Errorf("%d values for %d members from BF.MEXISTS", len(got), len(part))
		}
		if err != nil {
			return in, out, err
		}
		for i, text := range part {
			held := f.holds(hashMember(text))
			if held != got[i] {
				return in, out, fmt.Errorf("%w: %q is in the one and not in the other (in Redis: %t)", errMismatch, text, got[i])
			}
			if held {
				in++
			} else {
				out++
			}
		}
	}
	return in, out, nil
}

// implausible says of which layer the number of set bits does not go with its
// number of members: n of them, with k hashes, set m(1 − e^(−kn/m)) of m bits.
// Where members are few, a hash that meets itself counts; then it only matters
// that there are bits.
func (f *exactFilter) implausible() string {
	for i, l := range f.layers {
		n, m := float64(l.members), float64(l.Cap())
		hashed := n * float64(l.K())
		want, got := m*-math.Expm1(-hashed/m), float64(l.BitSet().Count())
		if got > hashed || (n > 0 && got == 0) || (want > 1000 && math.Abs(got-want) > 0.1*want) {
			return fmt.Sprintf("%.0f of %.0f bits are set for %.0f members in layer %d, not about %.0f", got, m, n, i, want)
		}
	}
	return ""
}

// sampler makes strings to compare a copy by. Of a filter with few members no
// string made at random is in it, and few strings reveal a copy that is wrong about
// a part of its bits. So most strings are made for chosen bits, whether
// set or not, which finds a share e of wrong bits with the probability
// 1 − (1 − e)ⁿ.
type sampler struct {
	random *rand.Rand
	texts  []string
}

// sample returns about n strings, members and others, that between them look
// at every layer.
func (f *exactFilter) sample(n int, random *rand.Rand) []string {
	s := sampler{random: random}
	for _, l := range f.layers {
		share := max(n/len(f.layers), 32)
		s.singles(l, share/4)
		s.pairs(l, share/16)
		s.members(l, share/32)
		s.few(l, share/32)
	}
	for i := range n / 2 {
		if i%2 == 0 {
			s.texts = append(s.texts, fmt.Sprintf("u_%d:doc_%d", random.IntN(1e6), random.Uint32()))
		} else {
			s.texts = append(s.texts, s.text(1+random.IntN(200)))
		}
	}
	return s.texts
}

func (s *sampler) text(length int) string {
	raw := make([]byte, length)
	for i := range raw {
		raw[i] = byte(s.random.Uint32())
	}
	return string(raw)
}

// add makes a string whose probes in a layer begin at a bit and go on by step,
// without passing 2⁶⁴ on the way. Now and then there is none.
func (s *sampler) add(l exactLayer, bit, step uint64) bool {
	m := uint64(l.Cap())
	for range 128 {
		pair := hashPair{a: bit + m*s.random.Uint64N(1<<62/m), b: step}
		if s.exactly(pair) {
			return true
		}
	}
	return false
}

func (s *sampler) exactly(pair hashPair) bool {
	text, ok := craft(craftLeast+s.random.IntN(40), pair, s.random)
	if ok {
		s.texts = append(s.texts, text)
	}
	return ok
}

// singles asks for single bits, two set ones for each that is not.
func (s *sampler) singles(l exactLayer, n int) {
	m := uint64(l.Cap())
	for i := range n {
		bit := s.random.Uint64N(m)
		if i%3 != 0 {
			set, ok := l.BitSet().NextSet(uint(bit))
			if !ok {
				continue
			}
			bit = uint64(set)
		}
		s.add(l, bit, 0)
	}
}

// pairs asks for two bits half the layer apart: in half of the strings both
// are set, as long as such are found, in the others one.
func (s *sampler) pairs(l exactLayer, n int) {
	m := uint64(l.Cap())
	for i, tried := 0, 0; i < n && tried < searchMost; tried++ {
		first, ok := l.BitSet().NextSet(uint(s.random.Uint64N(m)))
		if !ok {
			continue
		}
		second := (uint64(first) + m/2) % m
		if both := l.BitSet().Test(uint(second)); both == (i%2 == 0) || tried > searchMost/2 {
			s.add(l, uint64(first), m/2)
			i++
		}
	}
}

// members asks for what a layer that is not nearly empty holds by chance:
// strings of all its probes.
func (s *sampler) members(l exactLayer, n int) {
	for tried := 0; n > 0 && tried < searchMost; tried++ {
		pair := hashPair{a: s.random.Uint64(), b: s.random.Uint64()}
		if l.holds(pair) && s.exactly(pair) {
			n--
		}
	}
}

// few asks for the real members of a nearly empty layer: any two of its bits
// may be the first probes of one.
func (s *sampler) few(l exactLayer, n int) {
	var set []uint64
	for bit, ok := l.BitSet().NextSet(0); ok && len(set) <= sparseBits; bit, ok = l.BitSet().NextSet(bit + 1) {
		set = append(set, uint64(bit))
	}
	if len(set) > sparseBits {
		return
	}
	m := uint64(l.Cap())
	for _, first := range set {
		for _, second := range set {
			step := (second + m - first) % m
			if step == 0 || !l.holds(hashPair{a: first, b: step}) {
				continue
			}
			if n == 0 {
				return
			}
			if s.add(l, first, step) {
				n--
			}
		}
	}
}
