package redisbloom

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/deduptest"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
)

const plenty = 512 << 20

// mirroredAt makes a store with a mirror that begins to copy when a day has
// settled, and what it logs.
func mirroredAt(t testing.TB, client redis.UniversalClient, prefix string, cfg dedup.Config, room int64) (*Store, *bytes.Buffer) {
	t.Helper()
	var log bytes.Buffer
	s, err := New(client, cfg, Config{KeyPrefix: prefix, MirrorBytes: room, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	s.mirror.spread, s.mirror.asked = 0, 512
	return s, &log
}

func openMirrored(t testing.TB, change func(*dedup.Config)) (*Store, redis.UniversalClient, *bytes.Buffer) {
	t.Helper()
	client, prefix := testenv.Redis(t)
	cfg := dedup.DefaultConfig()
	cfg.DailyCapacity = 20_000
	if change != nil {
		change(&cfg)
	}
	s, log := mirroredAt(t, client, prefix, cfg, plenty)
	return s, client, log
}

// hooked copies through the client itself, so that its hooks see it.
func hooked(_ context.Context, client redis.UniversalClient, _ string) (redis.Cmdable, error) {
	return client, nil
}

// bring does a round, due or not.
func (m *mirror) bring(ctx context.Context, now time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.round(ctx, now)
}

// always brings the mirror up to date before each check, as if midnight and
// the round after it were long ago. The suite also writes to days of which
// other goroutines have moved on.
type always struct{ *Store }

func (s always) Check(ctx context.Context, agent string, groups []string, now time.Time) (dedup.Checked, error) {
	if err := s.mirror.bring(ctx, now); err != nil && !errors.Is(err, errChanged) {
		return dedup.Checked{}, err
	}
	return s.Store.Check(ctx, agent, groups, now)
}

func TestConformanceMirrored(t *testing.T) {
	deduptest.Run(t, func(t *testing.T, cfg dedup.Config) dedup.Store {
		client, prefix := testenv.Redis(t)
		s, log := mirroredAt(t, client, prefix, cfg, plenty)
		t.Cleanup(func() { assert.NotContains(t, log.String(), "cannot be mirrored") })
		return always{s}
	})
}

func TestConformanceMirroredOnCluster(t *testing.T) {
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

// week records something on seven days, the last of which is today.
func week(t testing.TB, s *Store, today time.Time) (agents []string) {
	t.Helper()
	for a := range 30 {
		agents = append(agents, fmt.Sprintf("u_%d", a))
	}
	for ago := 6; ago >= 0; ago-- {
		var batch []dedup.Impression
		for a, agent := range agents {
			batch = append(batch, given(agent, groupNames(ago*10+a%3, ago*10+10)...)...)
		}
		record(t, s, today.AddDate(0, 0, -ago), batch)
	}
	return agents
}

// names collects the commands that went to the server.
type names struct {
	mu  sync.Mutex
	all []string
}

func (n *names) DialHook(next redis.DialHook) redis.DialHook { return next }
func (n *names) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		n.add(cmd)
		return next(ctx, cmd)
	}
}

func (n *names) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		n.add(cmds...)
		return next(ctx, cmds)
	}
}

func (n *names) add(cmds ...redis.Cmder) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, cmd := range cmds {
		if name := cmd.Name(); name != "hello" && name != "client" {
			n.all = append(n.all, name)
		}
	}
}

func (n *names) take() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := n.all
	n.all = nil
	return all
}

