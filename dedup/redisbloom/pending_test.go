package redisbloom

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/deduptest"
	"github.com/freshet/freshet/internal/testenv"
)

// TestPendingSetSizes checks a group of each kind beside pending sets of up to twice the size that
// is read whole.
func TestPendingSetSizes(t *testing.T) {
	t.Parallel()
	for _, served := range []bool{true, false} {
		s, client := open(t, func(cfg *dedup.Config) { cfg.Served, cfg.PendingTTL = served, time.Hour })
		var h trips
		client.AddHook(&h)
		for _, size := range []int{0, 1, 2, 480, mostRead - 3, mostRead, 2 * mostRead} {
			agent := fmt.Sprintf("u_%t_%d", served, size)
			claim(t, s, noon.Add(-2*time.Hour), agent, "expired")
			claim(t, s, noon.Add(-dedup.StaleAfter-time.Second), agent, "stale")
			claim(t, s, noon, agent, append(groupNames(0, size), "~f~doc_1")...)
			record(t, s, noon, given(agent, "recorded"))
			verdicts(t, s, noon, "u", "a") // the scripts and shard counts are known

			groups := append([]string{"doc_", "expired", "stale", "recorded", "~f~doc_1", "f"}, groupNames(0, size+2)...)
			var got dedup.Checked
			requests := h.during(func() {
				var err error
				got, err = s.Check(t.Context(), agent, groups, noon)
				require.NoError(t, err)
			})
			want := []dedup.Verdict{dedup.Unseen, dedup.Unseen, dedup.Pending, dedup.SeenDaysAgo(0), dedup.Pending, dedup.Unseen}
			for range size {
				want = append(want, dedup.Pending)
			}
			assert.Equal(t, append(want, dedup.Unseen, dedup.Unseen), got.Verdicts, agent)
			assert.NotZero(t, got.At)
			if served {
				assert.Equal(t, []string{"stale"}, got.Stale, agent)
			} else {
				assert.Empty(t, got.Stale, agent)
			}
			if size+3 <= mostRead {
				assert.EqualValues(t, 1, requests, agent)
			} else {
				assert.EqualValues(t, 2, requests, agent)
			}
		}
	}
}

// TestPendingSetIsRead: no group is looked up in a set of the usual size.
func TestPendingSetIsRead(t *testing.T) {
	t.Parallel()
	own := testenv.StartRedis(t)
	client := redis.NewClient(&redis.Options{Addr: own.Addr})
	t.Cleanup(func() { _ = client.Close() })
	s := openAt(t, client, "", deduptest.DefaultConfig())
	for _, size := range []int{0, 20, 500} {
		agent := "u_" + strconv.Itoa(size)
		claim(t, s, noon, agent, groupNames(1000, 1000+size)...)
		verdicts(t, s, noon, agent, groupNames(0, 500)...)
	}
	calls := testenv.CommandStats(t, client)["zmscore"].Calls
	assert.Zero(t, calls)
}

// BenchmarkPending measures the check of 500 groups of readers with pending groups, as listpacks and
// as skiplists: the time of Redis for the script, and for the whole check.
func BenchmarkPending(b *testing.B) {
	own := testenv.StartRedis(b)
	client := redis.NewClient(&redis.Options{Addr: own.Addr})
	b.Cleanup(func() { _ = client.Close() })
	s := openAt(b, client, "", deduptest.DefaultConfig())
	groups := groupNames(100_000, 100_500)
	for _, entries := range []string{"128", "512"} {
		require.NoError(b, client.ConfigSet(b.Context(), "zset-max-listpack-entries", entries).Err())
		for _, size := range []int{0, 20, 120, 480, 500} {
			agent := fmt.Sprintf("u_%s_%d", entries, size)
			for i := range size {
				claim(b, s, noon.Add(time.Duration(i)*time.Millisecond), agent, groupNames(i, i+1)...)
			}
			b.Run(fmt.Sprintf("zset-max-listpack-entries=%s/pending=%d", entries, size), func(b *testing.B) {
				verdicts(b, s, noon, agent, groups...)
				before := testenv.CommandStats(b, client)["evalsha"]
				b.ReportAllocs()
				for b.Loop() {
					verdicts(b, s, noon, agent, groups...)
				}
				after := testenv.CommandStats(b, client)["evalsha"]
				b.ReportMetric(float64(after.Microseconds-before.Microseconds)/float64(after.Calls-before.Calls), "redis-script-µs/op")
			})
		}
	}
}
