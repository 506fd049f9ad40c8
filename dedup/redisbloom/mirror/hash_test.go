package mirror

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCraft(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	made, asked := 0, 0
	for length := craftLeast; length <= 90; length++ {
		for _, want := range []hashPair{{1, 0}, {0, 1}, {random.Uint64(), 0}, {random.Uint64(), random.Uint64()}, {random.Uint64(), 1 << 40}} {
			asked++
			s, ok := craft(length, want, random)
			if !ok {
				continue
			}
			made++
			require.Len(t, s, length)
			require.Equal(t, want, hashMember(s))
		}
	}
	assert.Greater(t, made, asked/32, "of %d", asked)
}

// Hashes that some string has are not refused, save a few.
func TestCraftFindsWhatThereIs(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	asked, made := 0, 0
	for i := range 400 {
		length := craftLeast + i%50
		want := hashMember(randomText(random, length))
		asked++
		if s, ok := craft(length, want, random); ok {
			made++
			require.Equal(t, want, hashMember(s))
		}
	}
	assert.Greater(t, made, asked/2)
}

func randomText(random *rand.Rand, length int) string {
	text := make([]byte, length)
	for i := range text {
		text[i] = byte(random.Uint32())
	}
	return string(text)
}

func BenchmarkCraft(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	for b.Loop() {
		for ok := false; !ok; {
			_, ok = craft(24, hashPair{a: random.Uint64()}, random)
		}
	}
}

func BenchmarkHashMember(b *testing.B) {
	for b.Loop() {
		hashMember("u_10086:doc_9527")
	}
}