func TestMirroredCheckAsksAboutToday(t *testing.T) {
	for _, shards := range []int{1, 5} {
		t.Run(fmt.Sprintf("%d shards", shards), func(t *testing.T) {
			s, client, log := openMirrored(t, func(cfg *dedup.Config) { cfg.Shards = shards })
			agents := week(t, s, noon)
			plain := openAt(t, client, strings.TrimSuffix(s.keys.FilterProbe(), "bf:global:probe"), s.cfg)
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
	client, prefix := testenv.Redis(t)
	cfg := dedup.DefaultConfig()
	cfg.DailyCapacity, cfg.Shards = 20_000, 7
	record(t, openAt(t, client, prefix, cfg), noon, given("u_1", "a"))
	cfg.Shards = 2
	s, _ := mirroredAt(t, client, prefix, cfg, plenty)
	tomorrow := noon.AddDate(0, 0, 1)
	require.NoError(t, s.mirror.bring(t.Context(), tomorrow))
	assert.Equal(t, []dedup.Verdict{dedup.SeenDaysAgo(1), dedup.Unseen}, verdicts(t, s, tomorrow, "u_1", "a", "b"))
}

func mirroredDays(s *Store) (days []feed.Day) {
	for day := range feed.Day(100_000) {
		if c, _ := s.mirror.find("u_1", day); c != nil {
			days = append(days, day)
		}
	}
	return days
}

func TestMirrorRollsOver(t *testing.T) {
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
		{midnight.Add(mirrorSettle - time.Second), today - 5, today - 1},
		{midnight.Add(mirrorSettle), today - 5, today},
		{midnight.Add(24 * time.Hour), today - 4, today},
		{midnight.Add(24*time.Hour + mirrorSettle), today - 4, today + 1},
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
	s, client, _ := openMirrored(t, nil)
	week(t, s, noon)
	var sent names
	client.AddHook(&sent)
	s.mirror.master = hooked
	require.NoError(t, s.mirror.tick(t.Context(), noon))
	require.Contains(t, sent.take(), "bf.scandump")
	require.NoError(t, s.mirror.tick(t.Context(), noon.Add(mirrorWatch-time.Second)))
	assert.Empty(t, sent.take())
	require.NoError(t, s.mirror.tick(t.Context(), noon.Add(mirrorWatch)))
	assert.NotContains(t, sent.take(), "bf.scandump", "only looked at: nothing has changed")
}

func TestMirrorWithinItsBytes(t *testing.T) {
	client, prefix := testenv.Redis(t)
	cfg := dedup.DefaultConfig()
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

func (m *mirror) bytes() (sum int64) {
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
	s, client, log := openMirrored(t, nil)
	record(t, s, noon, given("u_1", "a", "b"))
	tomorrow, seen := noon.AddDate(0, 0, 1), dedup.SeenDaysAgo(1)
	require.NoError(t, s.mirror.bring(t.Context(), tomorrow))
	key := s.keys.Filter(feed.DayOf(noon), 0, 1)
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
	s, client, _ := openMirrored(t, nil)
	require.NoError(t, client.Set(t.Context(), s.keys.Filter(feed.DayOf(noon), 0, 1), "no filter", time.Minute).Err())
	tomorrow := noon.AddDate(0, 0, 1)
	require.NoError(t, s.mirror.bring(t.Context(), tomorrow))
	c, _ := s.mirror.find("u_1", feed.DayOf(noon))
	assert.Nil(t, c)
	assert.Equal(t, []dedup.Verdict{dedup.Unseen}, verdicts(t, s, tomorrow, "u_1", "a"), "as without a mirror")
}

// forger changes what BF.SCANDUMP answers.
type forger struct {
	forge func(iter int64, dump redis.ScanDump) redis.ScanDump
}

func (f forger) DialHook(next redis.DialHook) redis.DialHook { return next }
func (f forger) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (f forger) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		err := next(ctx, cmd)
		if dump, ok := cmd.(*redis.ScanDumpCmd); ok && err == nil {
			iter := dump.Args()[2].(int64)
			dump.SetVal(f.forge(iter, dump.Val()))
		}
		return err
	}
}

func TestWrongCopiesTurnTheMirrorOff(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	change := func(data string, at int, to byte) string {
		raw := []byte(data)
		raw[at] = to
		return string(raw)
	}
	for _, test := range []struct {
		name  string
		forge func(iter int64, d redis.ScanDump) redis.ScanDump
	}{
		{"a hash less", func(iter int64, d redis.ScanDump) redis.ScanDump {
			if iter == 0 {
				d.Data = change(d.Data, headerSize+40, d.Data[headerSize+40]-2)
			}
			return d
		}},
		{"a longer header", func(iter int64, d redis.ScanDump) redis.ScanDump {
			if iter == 0 {
				d.Data += "\x00"
			}
			return d
		}},
		{"32-bit hashes", func(iter int64, d redis.ScanDump) redis.ScanDump {
			if iter == 0 {
				d.Data = change(d.Data, 12, optNoRound)
			}
			return d
		}},
		{"no bits at all", func(iter int64, d redis.ScanDump) redis.ScanDump {
			if iter > 0 {
				d.Data = strings.Repeat("\x00", len(d.Data))
			}
			return d
		}},
		{"all bits", func(iter int64, d redis.ScanDump) redis.ScanDump {
			if iter > 0 {
				d.Data = strings.Repeat("\xff", len(d.Data))
			}
			return d
		}},
		{"bits counted from the other end", func(iter int64, d redis.ScanDump) redis.ScanDump {
			if raw := []byte(d.Data); iter > 0 {
				for i, b := range raw {
					raw[i] = b>>7&1 | b>>5&2 | b>>3&4 | b>>1&8 | b<<1&16 | b<<3&32 | b<<5&64 | b<<7&128
				}
				d.Data = string(raw)
			}
			return d
		}},
		{"a piece too short", func(iter int64, d redis.ScanDump) redis.ScanDump {
			if iter > 0 && len(d.Data) > 0 {
				d.Data = d.Data[8:]
			}
			return d
		}},
		{"a piece empty", func(iter int64, d redis.ScanDump) redis.ScanDump {
			if iter > 0 {
				d.Data = ""
			}
			return d
		}},
		{"one byte in twenty", func(iter int64, d redis.ScanDump) redis.ScanDump {
			if raw := []byte(d.Data); iter > 0 {
				for i := 0; i < len(raw); i += 20 {
					raw[i] ^= byte(1 << random.IntN(8))
				}
				d.Data = string(raw)
			}
			return d
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, client, log := openMirrored(t, nil)
			week(t, s, noon)
			want := verdicts(t, s, noon, "u_1", groupNames(0, 80)...)
			s.mirror.master = hooked
			client.AddHook(forger{test.forge})
			require.NoError(t, s.mirror.bring(t.Context(), noon))
			assert.Contains(t, log.String(), "cannot be mirrored")
			assert.Empty(t, mirroredDays(s))
			assert.Equal(t, want, verdicts(t, s, noon, "u_1", groupNames(0, 80)...))
			require.NoError(t, s.mirror.bring(t.Context(), noon.AddDate(0, 0, 1)))
			assert.Empty(t, mirroredDays(s), "off for good")
		})
	}
}

func TestChecksWhileCopying(t *testing.T) {
	s, client, log := openMirrored(t, func(cfg *dedup.Config) { cfg.Shards = 3 })
	agents := week(t, s, noon)
	plain := openAt(t, client, strings.TrimSuffix(s.keys.FilterProbe(), "bf:global:probe"), s.cfg)
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

func TestRunMirrorEndsWithItsContext(t *testing.T) {
	s, _, _ := openMirrored(t, nil)
	week(t, s, noon)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.RunMirror(ctx, func() time.Time { return noon })
	}()
	require.Eventually(t, func() bool { c, _ := s.mirror.find("u_1", feed.DayOf(noon)-6); return c != nil }, 30*time.Second, 5*time.Millisecond)
	cancel()
	<-ended
	plain, _ := open(t, nil)
	plain.RunMirror(t.Context(), nil) // nothing to do
}
