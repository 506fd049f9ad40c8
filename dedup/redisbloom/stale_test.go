package redisbloom

import (
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/cache/redislist"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/deduptest"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

// TestStaleByOneClock lets servers whose clocks differ hand out a page, and check it: it is pending for
// all of them, and stale for none, as the call that has it may still give it back. What has been pending
// for more than a minute by Redis's clock is stale for all of them.
func TestStaleByOneClock(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.Redis(t)
	store := openAt(t, client, prefix, deduptest.DefaultConfig())
	sessions := redislist.New(client, redislist.Config{KeyPrefix: prefix, Grace: time.Minute})
	differences := []time.Duration{0, time.Minute, -time.Minute, 5 * time.Minute, -5 * time.Minute}
	check := func(t *testing.T, agent string, groups ...string) (all []dedup.Checked) {
		for _, apart := range differences {
			got, err := store.Check(t.Context(), agent, groups, time.Now().Add(apart))
			require.NoError(t, err)
			all = append(all, got)
		}
		return all
	}
	for _, many := range []int{1, mostRead + 1} {
		for i, apart := range differences {
			agent := "u_" + strconv.Itoa(many) + strconv.Itoa(i)
			refs := make([]feed.Ref, many+1)
			for n := range refs {
				refs[n] = feed.Ref{ID: "i" + strconv.Itoa(n), Group: "i" + strconv.Itoa(n)}
			}
			now := time.Now().Add(apart)
			_, err := sessions.Replace(t.Context(), cache.Replace{Agent: agent, Ranked: refs, Limit: many, Now: now})
			require.NoError(t, err)
			page, err := sessions.Pop(t.Context(), cache.Pop{Agent: agent, Limit: 1, Now: now})
			require.NoError(t, err)
			require.Len(t, page.Refs, 1)
			last := "i" + strconv.Itoa(many)
			for _, got := range check(t, agent, "i0", last) {
				assert.Equal(t, []dedup.Verdict{dedup.Pending, dedup.Pending}, got.Verdicts)
				assert.Empty(t, got.Stale, "clock of the server that handed it out: %v", apart)
			}
			long := float64(time.Now().Add(-dedup.StaleAfter - time.Second).UnixMilli())
			require.NoError(t, client.ZAdd(t.Context(), store.keys.Pending(agent), redis.Z{Score: long, Member: "i0"}).Err())
			for _, got := range check(t, agent, "i0") {
				assert.Equal(t, []string{"i0"}, got.Stale)
			}
		}
	}
}
