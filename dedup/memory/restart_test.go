package memory

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/deduptest"
	"github.com/freshet/freshet/dedup/journal"
	"github.com/freshet/freshet/feed"
)

// bench is a directory with a clock, in which stores are opened, killed and reopened.
type bench struct {
	t   *testing.T
	dir string
	cfg dedup.Config
	now time.Time
}

func newBench(t *testing.T, served bool) *bench {
	cfg := deduptest.DefaultConfig()
	cfg.DailyCapacity = 1_000
	cfg.Served = served
	if !served {
		cfg.PendingTTL = 30 * time.Minute
	}
	return &bench{t: t, dir: t.TempDir(), cfg: cfg, now: deduptest.Start}
}

func (b *bench) open() *Store {
	b.t.Helper()
	s, err := Open(b.dir, b.cfg, func() time.Time { return b.now }, WithLogger(quiet()))
	require.NoError(b.t, err)
	b.t.Cleanup(func() { _ = s.Close(cleanupContext()) })
	return s
}

func (b *bench) close(s *Store) {
	b.t.Helper()
	require.NoError(b.t, s.Close(b.t.Context()))
}

// kill leaves the files as they are after a kill -9. The bench continues with a copy of them.
func (b *bench) kill() {
	b.t.Helper()
	b.dir = copyDir(b.t, b.dir)
}

func copyDir(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(to, e.Name()), content, 0o600))
	}
	return to
}

func (b *bench) claim(s *Store, groups ...string) {
	b.t.Helper()
	held, err := s.Pending(b.t.Context(), "u_1", groups, b.now)
	require.NoError(b.t, err)
	require.NotContains(b.t, held, true)
	require.NoError(b.t, s.Claim(b.t.Context(), "u_1", groups, b.now))
}

func of(groups ...string) []dedup.Impression {
	var batch []dedup.Impression
	for _, g := range groups {
		batch = append(batch, dedup.Impression{Agent: "u_1", Group: g})
	}
	return batch
}

func (b *bench) record(s *Store, groups ...string) {
	b.t.Helper()
	unconfirmed, err := s.Record(b.t.Context(), of(groups...), b.now)
	require.NoError(b.t, err)
	require.Empty(b.t, unconfirmed)
}

func (b *bench) verdicts(s *Store, groups ...string) []dedup.Verdict {
	b.t.Helper()
	c, err := s.Check(b.t.Context(), "u_1", groups, b.now)
	require.NoError(b.t, err)
	return c.Verdicts
}

// files lists the days' files in the directory.
func (b *bench) files() []string {
	b.t.Helper()
	entries, err := os.ReadDir(b.dir)
	require.NoError(b.t, err)
	names := []string{}
	for _, e := range entries {
		if e.Name() != journal.LockName && e.Name() != clockName {
			names = append(names, e.Name())
		}
	}
	return names
}

const (
	unseen  = dedup.Unseen
	pends   = dedup.Pending
	today   = dedup.Verdict(2) // SeenDaysAgo(0)
	dayOld  = today + 1
	twoDays = today + 2
)

func TestRestart(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		served bool
		kill   bool
		want   []dedup.Verdict // recorded, claimed, released, settled, never shown
	}{
		{"served, stopped", true, false, []dedup.Verdict{today, today, unseen, today, unseen}},
		{"served, killed", true, true, []dedup.Verdict{today, today, unseen, today, unseen}},
		{"seen, stopped", false, false, []dedup.Verdict{today, pends, unseen, pends, unseen}},
		{"seen, killed", false, true, []dedup.Verdict{today, pends, unseen, pends, unseen}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, test.served)
				s := b.open()
				b.claim(s, "claimed", "released", "settled")
				b.record(s, "recorded", "settled")
				require.NoError(t, s.Release(t.Context(), "u_1", []string{"released"}))
				require.NoError(t, s.ClearPending(t.Context(), of("settled")))
				b.stop(s, test.kill)

				s = b.open()
				assert.Equal(t, test.want, b.verdicts(s, "recorded", "claimed", "released", "settled", "never"))
				b.claim(s, "released")
				b.record(s, "later")
				b.stop(s, test.kill)
				s = b.open()
				assert.NotContains(t, b.verdicts(s, "recorded", "claimed", "released", "settled", "later"), unseen, "and once more")
			})
		})
	}
}

func (b *bench) stop(s *Store, kill bool) {
	b.t.Helper()
	if kill {
		b.kill()
	} else {
		b.close(s)
	}
}

