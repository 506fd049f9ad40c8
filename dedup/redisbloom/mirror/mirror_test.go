package mirror

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/deduptest"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

const plenty = 512 << 20

func TestConformanceMirrored(t *testing.T) {
	t.Parallel()
	deduptest.Run(t, func(t *testing.T, cfg dedup.Config) dedup.Store {
		client, prefix := testenv.Redis(t)
		s, log := mirroredAt(t, client, prefix, cfg, plenty)
		t.Cleanup(func() { assert.NotContains(t, log.String(), "cannot be mirrored") })
		return always{s}
	})
}

func TestConformanceMirroredOnCluster(t *testing.T) {
	t.Parallel()
	deduptest.Run(t, func(t *testing.T, cfg dedup.Config) dedup.Store {
		client, prefix := testenv.RedisCluster(t)
		if cfg.Shards == 1 {
			cfg.Shards = 16
		}
		s, log := mirroredAt(t, client, prefix, cfg, plenty)
		t.Cleanup(func() { assert.NotContains(t, log.String(), "cannot be mirrored") })
		return always{s}
	})
}

func TestMirroredCheckAsksAboutToday(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	for _, shards := range []int{1, 5} {
		t.Run(fmt.Sprintf("%d shards", shards), func(t *testing.T) {
			s, client, log := openMirrored(t, func(cfg *dedup.Config) { cfg.Shards = shards })
			agents := week(t, s, noon)
			plain := plainAt(t, client, s.prefix, s.mirror.cfg)
			require.NoError(t, s.mirror.bring(t.Context(), noon))
			var sent names
			client.AddHook(&sent)
			groups := groupNames(0, 100)
			for _, agent := range agents {
				want := verdicts(t, plain, noon, agent, groups...)
				sent.take()
				assert.Equal(t, want, verdicts(t, s, noon, agent, groups...), agent)
				assert.Equal(t, []string{"evalsha", "bf.mexists"}, sent.take())
			}
			assert.Empty(t, log.String())
		})
	}
}

// A mirrored day keeps the number of shards it was written with.
func TestMirrorOfAnotherShardCount(t *testing.T) {
	t.Parallel()
	client, prefix := testenv.Redis(t)
	cfg := deduptest.DefaultConfig()
	cfg.DailyCapacity, cfg.Shards = 20_000, 7
	record(t, plainAt(t, client, prefix, cfg), noon, given("u_1", "a"))
	cfg.Shards = 2
	s, _ := mirroredAt(t, client, prefix, cfg, plenty)
	tomorrow := noon.AddDate(0, 0, 1)
	require.NoError(t, s.mirror.bring(t.Context(), tomorrow))
	assert.Equal(t, []dedup.Verdict{dedup.SeenDaysAgo(1), dedup.Unseen}, verdicts(t, s, tomorrow, "u_1", "a", "b"))
}

func mirroredDays(s mirrored) (days []feed.Day) {
	for day := range feed.Day(100_000) {
		if c, _ := s.mirror.find("u_1", day); c != nil {
			days = append(days, day)
		}
	}
	return days
}

func TestMirrorRollsOver(t *testing.T) {
	t.Parallel()
	s, _, log := openMirrored(t, nil)
	week(t, s, noon)
	today := feed.DayOf(noon)
	midnight := (today + 1).Start()
	for _, step := range []struct {
		now              time.Time
		oldest, youngest feed.Day
	}{
		{noon, today - 6, today - 1},
		{midnight.Add(-time.Second), today - 6, today - 1},
		// The day that is over may still be written to; the oldest goes with
		// the first round that is due.
		{midnight.Add(settleAfter - time.Second), today - 5, today - 1},
		{midnight.Add(settleAfter), today - 5, today},
		{midnight.Add(24 * time.Hour), today - 4, today},
		{midnight.Add(24*time.Hour + settleAfter), today - 4, today + 1},
		// The clock is set back: a day that is not over is not mirrored.
		{noon, today - 6, today - 1},
	} {
		require.NoError(t, s.mirror.tick(t.Context(), step.now))
		days := mirroredDays(s)
		require.NotEmpty(t, days)
		assert.Equal(t, step.oldest, days[0], "%s", step.now)
		assert.Equal(t, step.youngest, days[len(days)-1], "%s", step.now)
		assert.Len(t, days, int(step.youngest-step.oldest)+1, "%s", step.now)
	}
	assert.Empty(t, log.String())
}

