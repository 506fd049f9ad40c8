package memory

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/internal/testenv"
)

const aDay = 24 * time.Hour

// TestClockJumpForgetsNothing moves the clock away from the right time and back, in a
// running store and across restarts.
func TestClockJumpForgetsNothing(t *testing.T) {
	testenv.WithoutRace(t)
	year := 365 * aDay
	for _, jumps := range [][]time.Duration{
		{8 * aDay},
		{-8 * aDay},
		{year},
		{-year},
		{3 * aDay},
		{-3 * aDay},
		{25 * time.Hour},
		{-25 * time.Hour},
		{8 * aDay, year},
		{8 * aDay, -8 * aDay},
		{-8 * aDay, 8 * aDay},
		{-year, year, 8 * aDay},
	} {
		for _, way := range []string{"running", "stopped", "killed"} {
			for _, asked := range []bool{false, true} {
				t.Run(fmt.Sprintf("%v, %s, asked=%t", jumps, way, asked), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						l := newTimeline(t)
						right := l.now
						move := func(to time.Time) {
							l.jump(to)
							if way != "running" {
								l.restart(way == "killed")
							}
						}
						for _, jump := range jumps {
							move(right.Add(jump))
							if asked {
								l.show()
								l.run(2 * time.Hour)
								l.show()
							} else {
								l.run(2 * time.Hour)
							}
						}
						right = right.Add(2 * time.Hour)
						move(right)
						l.remembers("right after", l.shown...)
						l.show()
						l.remembers("after the next page", l.shown...)
						for _, kill := range []bool{false, true} {
							l.restart(kill)
							l.remembers("after a restart", l.shown...)
							l.show()
						}
					})
				})
			}
		}
	}
}

// TestClockJumpShownKeptForWindow checks that an item shown during a clock jump is
// remembered for the whole window, and at most until its recorded day leaves the window.
func TestClockJumpShownKeptForWindow(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	for _, jump := range []time.Duration{8 * aDay, 365 * aDay} {
		t.Run(jump.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newTimeline(t)
				right := l.now
				l.jump(right.Add(jump))
				l.show()
				inJump := l.shown[len(l.shown)-1]
				l.jump(right)
				for day := range 7 {
					l.remembers(fmt.Sprintf("on day %d", day), inJump)
					l.show()
					l.run(aDay)
				}
				assert.Len(t, l.with(filterSuffix), 7, "six days' and that of the jump")
				l.run(2 * aDay)
				if jump < 9*aDay {
					l.run(6 * aDay)
				}
				assert.Equal(t, []dedup.Verdict{unseen}, l.verdicts(l.s, inJump))
				for _, name := range l.files() {
					assert.Less(t, name, l.now.AddDate(0, 0, 1).Format("20060102"), "no file of the future is left")
				}
				assert.False(t, l.s.jump.Suspect)
			})
		})
	}
}

// TestSetAsideUntilClockTrusted: a store cannot distinguish a clock jump from three weeks without
// a running process, so it keeps old files for 24 hours of running time, counted across restarts.
func TestSetAsideUntilClockTrusted(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newTimeline(t)
		require.Len(t, l.with(filterSuffix), 6)
		l.close(l.s)
		l.jump(l.now.AddDate(0, 0, 21))
		l.start()
		require.Len(t, l.aside(), 7)
		assert.Equal(t, 1, strings.Count(l.log.String(), "level=WARN"), "one line says so:\n%s", l.log.String())
		for _, part := range []string{"set aside", "clock has jumped", "20260306", "clock_was=2026-03-06T12:00:00Z", "clock_is=2026-03-27T12:00:00Z", l.dir} {
			assert.Contains(t, l.log.String(), part)
		}
		l.run(14 * time.Hour)
		l.restart(true) // the running time is saved every ten minutes
		l.run(8 * time.Hour)
		l.jump(l.now.Add(12 * time.Hour)) // too small for a jump, but not counted as running time
		l.run(2*time.Hour - lookEvery)
		require.Len(t, l.aside(), 7, "the clock is still not trusted")
		l.run(lookEvery)
		assert.Empty(t, l.aside())
		assert.Contains(t, l.log.String(), "are deleted")
		l.log.Reset()

		// From here on a day is deleted as soon as it leaves the window.
		for range 8 {
			l.show()
			l.run(aDay)
		}
		l.run(foldAfter + lookEvery)
		assert.Equal(t, []string{
			"20260331.filter", "20260401.filter", "20260402.filter", "20260403.filter", "20260404.filter", "20260405.filter", "20260406.journal",
		}, l.with(""))
		assert.Empty(t, l.log.String())
	})
}

func TestClockSetBackRestartsWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newTimeline(t)
		l.jump(l.now.AddDate(0, 0, 21))
		l.show()
		l.run(foldAfter + lookEvery)
		require.Len(t, l.aside(), 7)
		l.run(23 * time.Hour)
		l.jump(l.now.Add(-2 * time.Hour))
		l.run(23 * time.Hour)
		require.Len(t, l.aside(), 7)
		l.run(time.Hour + lookEvery)
		assert.Empty(t, l.aside())

		l.jump(l.now.Add(-time.Minute))
		l.s.checkClock()
		assert.False(t, l.s.jump.Suspect, "a clock is adjusted now and then")
	})
}

func TestLateCallIsNoClockJump(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newTimeline(t)
		late := l.now.Add(-3 * time.Hour)
		err := l.s.Claim(t.Context(), "u_1", []string{"late"}, late)
		require.NoError(t, err)
		_, err = l.s.Check(t.Context(), "u_1", []string{"late"}, late.AddDate(0, 0, -30))
		require.NoError(t, err)
		assert.False(t, l.s.jump.Suspect)
		assert.Empty(t, l.log.String())
	})
}

func TestIdleDayIsNoClockJump(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newTimeline(t)
		l.run(4 * aDay)
		l.show()
		assert.Empty(t, l.aside())
		assert.Empty(t, l.log.String())
		l.remembers("after four days", l.shown[4:]...)
	})
}

// TestClockJumpOffered checks that an item offered at a time that turns out to be in the future is
// held no longer than any other.
func TestClockJumpOffered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, kill := range []bool{false, true} {
			b := newBench(t, false)
			right := b.now
			b.now = right.AddDate(1, 0, 0)
			s := b.open()
			b.claim(s, "offered")
			b.now = right
			if kill {
				b.kill()
				s = b.open()
			}
			assert.Equal(t, []dedup.Verdict{pends}, b.verdicts(s, "offered"))
			b.now = right.Add(b.cfg.PendingTTL + time.Second)
			assert.Equal(t, []dedup.Verdict{unseen}, b.verdicts(s, "offered"))
		}
	})
}

func TestClockFileUnreadable(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newTimeline(t)
		l.kill()
		require.NoError(t, os.WriteFile(filepath.Join(l.dir, clockName), []byte("{"), 0o600))
		l.jump(l.now.AddDate(0, 0, 21))
		l.start()
		assert.Len(t, l.aside(), 7)
		l.kill()
		require.NoError(t, os.Remove(filepath.Join(l.dir, clockName)))
		l.start()
		assert.True(t, l.s.untrusted(), "files from before the window say so too")
		l.run(aDay)
		assert.Empty(t, l.aside())
	})
}

func TestSetAsideFileDamaged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newTimeline(t)
		right := l.now
		l.jump(right.AddDate(0, 0, 8))
		l.show()
		l.s.checkClock()
		path := filepath.Join(l.dir, "20260303.filter")
		whole, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, whole[:len(whole)-1], 0o600))
		l.jump(right)
		_, err = l.s.Check(t.Context(), "u_1", l.shown, l.now)
		require.ErrorContains(t, err, "stored dedup filter is corrupt")
		require.ErrorIs(t, err, dedup.ErrUnavailable)
		require.NoError(t, os.WriteFile(path, whole, 0o600))
		l.remembers("once it is restored", l.shown...)
	})
}

// TestSetAsideFilesOfOlderVersion checks files under the names that an earlier version gave
// to the files it set aside.
func TestSetAsideFilesOfOlderVersion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newTimeline(t)
		l.kill()
		path := filepath.Join(l.dir, "20260303.filter")
		whole, err := os.ReadFile(path)
		require.NoError(t, err)
		require.NoError(t, os.Rename(path, path+".aside"))
		l.start()
		l.remembers("after the start", l.shown...)
		require.NoError(t, os.WriteFile(path+".aside", whole[:1], 0o600))
		l.restart(true)
		l.remembers("where there is a file of the name, too", l.shown...)
	})
}
