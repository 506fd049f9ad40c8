package redisbloom

import (
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/deduptest"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

// requireTTL checks a key's TTL, allowing for the time the test itself takes. want is the time
// until the day leaves the window; the key lives clockSkew longer, for servers whose clock is
// behind.
func requireTTL(t *testing.T, client redis.UniversalClient, key string, want time.Duration) {
	t.Helper()
	want += clockSkew
	ttl, err := client.TTL(t.Context(), key).Result()
	require.NoError(t, err)
	require.LessOrEqual(t, ttl, want, key)
	require.Greater(t, ttl, want-2*time.Minute, key)
}

func TestFilterTTL(t *testing.T) {
	t.Parallel()
	s, client := open(t, nil)
	for _, test := range []struct {
		now  time.Time
		want time.Duration
	}{
		{noon, 6*24*time.Hour + 12*time.Hour},
		{noon.Add(9 * time.Hour), 6*24*time.Hour + 3*time.Hour},
		{feed.DayOf(noon).Start().AddDate(0, 0, 1), 7 * 24 * time.Hour},
	} {
		record(t, s, test.now, given("u_1", "a"))
		day := feed.DayOf(test.now)
		requireTTL(t, client, s.keys.Filter(day, 0, 1), test.want)
	}
	requireTTL(t, client, s.keys.Shards(feed.DayOf(noon)), 6*24*time.Hour+12*time.Hour)
}

func TestFilterReserved(t *testing.T) {
	t.Parallel()
	s, client := open(t, nil)
	record(t, s, noon, given("u_1", groupNames(0, 2500)...))
	requireReserved(t, s, client)
	info, err := client.BFInfo(t.Context(), s.keys.Filter(feed.DayOf(noon), 0, 1)).Result()
	require.NoError(t, err)
	assert.InDelta(t, 2500, info.ItemsInserted, 10, "members that collide are not counted")
}

func requireReserved(t *testing.T, s *Store, client redis.UniversalClient) {
	t.Helper()
	key := s.keys.Filter(feed.DayOf(noon), 0, 1)
	info, err := client.BFInfo(t.Context(), key).Result()
	require.NoError(t, err)
	assert.EqualValues(t, s.cfg.DailyCapacity, info.Capacity)
	assert.EqualValues(t, 2, info.ExpansionRate)
	assert.EqualValues(t, 1, info.Filters)
	requireTTL(t, client, key, 6*24*time.Hour+12*time.Hour)
}

func TestFilterDeletedUnderLoad(t *testing.T) {
	t.Parallel()
	s, client := open(t, nil)
	keys := []string{s.keys.Filter(feed.DayOf(noon), 0, 1), s.keys.Shards(feed.DayOf(noon))}
	done := make(chan struct{})
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 30 {
				unconfirmed, err := s.Record(t.Context(), given(fmt.Sprintf("u_%d", w), groupNames(i*20, i*20+20)...), noon)
				if err != nil || len(unconfirmed) > 0 {
					t.Errorf("writer %d: %v, %d unconfirmed", w, err, len(unconfirmed))
				}
			}
		})
	}
	var deleter sync.WaitGroup
	deleter.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				if err := client.Del(t.Context(), keys...).Err(); err != nil {
					t.Errorf("DEL: %v", err)
					return
				}
			}
		}
	})
	wg.Wait()
	close(done)
	deleter.Wait()

	require.NoError(t, client.Del(t.Context(), keys...).Err())
	record(t, s, noon, given("u_9", "a"))
	requireReserved(t, s, client)
	shards, err := client.Get(t.Context(), keys[1]).Int()
	require.NoError(t, err)
	assert.Equal(t, 1, shards, "the shard count comes back too")
}

func TestRecordReportsUnconfirmed(t *testing.T) {
	t.Parallel()
	s, client := open(t, func(cfg *dedup.Config) { cfg.Shards = 4 })
	var batch []dedup.Impression
	for i := range 40 {
		batch = append(batch, given(fmt.Sprintf("u_%d", i), "a", "b")...)
	}
	day := feed.DayOf(noon)
	require.NoError(t, client.Set(t.Context(), s.keys.Filter(day, 2, 4), "no filter", 0).Err())
	unconfirmed, err := s.Record(t.Context(), batch, noon)
	require.ErrorContains(t, err, "WRONGTYPE")
	assert.NotErrorIs(t, err, dedup.ErrUnavailable)

	var want []dedup.Impression
	for _, imp := range batch {
		if ShardOf(imp.Agent, 4) == 2 {
			want = append(want, imp)
		}
	}
	require.NotEmpty(t, want)
	assert.Equal(t, want, unconfirmed)

	require.NoError(t, client.Del(t.Context(), s.keys.Filter(day, 2, 4)).Err())
	record(t, s, noon, unconfirmed)
	for i := range 40 {
		assert.NotContains(t, verdicts(t, s, noon, fmt.Sprintf("u_%d", i), "a", "b"), dedup.Unseen)
	}
}

