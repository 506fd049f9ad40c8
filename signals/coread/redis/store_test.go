package redis

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/signals/coread"
	"github.com/freshet/freshet/signals/coread/coreadtest"
)

const noon, day = coreadtest.Noon, int64(86_400)

// onEach runs a test on a single server and on a cluster.
func onEach(t *testing.T, test func(t *testing.T, client redis.UniversalClient, prefix string)) {
	t.Run("single", func(t *testing.T) {
		t.Parallel()
		client, prefix := testenv.Redis(t)
		test(t, client, prefix)
	})
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		client, prefix := testenv.RedisCluster(t)
		test(t, client, prefix)
	})
}

func TestStore(t *testing.T) {
	t.Parallel()
	t.Run("single", func(t *testing.T) {
		t.Parallel()
		coreadtest.Run(t, func(t *testing.T) coread.Store { return New(testenv.Redis(t)) })
	})
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		coreadtest.Run(t, func(t *testing.T) coread.Store { return New(testenv.RedisCluster(t)) })
	})
}

// TestBatchSentAgain: a batch that the client sends again, because the reply was lost, is added once,
// also if other servers write in between.
func TestBatchSentAgain(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, client redis.UniversalClient, prefix string) {
		s := New(client, prefix)
		c := &changes{now: noon, lists: map[string][]any{"a": {"b", 0.5, noon - day}}, reads: map[uint64]*reads{}}
		require.NoError(t, s.write(t.Context(), c))
		for i := range 5 {
			other := New(client, prefix)
			other.sender = fmt.Sprint("other", i)
			require.NoError(t, other.write(t.Context(), c))
		}
		s.batch--
		require.NoError(t, s.write(t.Context(), c))
		entries, err := s.Related(t.Context(), "a", noon)
		require.NoError(t, err)
		assert.Equal(t, []coread.Entry{{Item: "b", Sum: 3, People: 6, Dated: noon - day}}, entries)
	})
}

// TestRemove: what is no longer needed goes, and what is stays.
func TestRemove(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, client redis.UniversalClient, prefix string) {
		s := New(client, prefix)
		keys := func() []string {
			var mu sync.Mutex
			var all []string
			require.NoError(t, testenv.EachMaster(t.Context(), client, func(ctx context.Context, master *redis.Client) error {
				some, err := master.Keys(ctx, prefix+"*").Result()
				mu.Lock()
				defer mu.Unlock()
				all = append(all, some...)
				return err
			}))
			return all
		}
		s.least = 0
		var acts []coread.Act
		for i := range 20 { // of one young item, too many lists
			acts = append(acts, coread.Act{Agent: 1, Item: fmt.Sprint("old", i), At: noon - 8*day})
		}
		acts = append(acts, coreadtest.Act("v", "young", noon), coread.Act{Agent: 1, Item: "young", Dated: noon - day, At: noon})
		require.NoError(t, s.Add(t.Context(), acts))
		require.NoError(t, s.Remove(t.Context(), noon))
		n, err := client.ZCard(t.Context(), s.keys.CoReadLists()).Result()
		require.NoError(t, err)
		assert.EqualValues(t, coread.ListsPerItem, n, "one item was read lately")
		readers, err := client.HGet(t.Context(), s.keys.CoReadReaders(rediskeys.CoReadPart("young")), "young").Int()
		require.NoError(t, err)
		assert.Equal(t, 2, readers)
		require.NoError(t, s.Remove(t.Context(), noon+8*day))
		for _, key := range keys() {
			if strings.HasSuffix(key, ":batches") {
				continue
			}
			assert.NotContains(t, key, "coread:list:")
			assert.NotContains(t, key, "coread:items:")
			assert.NotContains(t, key, "coread:readers:")
		}
		assert.NotEmpty(t, keys(), "who reads what is kept for a year")
	})
}

// TestExpiry: every key of co-readers expires by itself, except those that Remove empties.
func TestExpiry(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, client redis.UniversalClient, prefix string) {
		s := New(client, prefix)
		require.NoError(t, s.Add(t.Context(), []coread.Act{coreadtest.Act("u", "a", noon), coreadtest.Act("u", "b", noon)}))
		for key, days := range map[string]float64{
			s.keys.CoReadActed("a"): 6, s.keys.CoReadList("a"): 6, s.keys.CoReadReads(coread.Agent("u")): 365,
		} {
			left, err := client.TTL(t.Context(), key).Result()
			require.NoError(t, err)
			assert.InDelta(t, days, left.Hours()/24, 0.01, key)
		}
	})
}

func BenchmarkNear(b *testing.B) {
	client, prefix := testenv.Redis(b)
	s := New(client, prefix)
	var candidates []string
	for i := range 500 {
		candidates = append(candidates, fmt.Sprint("i", i))
	}
	for i := range 50 {
		var acts []coread.Act
		for k := range 400 {
			acts = append(acts, coread.Act{Agent: uint64(k), Item: candidates[(i*i+k*37)%500], Dated: noon - day, At: noon})
		}
		require.NoError(b, s.Add(b.Context(), acts))
	}
	reads, err := s.Reads(b.Context(), 7, nil)
	require.NoError(b, err)
	var near []coread.Nearness
	for b.Loop() {
		near, err = s.Near(b.Context(), reads, candidates, noon, near[:0])
		require.NoError(b, err)
		require.Len(b, near, 500)
	}
}

// BenchmarkAdd measures an act of a reader with 30 reads.
func BenchmarkAdd(b *testing.B) {
	client, prefix := testenv.Redis(b)
	s := New(client, prefix)
	batch := make([]coread.Act, 0, 100)
	for i := 0; b.Loop(); i++ {
		batch = append(batch, coread.Act{Agent: uint64(i % 100), Item: fmt.Sprint("i", i/100+i%7), Dated: noon - day, At: noon})
		if len(batch) == cap(batch) {
			require.NoError(b, s.Add(b.Context(), batch))
			batch = batch[:0]
		}
	}
}
