package memory

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/deduptest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRollOverFoldsDay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, true)
		s := b.open()
		b.claim(s, "recorded", "pending")
		b.record(s, "recorded")
		require.NoError(t, s.ClearPending(t.Context(), of("recorded")))
		b.now = b.now.AddDate(0, 0, 1)
		b.claim(s, "next")
		s.checkClock()
		assert.Equal(t, []string{"20260306.filter", "20260307.journal"}, b.files())
		assert.Equal(t, []dedup.Verdict{dayOld, pends, pends}, b.verdicts(s, "recorded", "pending", "next"))
		b.kill()
		s = b.open()
		assert.Equal(t, []dedup.Verdict{dayOld, dayOld, today}, b.verdicts(s, "recorded", "pending", "next"))
	})
}

func TestRollOverDeletesExpiredFiles(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, true)
		s := b.open()
		for range 9 {
			b.record(s, "of "+b.now.String())
			s.checkClock()
			b.now = b.now.AddDate(0, 0, 1)
		}
		b.now = b.now.AddDate(0, 0, -1)
		assert.Equal(t, []string{
			"20260308.filter", "20260309.filter", "20260310.filter", "20260311.filter", "20260312.filter", "20260313.filter", "20260314.journal",
		}, b.files())
		b.close(s)

		require.NoError(t, os.WriteFile(filepath.Join(b.dir, "notes.txt"), nil, 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(b.dir, "20260313.filter.tmp"), nil, 0o600))
		b.now = b.now.AddDate(0, 0, 4)
		s = b.open()
		assert.Equal(t, []string{
			"20260308.filter", "20260309.filter", "20260310.filter", "20260311.filter",
			"20260312.filter", "20260313.filter", "20260314.filter", "20260318.journal", "notes.txt",
		}, b.files(), "after four days without a process the clock is not trusted")
		b.close(s)
	})
}

// TestCrashDuringFold starts from each intermediate state of the directory during a fold,
// at the end of a day and at a stop.
func TestCrashDuringFold(t *testing.T) {
	t.Parallel()
	for _, served := range []bool{true, false} {
		for _, way := range []string{"roll over", "stop"} {
			t.Run(way+map[bool]string{true: ", served", false: ", seen"}[served], func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newBench(t, served)
					b.now = deduptest.Start.Add(12*time.Hour - time.Minute)
					s := b.open()
					b.claim(s, "settled", "pending", "released")
					b.record(s, "settled", "seen")
					require.NoError(t, s.ClearPending(t.Context(), of("settled")))
					require.NoError(t, s.Release(t.Context(), "u_1", []string{"released"}))
					copies := map[string]string{"before": copyDir(t, b.dir)}
					b.now = b.now.Add(2 * time.Minute)
					lasts := []string{"settled", "seen", "pending"}
					if way == "stop" {
						b.close(s)
					} else {
						b.record(s, "next")
						copies["new journal begun"] = copyDir(t, b.dir)
						b.now = b.now.Add(foldAfter)
						if !served {
							b.now = b.now.Add(b.cfg.PendingTTL)
							lasts = lasts[:2] // items that were only offered may be shown again by now
						}
						s.checkClock()
						require.Equal(t, []string{"20260306.filter", "20260307.journal"}, b.files())
					}
					copies["after"] = copyDir(t, b.dir)
					stored := copyDir(t, b.dir)
					whole, err := os.ReadFile(filepath.Join(copies["before"], "20260306.journal"))
					require.NoError(t, err)
					require.NoError(t, os.WriteFile(filepath.Join(stored, "20260306.journal"), whole, 0o600))
					copies["filter stored"] = stored

					for step, dir := range copies {
						crashed := *b
						crashed.dir = dir
						for range 2 { // recovery must be repeatable
							s := crashed.open()
							got := crashed.verdicts(s, lasts...)
							require.NotContains(t, got, unseen, "after %q", step)
							require.Equal(t, dayOld, got[1], "after %q", step)
							require.Equal(t, unseen, crashed.verdicts(s, "released")[0], "after %q", step)
							crashed.kill()
						}
					}
				})
			})
		}
	}
}

