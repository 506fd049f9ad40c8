package redisbloom

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/deduptest"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

// TestClockSkewShardCountOfTomorrow lets a server with another shard count and a fast clock write
// to tomorrow's filters.
func TestClockSkewShardCountOfTomorrow(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.Redis(t)
	cfg := deduptest.DefaultConfig()
	cfg.DailyCapacity = 20_000
	behind := openAt(t, client, prefix, cfg)
	cfg.Shards = 97
	ahead := openAt(t, client, prefix, cfg)

	midnight := feed.DayOf(noon).Start().AddDate(0, 0, 1)
	before, after := midnight.Add(-3*time.Second), midnight.Add(2*time.Second)
	groups := groupNames(0, 20)
	assert.NotContains(t, verdicts(t, behind, before, "u_1", groups...), dedup.SeenDaysAgo(0), "that tomorrow has no count yet is not remembered")
	record(t, ahead, after, given("u_1", groups...))
	for _, s := range []*Store{behind, ahead} {
		for range 2 { // the count is unknown the first time and known the second
			for _, v := range verdicts(t, s, before, "u_1", groups...) {
				require.Equal(t, dedup.SeenDaysAgo(0), v)
			}
		}
		seen, err := s.Recorded(t.Context(), "u_1", append(groups, "another"), before)
		require.NoError(t, err)
		assert.NotContains(t, seen[:20], false)
		assert.False(t, seen[20])
	}
	// When the day begins for the other server, it writes to the same filters as the first one.
	record(t, behind, after, given("u_1", "late"))
	assert.Equal(t, []dedup.Verdict{dedup.SeenDaysAgo(0)}, verdicts(t, ahead, after, "u_1", "late"))
}

// TestClockSkewOldestDay checks the oldest day, which has left the window of
// the server that wrote it, on a server with a slow clock.
func TestClockSkewOldestDay(t *testing.T) {
	t.Parallel()
	s, client := open(t, nil)
	record(t, s, noon, given("u_1", "a"))
	key := s.keys.Filter(feed.DayOf(noon), 0, 1)
	left := feed.DayOf(noon).Start().AddDate(0, 0, s.cfg.WindowDays)
	// As if that much time had passed.
	ttl := client.PTTL(t.Context(), key).Val()
	require.True(t, client.PExpire(t.Context(), key, ttl-left.Sub(noon)).Val())
	assert.Equal(t, []dedup.Verdict{dedup.SeenDaysAgo(6)}, verdicts(t, s, left.Add(-time.Second), "u_1", "a"))
	assert.Equal(t, []dedup.Verdict{dedup.Unseen}, verdicts(t, s, left, "u_1", "a"), "each server forgets it by its own clock")
}

// TestRoundTripsAtMidnight checks that tomorrow's filters are read in the same pipeline.
func TestRoundTripsAtMidnight(t *testing.T) {
	t.Parallel()
	s, client := open(t, nil)
	var h trips
	client.AddHook(&h)
	midnight := feed.DayOf(noon).Start().AddDate(0, 0, 1)
	verdicts(t, s, noon, "u_0", "a") // loads the script
	assert.EqualValues(t, 1, h.during(func() { verdicts(t, s, midnight.Add(-time.Second), "u_1", "a", "b") }))
}
