package mirror

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"
)

// copyOf copies a filter as the mirror does, without comparing.
func copyOf(t testing.TB, client redis.Cmdable, key string) *exactFilter {
	t.Helper()
	c := copier{client: client, key: key, pace: func(int) error { return nil }}
	look, err := c.look(t.Context())
	require.NoError(t, err)
	f, err := c.dump(t.Context(), look)
	require.NoError(t, err)
	return f
}

// TestAnswersAsRedisBloom compares every answer, over sizes, errors, ways to
// grow and numbers of layers, for members and others of every length.
func TestAnswersAsRedisBloom(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	client, prefix := testenv.Redis(t)
	random := rand.New(rand.NewPCG(5, 6))
	for _, test := range []struct {
		capacity, members int
		rate              float64
		growth            int
	}{
		{1000, 0, 0.00143, 2},
		{1, 1, 0.5, 2},
		{1, 40, 0.3, 1},
		{7, 3, 0.1, 2},
		{64, 64, 0.01, 2},
		{100, 350, 0.01, 2}, // three layers
		{100, 1400, 0.00143, 2},
		{100, 390, 0.2, 4},
		{1000, 999, 0.00143, 2},
		{1024, 3000, 1e-9, 1},
		{4096, 2000, 0.0000143, 3},
		{20_000, 20_000, 0.00143, 2},
		{20_000, 23_000, 0.00143, 2},
		{100_000, 400, 0.0143, 2},
	} {
		name := fmt.Sprintf("%d of %d at %v growing by %d", test.members, test.capacity, test.rate, test.growth)
		t.Run(name, func(t *testing.T) {
			key := prefix + name
			args := []any{"BF.RESERVE", key, test.rate, test.capacity, "EXPANSION", test.growth}
			require.NoError(t, client.Do(t.Context(), args...).Err())
			asked := texts(random, test.members)
			for from := 0; from < len(asked); from += 1000 {
				part := asked[from:min(from+1000, len(asked))]
				require.NoError(t, client.BFMAdd(t.Context(), key, anys(part)...).Err())
			}
			f := copyOf(t, client, key)
			asked = append(asked, texts(random, 3000)...)
			requireSame(t, client, key, f, asked)
		})
	}
}

// texts are strings of 1 to 400 bytes, each length as often.
func texts(random *rand.Rand, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = randomText(random, 1+i%400)
		if i%3 == 0 {
			list[i] = fmt.Sprintf("u_%d:doc_%d", random.IntN(1000), random.Uint32())
		}
	}
	return list
}

func anys(list []string) []any {
	all := make([]any, len(list))
	for i := range list {
		all[i] = list[i]
	}
	return all
}

// requireSame compares answers, asked one by one and together.
func requireSame(t *testing.T, client redis.Cmdable, key string, f *exactFilter, asked []string) {
	t.Helper()
	pairs, indices, together := make([]hashPair, len(asked)), make([]int32, len(asked)), make([]bool, len(asked))
	for i, s := range asked {
		pairs[i], indices[i] = hashMember(s), int32(i)
	}
	rest := f.sift(pairs, indices, make([]int32, len(asked)), func(i int32) { together[i] = true })
	for _, i := range rest {
		require.False(t, together[i])
	}
	for from := 0; from < len(asked); from += 1000 {
		part := asked[from:min(from+1000, len(asked))]
		want, err := client.BFMExists(t.Context(), key, anys(part)...).Result()
		require.NoError(t, err)
		for i, text := range part {
			require.Equal(t, want[i], f.holds(pairs[from+i]), "%q", text)
			require.Equal(t, want[i], together[from+i], "%q, asked with others", text)
		}
	}
}
