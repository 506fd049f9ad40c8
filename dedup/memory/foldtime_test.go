package memory

import (
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/deduptest"
)

// midnight is the end of the first day of a bench.
var midnight = deduptest.Start.Truncate(24*time.Hour).AddDate(0, 0, 1)

// TestClockSetBackAfterMidnight checks that a day that ended in the future, according to a clock
// since set back, keeps its journal as long as any other day.
func TestClockSetBackAfterMidnight(t *testing.T) {
	t.Parallel()
	for _, step := range []time.Duration{4 * time.Minute, 50 * time.Minute, 3 * time.Hour} {
		for _, served := range []bool{true, false} {
			t.Run(step.String()+map[bool]string{true: ", served", false: ", seen"}[served], func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					b := newBench(t, served)
					b.now = midnight.Add(-time.Minute)
					s := b.open()
					b.claim(s, "left", "released")
					b.now = midnight.Add(time.Minute)
					b.claim(s, "next")
					b.now = midnight.Add(-step)
					s.checkClock()
					assert.Equal(t, []string{"20260306.journal", "20260307.journal"}, b.files())
					if step < mostBack { // a larger step is a jump, after which nothing is forgotten
						require.NoError(t, s.Release(t.Context(), "u_1", []string{"released"}))
						assert.Equal(t, []dedup.Verdict{unseen}, b.verdicts(s, "released"))
					}
					early := copyDir(t, b.dir)
					b.now = b.now.Add(foldAfter + time.Minute)
					if !served {
						b.now = b.now.Add(b.cfg.PendingTTL)
					}
					s.checkClock()
					assert.Equal(t, []string{"20260306.filter", "20260307.journal"}[map[bool]int{true: 0, false: 1}[served]:], b.files())
					b.dir = early
					b.now = midnight.Add(-step)
					assert.NotContains(t, b.verdicts(b.open(), "left", "next"), unseen)
				})
			})
		}
	}
}

// TestReleaseAfterClockSetBack releases a group that was claimed while the clock was before
// the journal's beginning: the journal has both the claim and the release.
func TestReleaseAfterClockSetBack(t *testing.T) {
	t.Parallel()
	for _, step := range []time.Duration{2 * time.Minute, 50 * time.Minute, 2 * time.Hour, 8 * aDay} {
		t.Run(step.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newBench(t, true)
				b.now = midnight.Add(-time.Minute)
				s := b.open()
				b.claim(s, "before")
				b.now = midnight.Add(time.Second)
				b.claim(s, "first")
				b.now = b.now.Add(-step)
				s.checkClock()
				b.claim(s, "kept", "back", "twice")
				require.NoError(t, s.Release(t.Context(), "u_1", []string{"back", "twice"}))
				b.now = b.now.Add(time.Second)
				b.claim(s, "twice")
				assert.Equal(t, unseen, b.verdicts(s, "back")[0])
				b.kill()
				s = b.open()
				assert.Equal(t, []dedup.Verdict{unseen}, b.verdicts(s, "back"))
				assert.NotContains(t, b.verdicts(s, "before", "first", "kept", "twice"), unseen)
			})
		})
	}
}

func TestFoldedDayWithoutJournal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, true)
		s := b.open()
		b.record(s, "a")
		b.now = b.now.AddDate(0, 0, 1)
		b.record(s, "b")
		require.NoError(t, os.Remove(s.journalPath(s.today-1)))
		s.checkClock()
		assert.Empty(t, s.unfolded)
		assert.Equal(t, []string{"20260306.filter", "20260307.journal"}, b.files())
	})
}

// TestFoldIntoDayOfJournal checks that pending groups are folded into the filter of the day whose
// journal has them and into no other, regardless of their claim times.
func TestFoldIntoDayOfJournal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, true)
		s := b.open()
		b.claim(s, "deferred")
		b.now = midnight.Add(time.Second)
		s.checkClock()
		require.NoError(t, s.Claim(t.Context(), "u_1", []string{"late"}, midnight.Add(-time.Second)))
		require.NoError(t, s.AddShown(t.Context(), "u_1", []string{"held"}, midnight.Add(-time.Hour)))
		b.now = b.now.Add(foldAfter + time.Minute)
		s.checkClock()
		require.Equal(t, []string{"20260306.filter", "20260307.journal"}, b.files())
		require.NoError(t, s.Release(t.Context(), "u_1", []string{"late"}))
		assert.Equal(t, []dedup.Verdict{unseen}, b.verdicts(s, "late"), "it is in the later journal")
		for range 3 {
			b.now = b.now.AddDate(0, 0, 1)
			b.record(s, "of "+b.now.String())
			s.checkClock()
		}
		b.kill()
		s = b.open()
		assert.Equal(t, []dedup.Verdict{dedup.SeenDaysAgo(4), dedup.SeenDaysAgo(3), unseen}, b.verdicts(s, "deferred", "held", "late"))
		b.now = b.now.AddDate(0, 0, 3)
		assert.Equal(t, []dedup.Verdict{unseen, dedup.SeenDaysAgo(6)}, b.verdicts(s, "deferred", "held"))
	})
}