func TestMirrorTicksOnlyWhenDue(t *testing.T) {
	t.Parallel()
	s, client, _ := openMirrored(t, nil)
	week(t, s, noon)
	var sent names
	client.AddHook(&sent)
	s.mirror.master = hooked
	require.NoError(t, s.mirror.tick(t.Context(), noon))
	require.Contains(t, sent.take(), "bf.scandump")
	require.NoError(t, s.mirror.tick(t.Context(), noon.Add(watchEvery-time.Second)))
	assert.Empty(t, sent.take())
	require.NoError(t, s.mirror.tick(t.Context(), noon.Add(watchEvery)))
	assert.NotContains(t, sent.take(), "bf.scandump", "only looked at: nothing has changed")
}

func TestMirrorWithinItsBytes(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	client, prefix := testenv.Redis(t)
	cfg := deduptest.DefaultConfig()
	cfg.DailyCapacity, cfg.Shards = 20_000, 3
	s, _ := mirroredAt(t, client, prefix, cfg, plenty)
	agents := week(t, s, noon)
	require.NoError(t, s.mirror.bring(t.Context(), noon))
	whole := s.mirror.bytes()
	want := map[string][]dedup.Verdict{}
	for _, agent := range agents {
		want[agent] = verdicts(t, s, noon, agent, groupNames(0, 80)...)
	}

	for _, share := range []int64{100, 50, 20, 1} {
		s.mirror.budget = whole * share / 100
		require.NoError(t, s.mirror.bring(t.Context(), noon))
		assert.LessOrEqual(t, s.mirror.bytes(), s.mirror.budget)
		if share >= 20 {
			assert.Greater(t, s.mirror.bytes(), s.mirror.budget-whole/9, "no more is left free than one filter takes")
			c, _ := s.mirror.find("u_1", feed.DayOf(noon)-1)
			assert.NotNil(t, c, "newest first")
		}
		for _, agent := range agents {
			require.Equal(t, want[agent], verdicts(t, s, noon, agent, groupNames(0, 80)...))
		}
	}
	assert.Zero(t, s.mirror.bytes())
	s.mirror.budget = plenty
	require.NoError(t, s.mirror.bring(t.Context(), noon))
	assert.Equal(t, whole, s.mirror.bytes())
}

func (m *Mirror) bytes() (sum int64) {
	for _, d := range *m.days.Load() {
		for i := range d.filters {
			if c := d.filters[i].Load(); c != nil {
				sum += c.bytes
			}
		}
	}
	return sum
}

// What Redis loses, the mirror still knows; what is written after that, Redis.
func TestMirrorOutlivesTheFilter(t *testing.T) {
	t.Parallel()
	s, client, log := openMirrored(t, nil)
	record(t, s, noon, given("u_1", "a", "b"))
	tomorrow, seen := noon.AddDate(0, 0, 1), dedup.SeenDaysAgo(1)
	require.NoError(t, s.mirror.bring(t.Context(), tomorrow))
	key := s.mirror.keys.Filter(feed.DayOf(noon), 0, 1)
	require.NoError(t, client.Del(t.Context(), key).Err())
	require.NoError(t, s.mirror.bring(t.Context(), tomorrow))
	assert.Equal(t, []dedup.Verdict{seen, seen, dedup.Unseen}, verdicts(t, s, tomorrow, "u_1", "a", "b", "c"))

	record(t, s, noon, given("u_1", "c"))
	require.NoError(t, s.mirror.bring(t.Context(), tomorrow))
	assert.Equal(t, []dedup.Verdict{seen, seen, seen, dedup.Unseen}, verdicts(t, s, tomorrow, "u_1", "a", "b", "c", "d"))
	assert.NotContains(t, log.String(), "cannot be mirrored")
}

