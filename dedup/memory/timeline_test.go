package memory

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// timeline is a bench in a synctest bubble. Its clock advances with the bubble's and can jump; it
// records the groups that were shown.
type timeline struct {
	*bench
	s     *Store
	skew  atomic.Int64 // of the clock, relative to the bubble's
	shown []string
	log   bytes.Buffer
}

// newTimeline returns a store that has run for a week, with one impression a day and one more group
// that is only claimed.
func newTimeline(t *testing.T) *timeline {
	l := &timeline{bench: newBench(t, true)}
	l.jump(l.now.AddDate(0, 0, -6))
	l.start()
	for range 6 {
		l.show()
		l.jump(l.now.AddDate(0, 0, 1))
		l.s.checkClock()
	}
	l.show()
	l.claim(l.s, "claimed")
	l.shown = append(l.shown, "claimed")
	return l
}

func (l *timeline) start() {
	l.t.Helper()
	var err error
	clock := func() time.Time { return time.Now().Add(time.Duration(l.skew.Load())) }
	l.s, err = Open(l.dir, l.cfg, clock, WithLogger(slog.New(slog.NewTextHandler(&l.log, nil))))
	require.NoError(l.t, err)
	s := l.s
	l.t.Cleanup(func() { _ = s.Close(cleanupContext()) })
}

// jump sets the clock.
func (l *timeline) jump(to time.Time) {
	l.now = to
	l.skew.Store(int64(time.Until(to)))
}

// kill continues in a copy of the directory and stops the old store.
func (l *timeline) kill() {
	l.t.Helper()
	l.bench.kill()
	l.close(l.s)
}

// show claims and records a new group.
func (l *timeline) show() {
	l.t.Helper()
	group := fmt.Sprintf("shown_%d", len(l.shown))
	require.Equal(l.t, []dedup.Verdict{unseen}, l.verdicts(l.s, group))
	l.claim(l.s, group)
	l.record(l.s, group)
	require.NoError(l.t, l.s.ClearPending(l.t.Context(), of(group)))
	l.shown = append(l.shown, group)
}

// run lets time pass; the store checks the clock every minute.
func (l *timeline) run(d time.Duration) {
	l.jump(l.now) // for the race detector: everything the test has done happens before the store's checks
	time.Sleep(d)
	synctest.Wait()
	l.now = l.now.Add(d)
}

func (l *timeline) restart(kill bool) {
	l.t.Helper()
	if kill {
		l.kill()
	} else {
		l.close(l.s)
	}
	l.start()
}

// remembers fails the test if anything shown since first would be shown again.
func (l *timeline) remembers(when string, shown ...string) {
	l.t.Helper()
	for i, v := range l.verdicts(l.s, shown...) {
		assert.NotEqual(l.t, unseen, v, "%s is forgotten %s", shown[i], when)
	}
}

// aside lists the files that are older than the window.
func (l *timeline) aside() (names []string) {
	for _, name := range l.files() {
		if f, ok := parseName(name); ok && l.s.outsideWindow(f.day, feed.DayOf(l.now)) {
			names = append(names, name)
		}
	}
	return names
}

// with lists the files with a suffix.
func (l *timeline) with(suffix string) (names []string) {
	for _, name := range l.files() {
		if strings.HasSuffix(name, suffix) {
			names = append(names, name)
		}
	}
	return names
}