// TestShownAgainStaysPending restarts while groups are pending that were shown again later: they stay so from then on.
func TestShownAgainStaysPending(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, kill := range []bool{false, true} {
			b := newBench(t, false)
			s := b.open()
			b.claim(s, "a", "b", "c")
			b.now = b.now.Add(20 * time.Minute)
			require.NoError(t, s.AddShown(t.Context(), "u_1", []string{"a"}, b.now))
			require.NoError(t, s.Claim(t.Context(), "u_1", []string{"b"}, b.now))
			b.stop(s, kill)
			s = b.open()
			b.now = b.now.Add(20 * time.Minute)
			assert.Equal(t, []dedup.Verdict{dedup.Pending, dedup.Pending, unseen}, b.verdicts(s, "a", "b", "c"), kill)
			require.NoError(t, s.Release(t.Context(), "u_1", []string{"b"}))
			b.stop(s, kill)
			assert.Equal(t, []dedup.Verdict{dedup.Pending, unseen}, b.verdicts(b.open(), "a", "b"), kill)
		}
	})
}

func TestCleanStopFoldsJournal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, true)
		s := b.open()
		b.claim(s, "a", "b")
		b.close(s)
		assert.Equal(t, []string{"20260306.filter"}, b.files())

		b = newBench(t, false)
		s = b.open()
		b.claim(s, "a", "b")
		b.record(s, "a")
		require.NoError(t, s.ClearPending(t.Context(), of("a")))
		b.close(s)
		assert.Equal(t, []string{"20260306.journal"}, b.files(), "it has what is pending")
		b.now = b.now.Add(31 * time.Minute)
		s = b.open()
		assert.Equal(t, []dedup.Verdict{today, unseen}, b.verdicts(s, "a", "b"), "what was offered too long ago may come back")
	})
}

func TestModeChangeAtRestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, true)
		s := b.open()
		b.claim(s, "served")
		b.record(s, "served")
		b.kill()
		b.cfg.Served, b.cfg.PendingTTL = false, time.Minute
		b.now = b.now.Add(time.Hour)
		s = b.open()
		assert.Equal(t, []dedup.Verdict{today}, b.verdicts(s, "served"), "delivering was the impression when it happened")
		b.claim(s, "offered")
		b.kill()
		b.cfg.Served = true
		s = b.open()
		assert.Equal(t, []dedup.Verdict{today, today}, b.verdicts(s, "served", "offered"))
	})
}

func TestReleaseOnlyOwnClaim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, true)
		s := b.open()
		for range 3 {
			b.claim(s, "x", "y")
			require.NoError(t, s.Release(t.Context(), "u_1", []string{"x", "y"}))
		}
		b.claim(s, "y")
		b.kill()
		assert.Equal(t, []dedup.Verdict{unseen, today}, b.verdicts(b.open(), "x", "y"))
	})
}

func TestTornTailAtEveryOffset(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, true)
		s := b.open()
		b.claim(s, "first")
		before := s.journal.Size()
		b.claim(s, "second", "third")
		whole, err := os.ReadFile(s.journalPath(s.today))
		require.NoError(t, err)
		for cut := before; cut <= int64(len(whole)); cut++ {
			torn := *b
			torn.dir = t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(torn.dir, "20260306.journal"), whole[:cut], 0o600))
			s := torn.open()
			want := []dedup.Verdict{today, unseen, unseen}
			if cut == int64(len(whole)) {
				want = []dedup.Verdict{today, today, today}
			}
			require.Equal(t, want, torn.verdicts(s, "first", "second", "third"), "cut at %d", cut)
			torn.close(s)
		}
	})
}

func TestClaimJournalFailure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, true)
		s := b.open()
		b.claim(s, "before")
		require.NoError(t, s.journal.Close())
		err := s.Claim(t.Context(), "u_1", []string{"a", "b"}, b.now)
		require.ErrorIs(t, err, dedup.ErrUnavailable)
		assert.Equal(t, []dedup.Verdict{pends, unseen, unseen}, b.verdicts(s, "before", "a", "b"))

		require.ErrorIs(t, s.Release(t.Context(), "u_1", []string{"before"}), dedup.ErrUnavailable)
		assert.Equal(t, []dedup.Verdict{pends}, b.verdicts(s, "before"), "nor is it given back")

		unconfirmed, err := s.Record(t.Context(), of("a", "before"), b.now)
		require.ErrorIs(t, err, dedup.ErrUnavailable)
		assert.Equal(t, of("a"), unconfirmed, "the claim of the other is in the journal already")
		assert.Equal(t, []dedup.Verdict{unseen}, b.verdicts(s, "a"))
	})
}

func TestClosedStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, true)
		s := b.open()
		b.close(s)
		b.close(s)
		err := s.Claim(t.Context(), "u_1", []string{"a"}, b.now)
		require.ErrorContains(t, err, "the dedup store is closed")
		require.ErrorIs(t, err, dedup.ErrUnavailable)
		_, err = s.Record(t.Context(), of("a"), b.now)
		require.ErrorContains(t, err, "the dedup store is closed")
		require.ErrorContains(t, s.Release(t.Context(), "u_1", []string{"a"}), "the dedup store is closed")
	})
}

func TestDirLockedByOneProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, true)
		s := b.open()
		_, err := Open(b.dir, b.cfg, atStart)
		require.ErrorContains(t, err, "in use by another process")
		assert.Contains(t, err.Error(), b.dir)
		b.close(s)
		b.close(b.open())
	})
}

func TestInvalidConfiguration(t *testing.T) {
	t.Parallel()
	cfg := deduptest.DefaultConfig()
	cfg.WindowDays = 0
	_, err := Open("", cfg, atStart)
	require.ErrorContains(t, err, "window_days")
}

func TestFilterFile(t *testing.T) {
	t.Parallel()
	day := feed.DayOf(deduptest.Start)
	path := filepath.Join(t.TempDir(), "f")
	f := newFilter(day, 100, 0.01)
	var buf []byte
	for i := range 1_000 { // four layers
		buf = f.addImpression(buf, "u_1", fmt.Sprint(i))
	}
	require.NoError(t, f.save(path))
	back, err := loadFilter(path, day)
	require.NoError(t, err)
	assert.Equal(t, day, back.day)
	require.Len(t, back.all(), 4)
	for i, want := range f.all() {
		got := back.all()[i]
		assert.Equal(t, want.words, got.words)
		assert.Equal(t, []any{want.capacity, want.rate, want.m, want.k, want.count.Load(), want.ones.Load()},
			[]any{got.capacity, got.rate, got.m, got.k, got.count.Load(), got.ones.Load()})
	}
	_, err = loadFilter(path, day+1)
	require.ErrorContains(t, err, "stored dedup filter is corrupt")

	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	for at := range whole {
		damaged := bytes.Clone(whole)
		damaged[at] ^= 1
		require.NoError(t, os.WriteFile(path, damaged, 0o600))
		_, err := loadFilter(path, day)
		require.ErrorContains(t, err, "stored dedup filter is corrupt", "byte %d", at)
		require.ErrorContains(t, err, path)
		_, err = decodeFilter(whole[:at])
		require.Error(t, err, "cut at %d", at)
	}
}

// TestFilterFileFirstFormat reads a filter with a single layer at the day's whole rate, and
// continues to add to it.
func TestFilterFileFirstFormat(t *testing.T) {
	t.Parallel()
	day := feed.DayOf(deduptest.Start)
	f := layered(day, newLayer(100, 0.01))
	for i := range 100 {
		f.addImpression(nil, "u_1", fmt.Sprint(i))
	}
	require.Len(t, f.all(), 1)
	path := filepath.Join(t.TempDir(), "filter")
	require.NoError(t, f.save(path))
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	at := filterHeader + layerHeader
	whole = slices.Delete(whole, at-sizeBytes, at)
	copy(whole, filterMagicV1)
	binary.LittleEndian.PutUint32(whole[12:], crc32.Checksum(whole[filterHeader:], castagnoli))

	f, err = decodeFilter(whole)
	require.NoError(t, err)
	assert.Equal(t, day, f.day)
	assert.InDelta(t, 100, f.count(), 3, "but for false positives")
	for i := range 1_000 {
		f.addImpression(nil, "u_1", fmt.Sprint(i))
	}
	assert.Len(t, f.all(), 4)
	for i := range 1_000 {
		assert.False(t, f.add(hashMember(fmt.Appendf(nil, "u_1:%d", i))), i)
	}
	for at := range whole {
		_, err = decodeFilter(whole[:at])
		require.Error(t, err, "cut at %d", at)
	}
}

// TestFilterGrowsConcurrently adds members from many goroutines: none is lost, and each layer is
// created once.
func TestFilterGrowsConcurrently(t *testing.T) {
	t.Parallel()
	f := newFilter(1, 100, 0.01)
	const each = 2_000
	var adding sync.WaitGroup
	for g := range 4 {
		adding.Go(func() {
			for i := range each {
				f.add(hashMember(fmt.Appendf(nil, "u_%d:%d", g, i)))
			}
		})
	}
	adding.Wait()
	for g := range 4 {
		for i := range each {
			require.False(t, f.add(hashMember(fmt.Appendf(nil, "u_%d:%d", g, i))))
		}
	}
	assert.Len(t, f.all(), 7, "100 · (2⁶ − 1) < 8,000 < 100 · (2⁷ − 1)")
	assert.Less(t, f.falsePositives(), 0.012, "the rate of 0.01, as far as small layers have it")
	assert.InEpsilon(t, 80, f.fill(), 0.02)
}

