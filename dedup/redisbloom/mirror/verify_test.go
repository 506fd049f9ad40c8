package mirror

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
)

// TestVerifyAtEveryFill copies filters that are nearly empty, half full, full
// and of several layers. The copy must pass with members and others in
// thousands; one that is mistaken about a hundredth of its bits, or that lacks
// them, must not.
func TestVerifyAtEveryFill(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	client, prefix := testenv.Redis(t)
	random := rand.New(rand.NewPCG(9, 10))
	for _, members := range []int{1, 10, 100, 1000, 5000, 10_000, 25_000} {
		if testenv.Slow() && (members == 5000 || members == 10_000) {
			continue
		}
		t.Run(fmt.Sprint(members), func(t *testing.T) {
			key := fmt.Sprintf("%s%d", prefix, members)
			require.NoError(t, client.BFReserveExpansion(t.Context(), key, 0.00143, 10_000, 2).Err())
			list := texts(random, members)
			for from := 0; from < members; from += 1000 {
				require.NoError(t, client.BFMAdd(t.Context(), key, anys(list[from:min(from+1000, members)])...).Err())
			}
			c := copier{client: client, key: key, pace: func(int) error { return nil }}
			in, out, err := c.verify(t.Context(), copyOf(t, client, key), verifyAsked, random)
			require.NoError(t, err)
			assert.Greater(t, in, 600, "members")
			assert.Greater(t, out, 1000, "others")

			for _, wrong := range []struct { // in this order: they share one random source
				name  string
				spoil func(words []uint64)
			}{
				{"a hundredth flipped", func(words []uint64) {
					for range 64 * len(words) / 100 {
						words[random.IntN(len(words))] ^= 1 << random.IntN(64)
					}
				}},
				{"empty", func(words []uint64) { clear(words) }},
				{"shifted", func(words []uint64) { copy(words[1:], words) }},
			} {
				f := copyOf(t, client, key)
				for _, l := range f.layers {
					wrong.spoil(l.words)
				}
				_, _, err := c.verify(t.Context(), f, 1024, random)
				require.ErrorIs(t, err, errMismatch, wrong.name)
			}
		})
	}
}
