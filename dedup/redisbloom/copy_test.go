package redisbloom

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/deduptest"
	"github.com/freshet/freshet/internal/testenv"
)

// copied has all that a copier has read.
type copied struct {
	filters []Filter
	chunks  map[Filter][]Chunk
	pending []Pending
	begun   int
}

func copyAll(t *testing.T, c *Copier, client redis.UniversalClient, cfg dedup.Config) (all copied) {
	t.Helper()
	var mu sync.Mutex // masters of a cluster are asked concurrently
	require.NoError(t, testenv.EachMaster(t.Context(), client, func(ctx context.Context, master *redis.Client) error {
		return c.EachPending(ctx, master, func(p Pending) error {
			mu.Lock()
			defer mu.Unlock()
			all.pending = append(all.pending, p)
			return nil
		})
	}))
	var err error
	all.filters, err = c.Filters(t.Context(), cfg.WindowDays)
	require.NoError(t, err)
	all.chunks = map[Filter][]Chunk{}
	for _, f := range all.filters {
		begin := func() error { all.begun++; all.chunks[f] = nil; return nil }
		require.NoError(t, c.CopyFilter(t.Context(), f, begin, func(part Chunk) error {
			all.chunks[f] = append(all.chunks[f], part)
			return nil
		}))
	}
	return all
}

func loadAll(t *testing.T, c *Copier, all copied) {
	t.Helper()
	for _, p := range all.pending {
		require.NoError(t, c.LoadPending(t.Context(), p))
	}
	for _, f := range all.filters {
		left := all.chunks[f]
		require.NoError(t, c.LoadFilter(t.Context(), f, func() (Chunk, bool, error) {
			if len(left) == 0 {
				return Chunk{}, false, nil
			}
			next := left[0]
			left = left[1:]
			return next, true, nil
		}))
	}
}

// TestCopy copies impressions between a server and a cluster, in each direction: what was recorded is seen,
// what was pending is pending, other groups are not, and nothing lives longer than before.
func TestCopy(t *testing.T) {
	t.Parallel()
	one := func(t *testing.T) (redis.UniversalClient, string) { return testenv.Redis(t) }
	cluster := func(t *testing.T) (redis.UniversalClient, string) {
		c, prefix := testenv.RedisCluster(t)
		return c, prefix
	}
	for name, ends := range map[string][2]func(*testing.T) (redis.UniversalClient, string){
		"server": {one, one}, "cluster": {cluster, cluster}, "from server to cluster": {one, cluster}, "from cluster to server": {cluster, one},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := deduptest.DefaultConfig()
			cfg.Shards = 4
			now := time.Now()
			client, prefix := ends[0](t)
			s := openAt(t, client, prefix, cfg)
			for i := range 20 {
				agent := fmt.Sprintf("u_%d", i)
				record(t, s, now, given(agent, groupNames(0, 50)...))
				claim(t, s, now, agent, "pending_1", "pending_2")
			}
			all := copyAll(t, NewCopier(client, prefix, func() time.Time { return now }), client, cfg)
			assert.Len(t, all.filters, 4)
			assert.Len(t, all.pending, 20)

			other, at := ends[1](t)
			loadAll(t, NewCopier(other, at, func() time.Time { return now }), all)
			loaded := openAt(t, other, at, cfg)
			for i := range 20 {
				agent := fmt.Sprintf("u_%d", i)
				want := verdicts(t, s, now, agent, append(groupNames(0, 60), "pending_1", "pending_2")...)
				assert.Equal(t, want, verdicts(t, loaded, now, agent, append(groupNames(0, 60), "pending_1", "pending_2")...), agent)
			}
			again := copyAll(t, NewCopier(other, at, func() time.Time { return now }), other, cfg)
			assert.Len(t, again.filters, 4)
			for i, f := range again.filters {
				assert.WithinDuration(t, all.filters[i].Ends, f.Ends, time.Minute)
				assert.Equal(t, all.chunks[all.filters[i]], again.chunks[f])
			}
			record(t, loaded, now, given("u_0", "later")) // the filters can be written to
		})
	}
}

// TestCopyOfExpired restores nothing that would have expired since.
func TestCopyOfExpired(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.Redis(t)
	cfg, now := deduptest.DefaultConfig(), time.Now()
	s := openAt(t, client, prefix, cfg)
	record(t, s, now, given("u_1", "a"))
	claim(t, s, now, "u_1", "b")
	all := copyAll(t, NewCopier(client, prefix, time.Now), client, cfg)
	other, at := testenv.Redis(t)
	loadAll(t, NewCopier(other, at, func() time.Time { return now.Add(30 * 24 * time.Hour) }), all)
	keys, err := other.Keys(t.Context(), at+"*").Result()
	require.NoError(t, err)
	assert.Empty(t, keys)
}

// TestCopyOfGrowingFilter adds to a filter while it is copied, until it has another layer: it is copied again,
// and the copy can be loaded.
func TestCopyOfGrowingFilter(t *testing.T) {
	t.Parallel()
	cfg, now := deduptest.DefaultConfig(), time.Now()
	cfg.DailyCapacity = 1000
	client, prefix := testenv.Redis(t)
	s := openAt(t, client, prefix, cfg)
	record(t, s, now, given("u_1", groupNames(0, 900)...))
	c := NewCopier(client, prefix, time.Now)
	filters, err := c.Filters(t.Context(), cfg.WindowDays)
	require.NoError(t, err)
	require.Len(t, filters, 1)
	var all copied
	grown := false
	begin := func() error { all.begun++; all.chunks = map[Filter][]Chunk{}; return nil }
	require.NoError(t, c.CopyFilter(t.Context(), filters[0], begin, func(part Chunk) error {
		if !grown {
			grown = true
			record(t, s, now, given("u_2", groupNames(0, 3000)...))
		}
		all.chunks[filters[0]] = append(all.chunks[filters[0]], part)
		return nil
	}))
	assert.Equal(t, 2, all.begun)
	all.filters = filters
	other, at := testenv.Redis(t)
	loadAll(t, NewCopier(other, at, time.Now), all)
	loaded := openAt(t, other, at, cfg)
	assert.Equal(t, verdicts(t, s, now, "u_2", groupNames(0, 3000)...), verdicts(t, loaded, now, "u_2", groupNames(0, 3000)...))
}