func FuzzDecodeFilter(f *testing.F) {
	path := filepath.Join(f.TempDir(), "f")
	filter := newFilter(1, 10, 0.01)
	for i := range 15 {
		filter.addImpression(nil, "u_1", fmt.Sprint(i))
	}
	require.NoError(f, filter.save(path))
	whole, err := os.ReadFile(path)
	require.NoError(f, err)
	f.Add(whole)
	f.Add(whole[:filterHeader+layerHeader])
	f.Fuzz(func(t *testing.T, data []byte) {
		if got, err := decodeFilter(data); err == nil {
			for _, l := range got.all() {
				l.sift([]probe{hashMember([]byte("x"))}, []int32{0})
			}
		}
		if len(data) > filterHeader { // the decoder must also be safe on input with a wrong checksum
			_, _ = decodeLayers(data[filterHeader:])
		}
	})
}

func TestDamagedFilterRefusesStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, true)
		s := b.open()
		b.record(s, "a")
		b.close(s)
		path := filepath.Join(b.dir, "20260306.filter")
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		content[len(content)/2] ^= 0xff
		require.NoError(t, os.WriteFile(path, content, 0o600))
		_, err = Open(b.dir, b.cfg, atStart)
		require.ErrorContains(t, err, "stored dedup filter is corrupt")
		require.ErrorContains(t, err, path)
		require.NoError(t, os.Remove(path))
		b.close(b.open())
	})
}

func TestCapacityWarningOncePerDay(t *testing.T) {
	t.Parallel()
	b := newBench(t, true)
	b.cfg.DailyCapacity = 10
	var log bytes.Buffer
	s, err := Open("", b.cfg, atStart, WithLogger(slog.New(slog.NewTextHandler(&log, nil))))
	require.NoError(t, err)
	for day := range 2 {
		for i := range 3 {
			var groups []string
			for n := range 8 {
				groups = append(groups, fmt.Sprintf("g_%d_%d_%d", day, i, n))
			}
			_, err := s.Record(t.Context(), of(groups...), deduptest.Start.AddDate(0, 0, day))
			require.NoError(t, err)
		}
		assert.Equal(t, day+1, bytes.Count(log.Bytes(), []byte("daily_capacity")))
	}
}

func TestPendingExpiresFromMemory(t *testing.T) {
	t.Parallel()
	cfg := deduptest.DefaultConfig()
	cfg.Served, cfg.PendingTTL = false, time.Minute
	s, err := Open("", cfg, atStart)
	require.NoError(t, err)
	now := deduptest.Start
	for round := range 20 {
		now = now.Add(time.Minute)
		for i := range 2_000 {
			err := s.Claim(t.Context(), fmt.Sprintf("u_%d_%d", round, i), []string{"a"}, now)
			require.NoError(t, err)
		}
	}
	agents := 0
	for i := range s.pending.shards {
		agents += len(s.pending.shards[i].agents)
	}
	assert.LessOrEqual(t, agents, 3*2_000, "agents who never came back are forgotten")
	err = s.Claim(t.Context(), "u", []string{"a"}, now.AddDate(-1, 0, 0))
	require.NoError(t, err, "a clock set far back does no harm")
}

func TestStaleBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, served := range []bool{true, false} {
			b := newBench(t, served)
			s := b.open()
			b.claim(s, groupNames(mostStale+1)...)
			b.now = b.now.Add(dedup.StaleAfter + time.Second)
			c, err := s.Check(t.Context(), "u_1", nil, b.now)
			require.NoError(t, err)
			if served {
				assert.Len(t, c.Stale, mostStale)
			} else {
				assert.Empty(t, c.Stale, "only what the client reports is recorded")
			}
		}
	})
}

// TestConcurrency runs all operations concurrently over several midnights, then checks that
// nothing is lost by a kill or a stop.
func TestConcurrency(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, true)
		b.cfg.DailyCapacity = 20_000
		s := b.open()
		const workers, rounds = 8, 40
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() {
				for r := range rounds {
					now := deduptest.Start.AddDate(0, 0, r/10)
					group := fmt.Sprintf("g_%d_%d", w, r)
					if err := s.Claim(t.Context(), "u_1", []string{group}, now); err != nil {
						t.Error(err)
					}
					if _, err := s.Check(t.Context(), "u_1", []string{group, "other"}, now); err != nil {
						t.Error(err)
					}
					if r%2 == 0 {
						if _, err := s.Record(t.Context(), of(group), now); err != nil {
							t.Error(err)
						}
						if err := s.ClearPending(t.Context(), of(group)); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		wg.Wait()
		b.now = deduptest.Start.AddDate(0, 0, 3)
		s.checkClock()
		all := func(s *Store) {
			t.Helper()
			for w := range workers {
				for r := range rounds {
					require.NotEqual(t, unseen, b.verdicts(s, fmt.Sprintf("g_%d_%d", w, r))[0], "worker %d round %d", w, r)
				}
			}
		}
		all(s)
		b.kill()
		s = b.open()
		all(s)
		b.close(s)
		all(b.open())
	})
}