// A write that came very late, by a server whose clock is far behind.
func TestMirrorOfADayThatIsWrittenTo(t *testing.T) {
	t.Parallel()
	s, _, log := openMirrored(t, nil)
	tomorrow, seen := noon.AddDate(0, 0, 1), dedup.SeenDaysAgo(1)
	require.NoError(t, s.mirror.bring(t.Context(), tomorrow), "nothing was written that day")
	assert.Equal(t, []dedup.Verdict{dedup.Unseen}, verdicts(t, s, tomorrow, "u_1", "a"))
	for _, late := range []string{"a", "b"} {
		record(t, s, noon, given("u_1", late))
		require.NoError(t, s.mirror.bring(t.Context(), tomorrow))
		assert.Equal(t, []dedup.Verdict{seen, dedup.Unseen}, verdicts(t, s, tomorrow, "u_1", late, "c"))
		c, _ := s.mirror.find("u_1", feed.DayOf(noon))
		require.NotNil(t, c)
		assert.False(t, c.also)
	}
	assert.Empty(t, log.String())
}

func TestMirrorBesideAnotherType(t *testing.T) {
	t.Parallel()
	s, client, _ := openMirrored(t, nil)
	require.NoError(t, client.Set(t.Context(), s.mirror.keys.Filter(feed.DayOf(noon), 0, 1), "no filter", time.Minute).Err())
	tomorrow := noon.AddDate(0, 0, 1)
	require.NoError(t, s.mirror.bring(t.Context(), tomorrow))
	c, _ := s.mirror.find("u_1", feed.DayOf(noon))
	assert.Nil(t, c)
	assert.Equal(t, []dedup.Verdict{dedup.Unseen}, verdicts(t, s, tomorrow, "u_1", "a"), "as without a mirror")
}

func TestChecksWhileCopying(t *testing.T) {
	t.Parallel()
	s, client, log := openMirrored(t, func(cfg *dedup.Config) { cfg.Shards = 3 })
	agents := week(t, s, noon)
	plain := plainAt(t, client, s.prefix, s.mirror.cfg)
	want := map[string][]dedup.Verdict{}
	for _, agent := range agents {
		want[agent] = verdicts(t, plain, noon, agent, groupNames(0, 80)...)
	}
	done := make(chan struct{})
	var checks, rounds sync.WaitGroup
	for w := range 4 {
		checks.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				agent := agents[(i+7*w)%len(agents)]
				c, err := s.Check(t.Context(), agent, groupNames(0, 80), noon)
				if err != nil || !assert.Equal(t, want[agent], c.Verdicts) {
					t.Errorf("%s: %v", agent, err)
					return
				}
			}
		})
	}
	rounds.Go(func() {
		for i := range 6 {
			s.mirror.mu.Lock()
			s.mirror.budget = int64(plenty * (i % 2)) // all go, all come
			s.mirror.mu.Unlock()
			if err := s.mirror.bring(t.Context(), noon); err != nil {
				t.Error(err)
			}
		}
	})
	rounds.Wait()
	close(done)
	checks.Wait()
	assert.Empty(t, log.String())
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	s, _, _ := openMirrored(t, nil)
	week(t, s, noon)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.mirror.Run(ctx, func() time.Time { return noon })
	}()
	testenv.WaitFor(t, func() bool { c, _ := s.mirror.find("u_1", feed.DayOf(noon)-6); return c != nil }, "the oldest day's filter is here")
	cancel()
	<-ended
}
