package mirror

// RedisBloom hashes a member twice with MurmurHash64A (Austin Appleby,
// MurmurHash2, public domain): once with a fixed seed, then with the first
// hash as the seed. Both halves below follow from the published definition.
const (
	murmurM    = 0xc6a4a7935bd1e995
	murmurR    = 47
	murmurSeed = 0xc6a4a7935bd1e995 // RedisBloom's first seed
)

// hashPair places a member in a filter: probe i looks at bit
// (a + i·b mod 2⁶⁴) mod bits.
type hashPair struct{ a, b uint64 }

func hashMember(member string) hashPair {
	a := murmur64A(member, murmurSeed)
	return hashPair{a: a, b: murmur64A(member, a)}
}

// murmur64A is MurmurHash64A: blocks of eight bytes, little endian, then up to
// seven bytes of a tail.
func murmur64A(s string, seed uint64) uint64 {
	h := seed ^ uint64(len(s))*murmurM
	for ; len(s) >= 8; s = s[8:] {
		h = (h ^ murmurMix(block(s))) * murmurM
	}
	if len(s) > 0 {
		h = (h ^ tail(s)) * murmurM
	}
	return murmurEnd(h)
}

// block reads eight bytes.
func block(s string) uint64 {
	_ = s[7] // one bounds check
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// tail reads fewer than eight bytes.
func tail(s string) (t uint64) {
	for i := len(s) - 1; i >= 0; i-- {
		t = t<<8 | uint64(s[i])
	}
	return t
}

func murmurMix(k uint64) uint64 {
	k *= murmurM
	k ^= k >> murmurR
	return k * murmurM
}

func murmurEnd(h uint64) uint64 {
	h ^= h >> murmurR
	h *= murmurM
	return h ^ h>>murmurR
}