// TestCallsBeforeFold makes every kind of call after midnight, and checks the state after a
// crash before and after the previous day is folded.
func TestCallsBeforeFold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, true)
		b.now = deduptest.Start.Add(12*time.Hour - time.Second)
		s := b.open()
		b.claim(s, "left", "released", "again", "recorded", "twice")
		b.now = b.now.Add(2 * time.Second)
		b.claim(s, "new")
		require.NoError(t, s.Release(t.Context(), "u_1", []string{"released", "again"}))
		b.now = b.now.Add(time.Second)
		b.claim(s, "again")
		require.NoError(t, s.Claim(t.Context(), "u_1", []string{"twice"}, b.now), "it is pending already")
		b.record(s, "recorded", "twice", "unclaimed")
		require.NoError(t, s.ClearPending(t.Context(), of("recorded", "twice")))
		b.now = b.now.Add(foldAfter - 2*time.Second)
		s.checkClock()
		assert.Equal(t, []string{"20260306.journal", "20260307.journal"}, b.files(), "what was handed out may still be given back")
		assert.Equal(t, []dedup.Verdict{pends, unseen, pends, today, today, pends}, b.verdicts(s, "left", "released", "again", "recorded", "unclaimed", "new"))
		early := copyDir(t, b.dir)
		b.now = b.now.Add(time.Second)
		s.checkClock()
		assert.Equal(t, []string{"20260306.filter", "20260307.journal"}, b.files())
		b.kill()
		s = b.open()
		assert.Equal(t, []dedup.Verdict{dayOld, unseen, today, today, today, today, today}, b.verdicts(s, "left", "released", "again", "recorded", "twice", "unclaimed", "new"))

		b.dir = early
		s = b.open()
		assert.NotContains(t, b.verdicts(s, "left", "again", "recorded", "unclaimed", "new"), unseen)
	})
}

func TestRollOverAfterDayStopped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, true)
		b.claim(b.open(), "a")
		b.kill()
		b.now = b.now.AddDate(0, 0, 2)
		s := b.open()
		assert.Equal(t, []dedup.Verdict{twoDays}, b.verdicts(s, "a"))
		assert.Equal(t, []string{"20260306.filter", "20260308.journal"}, b.files(), "the day a crash left is folded at the start")
		b.close(s)
	})
}

func TestClockSetBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, true)
		midnight := deduptest.Start.Truncate(24*time.Hour).AddDate(0, 0, 1)
		b.now = midnight.Add(time.Second)
		s := b.open()
		b.record(s, "a")
		b.now = midnight.Add(-time.Second)
		b.claim(s, "b")
		b.record(s, "c")
		assert.Equal(t, []dedup.Verdict{today, pends, today}, b.verdicts(s, "a", "b", "c"))
		b.kill()
		s = b.open()
		assert.Equal(t, []dedup.Verdict{today, today, today}, b.verdicts(s, "a", "b", "c"), "also when started before midnight again")
		b.now = midnight.AddDate(0, 0, 6)
		assert.Equal(t, []dedup.Verdict{dedup.SeenDaysAgo(6)}, b.verdicts(s, "c"))
		b.close(s)
		b.now = midnight.AddDate(0, 0, -3)
		s = b.open()
		assert.Equal(t, []dedup.Verdict{today}, b.verdicts(s, "c"), "a day of the future counts as today")
	})
}

func TestConfigurationSizesChanged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, true)
		s := b.open()
		b.record(s, "a")
		b.close(s)
		b.cfg.DailyCapacity, b.cfg.FalsePositiveRate = 50_000, 0.001
		s = b.open()
		assert.Equal(t, uint64(1_000), s.current.capacity(), "today keeps its size")
		b.record(s, "b")
		b.now = b.now.AddDate(0, 0, 1)
		b.record(s, "c")
		assert.Equal(t, uint64(50_000), s.current.capacity(), "tomorrow has the new one")
		assert.Equal(t, []dedup.Verdict{dayOld, dayOld, today, unseen}, b.verdicts(s, "a", "b", "c", "d"))
		b.close(s)
		s = b.open()
		assert.Equal(t, []dedup.Verdict{dayOld, dayOld, today, unseen}, b.verdicts(s, "a", "b", "c", "d"))
	})
}

func TestRollOverFailureChangesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, true)
		s := b.open()
		b.claim(s, "a")
		tomorrow := b.now.AddDate(0, 0, 1)
		blocked := filepath.Join(b.dir, "20260307.journal")
		require.NoError(t, os.Mkdir(blocked, 0o700))
		err := s.Claim(t.Context(), "u_1", []string{"b"}, tomorrow)
		require.ErrorIs(t, err, dedup.ErrUnavailable)
		require.NoError(t, os.Remove(blocked))
		b.now = tomorrow
		b.claim(s, "b")
		assert.Equal(t, []dedup.Verdict{pends, pends}, b.verdicts(s, "a", "b"))
	})
}

func TestFoldFailureKeepsJournal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, true)
		s := b.open()
		b.record(s, "a")
		blocked := filepath.Join(b.dir, "20260306.filter.tmp")
		require.NoError(t, os.Mkdir(blocked, 0o700))
		b.now = b.now.AddDate(0, 0, 1)
		b.record(s, "b")
		s.checkClock()
		assert.Equal(t, []string{"20260306.filter.tmp", "20260306.journal", "20260307.journal"}, b.files())
		require.NoError(t, os.Remove(blocked))
		b.kill()
		s = b.open()
		assert.Equal(t, []dedup.Verdict{dayOld, today}, b.verdicts(s, "a", "b"))
		assert.Equal(t, []string{"20260306.filter", "20260307.journal"}, b.files())
	})
}