// filterMetrics returns the published metrics of the filter of the given number of days ago, and
// the false-positive rate of the whole window.
func filterMetrics(t *testing.T, ago int) (fill, falsePositives, bytes float64) {
	t.Helper()
	families, err := prometheus.DefaultGatherer.Gather()
	require.NoError(t, err)
	values := map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if len(m.GetLabel()) == 0 {
				values[family.GetName()] = m.GetGauge().GetValue()
			}
			for _, l := range m.GetLabel() {
				if l.GetName() == "days_ago" && l.GetValue() == strconv.Itoa(ago) {
					values[family.GetName()] = m.GetGauge().GetValue()
				}
			}
		}
	}
	return values["freshet_dedup_filter_fill_ratio"], values["freshet_dedup_window_false_positive_share_ratio"], values["freshet_dedup_filter_bytes"]
}

func TestFillMetrics(t *testing.T) {
	client, prefix := testenv.Redis(t)
	cfg := deduptest.DefaultConfig()
	cfg.DailyCapacity = 1000
	s := openAt(t, client, prefix, cfg)
	now := noon
	record(t, s, now, given("u_1", groupNames(0, 500)...))
	fill, half, bytes := filterMetrics(t, 0)
	assert.InDelta(t, 0.5, fill, 0.01)
	assert.InEpsilon(t, s.cfg.RedisFilter(1).Bytes(), bytes, 0.2, "as the sizing says, and RedisBloom's own header")

	record(t, s, now.Add(time.Second), given("u_1", groupNames(500, 700)...))
	fill, _, _ = filterMetrics(t, 0)
	assert.InDelta(t, 0.5, fill, 0.01, "not asked again within ten seconds")

	record(t, s, now.Add(infoEvery), given("u_1", groupNames(700, 1000)...))
	fill, full, _ := filterMetrics(t, 0)
	assert.InDelta(t, 1, fill, 0.02)
	assert.Less(t, half, full)
	assert.InEpsilon(t, s.rate/2, full*s.cfg.FalsePositiveRate, 0.1, "one full layer has half the rate")

	record(t, s, now.Add(2*infoEvery), given("u_1", groupNames(1000, 1200)...))
	fill, grown, more := filterMetrics(t, 0)
	assert.InDelta(t, 1.2, fill, 0.02, "relative to what it was sized for, whatever layers it has got")
	assert.Less(t, full, grown)
	assert.Less(t, bytes, more)

	record(t, s, now.AddDate(0, 0, 2), given("u_1", "a"))
	fill, _, _ = filterMetrics(t, 2)
	assert.InDelta(t, 1.2, fill, 0.02, "two days later")
	fill, _, bytes = filterMetrics(t, 0)
	assert.InDelta(t, 0.001, fill, 0.0001)
	assert.Positive(t, bytes)
	_, _, bytes = filterMetrics(t, 1)
	assert.Zero(t, bytes, "nothing was shown on that day")

	// A server that has just started also learns the state of past days.
	other := openAt(t, client, prefix, cfg)
	dedup.PublishFilters(make([]dedup.FilterState, 7), cfg.FalsePositiveRate)
	verdicts(t, other, now.AddDate(0, 0, 2), "u_1", "a") // a check learns the days' shard counts
	record(t, other, now.AddDate(0, 0, 2), given("u_1", "b"))
	fill, _, _ = filterMetrics(t, 2)
	assert.InDelta(t, 1.2, fill, 0.02)

	record(t, other, now.AddDate(0, 0, 7), given("u_1", "a"))
	for ago := 1; ago < 7; ago++ {
		fill, _, _ = filterMetrics(t, ago)
		assert.Less(t, fill, 0.1, "the day has left the window")
	}
}

func TestFillMetricsFullestShard(t *testing.T) {
	s, _ := open(t, func(cfg *dedup.Config) { cfg.DailyCapacity, cfg.Shards = 4000, 4 })
	record(t, s, noon, given("u_1", groupNames(0, 500)...))
	fill, _, one := filterMetrics(t, 0)
	assert.InDelta(t, 0.5, fill, 0.01)
	var all []dedup.Impression
	for i := range 100 {
		all = append(all, given(fmt.Sprintf("u_%d", i), "a")...)
	}
	record(t, s, noon.Add(infoEvery), all)
	fill, _, four := filterMetrics(t, 0)
	assert.InDelta(t, 0.53, fill, 0.04)
	assert.InEpsilon(t, 4*one, four, 0.01, "their memory adds up")
}

func TestCapacityWarningOncePerDay(t *testing.T) {
	t.Parallel()
	var f filterStates
	day := feed.DayOf(noon)
	assert.False(t, f.outgrown(day, 0.9))
	assert.True(t, f.outgrown(day, 1.1))
	assert.False(t, f.outgrown(day, 1.2))
	assert.True(t, f.outgrown(day+1, 1.1))
}
