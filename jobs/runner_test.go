package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/freshet/freshet/jobs"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bench is a queue and what its handlers have seen.
type bench struct {
	*testing.T
	q    *sqlite.Store
	mu   sync.Mutex
	now  time.Time
	seen []string
}

func newBench(t *testing.T) *bench {
	b := &bench{T: t, now: time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)}
	var err error
	b.q, err = sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "social.db"), social.Options{Clock: b.clock})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, b.q.Close()) })
	return b
}

func (b *bench) clock() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.now
}

func (b *bench) pass(d time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.now = b.now.Add(d)
}

// note remembers what a handler was given.
func (b *bench) note(list []jobs.Job) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, j := range list {
		b.seen = append(b.seen, string(j.Kind)+" "+j.Key)
	}
}

func (b *bench) noted() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.seen)
}

func (b *bench) start(cfg jobs.Config, handlers map[jobs.Kind]jobs.Handler) *jobs.Runner {
	cfg.Clock = b.clock
	r := jobs.Start(b.Context(), b.q, handlers, cfg)
	b.Cleanup(func() { r.Close(context.WithoutCancel(b.Context())) })
	return r
}

func (b *bench) mark(kind jobs.Kind, keys ...string) {
	b.Helper()
	for _, k := range keys {
		require.NoError(b, b.q.Mark(b.Context(), jobs.Dirty{Kind: kind, Key: k}))
	}
}

func (b *bench) row(kind jobs.Kind, key string) jobs.Job {
	list, err := b.q.List(context.WithoutCancel(b.Context()), jobs.Filter{Kind: kind, Key: key})
	if err != nil || len(list) != 1 {
		b.Errorf("%v %d", err, len(list))
		return jobs.Job{}
	}
	return list[0]
}

// await waits until a condition holds.
func (b *bench) await(what string, holds func() bool) {
	b.Helper()
	require.Eventually(b, holds, time.Minute, time.Millisecond, what)
}

func (b *bench) awaitState(kind jobs.Kind, key string, s jobs.State) {
	b.Helper()
	b.await(fmt.Sprintf("%s %s is %s", kind, key, s), func() bool { return b.row(kind, key).State == s })
}

func TestRunnerRunsWhatIsMarked(t *testing.T) {
	b := newBench(t)
	b.mark(jobs.Deliver, "post:before")
	b.mark(jobs.Erase, "a")
	b.start(jobs.Config{Poll: time.Hour}, map[jobs.Kind]jobs.Handler{
		jobs.Deliver: {Run: func(_ context.Context, list []jobs.Job) []error {
			b.note(list)
			return nil
		}},
	})
	b.awaitState(jobs.Deliver, "post:before", jobs.Completed)
	b.mark(jobs.Deliver, "post:after") // the poll is an hour away: the change wakes it
	b.awaitState(jobs.Deliver, "post:after", jobs.Completed)
	require.Equal(t, []string{"deliver post:before", "deliver post:after"}, b.noted())
	require.Equal(t, jobs.Pending, b.row(jobs.Erase, "a").State, "nobody handles its kind")
}

func TestRunnerPolls(t *testing.T) {
	b := newBench(t)
	b.start(jobs.Config{Poll: time.Millisecond}, map[jobs.Kind]jobs.Handler{
		jobs.Author: {Run: func(context.Context, []jobs.Job) []error { return nil }},
	})
	require.NoError(t, b.q.Mark(t.Context(), jobs.Dirty{Kind: jobs.Author, Key: "a", After: time.Minute}))
	b.pass(time.Minute)
	b.awaitState(jobs.Author, "a", jobs.Completed)
}

// TestRunnerSweepsUntilNothingIsOver has more completed rows than are removed at
// once, and counts once only.
func TestRunnerSweepsUntilNothingIsOver(t *testing.T) {
	b := newBench(t)
	var rows []jobs.Dirty
	for i := range 2500 {
		rows = append(rows, jobs.Dirty{Kind: jobs.Deliver, Key: fmt.Sprintf("post:%d", i)})
	}
	require.NoError(t, b.q.Mark(t.Context(), rows...))
	list, err := b.q.Lease(t.Context(), len(rows), time.Minute)
	require.NoError(t, err)
	_, err = b.q.DoneAll(t.Context(), list)
	require.NoError(t, err)
	b.pass(jobs.CompletedLives)
	q := &counted{Queue: b.q}
	r := jobs.Start(t.Context(), q, nil, jobs.Config{Measure: time.Millisecond, Clock: b.clock})
	b.await("nothing is left", func() bool {
		left, err := b.q.List(context.WithoutCancel(t.Context()), jobs.Filter{Limit: 1})
		return err == nil && len(left) == 0
	})
	r.Close(context.WithoutCancel(t.Context()))
	require.GreaterOrEqual(t, q.sweeps[0]+q.sweeps[1]+q.sweeps[2], 2500, "the first count was followed by all of it")
	require.Less(t, slices.Max(q.sweeps), 2500, "but not at once")
}

// counted is a queue that notes what each sweep has removed.
type counted struct {
	jobs.Queue
	sweeps []int
}

func (c *counted) Sweep(ctx context.Context, n int) (int, error) {
	n, err := c.Queue.Sweep(ctx, n)
	c.sweeps = append(c.sweeps, n)
	return n, err
}

func TestRunnerBatches(t *testing.T) {
	b := newBench(t)
	for i := range 25 {
		b.mark(jobs.Index, fmt.Sprintf("post:%d", i))
	}
	var mu sync.Mutex
	var sizes []int
	b.start(jobs.Config{Workers: 2}, map[jobs.Kind]jobs.Handler{
		jobs.Index: {Batch: 10, Run: func(_ context.Context, list []jobs.Job) []error {
			mu.Lock()
			defer mu.Unlock()
			sizes = append(sizes, len(list))
			b.note(list)
			errs := make([]error, len(list))
			errs[0] = errors.New("one of them")
			return errs
		}},
	})
	b.await("all have run once", func() bool { return len(b.noted()) == 25 })
	mu.Lock()
	defer mu.Unlock()
	require.LessOrEqual(t, slices.Max(sizes), 10)
	require.Len(t, sizes, 3)
	b.await("three have failed", func() bool {
		list, err := b.q.List(t.Context(), jobs.Filter{State: jobs.Failed})
		return err == nil && len(list) == 3
	})
}

func TestRunnerNeverRunsMoreThanItsWorkers(t *testing.T) {
	b := newBench(t)
	release := make(chan struct{})
	var mu sync.Mutex
	busy, most := 0, 0
	b.start(jobs.Config{Workers: 3, Poll: time.Millisecond}, map[jobs.Kind]jobs.Handler{
		jobs.Deliver: {Run: func(_ context.Context, list []jobs.Job) []error {
			mu.Lock()
			busy++
			most = max(most, busy)
			mu.Unlock()
			<-release
			mu.Lock()
			busy--
			mu.Unlock()
			b.note(list)
			return nil
		}},
	})
	for i := range 10 {
		b.mark(jobs.Deliver, fmt.Sprintf("post:%d", i))
	}
	b.await("three run", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return busy == 3
	})
	close(release)
	b.await("all have run", func() bool { return len(b.noted()) == 10 })
	require.Equal(t, 3, most)
}

func TestRunnerMarkedMeanwhileRunsAgain(t *testing.T) {
	b := newBench(t)
	first := make(chan struct{})
	b.start(jobs.Config{}, map[jobs.Kind]jobs.Handler{
		jobs.Deliver: {Run: func(_ context.Context, list []jobs.Job) []error {
			if len(b.noted()) == 0 {
				<-first
			}
			b.note(list)
			return nil
		}},
	})
	b.mark(jobs.Deliver, "post:a")
	b.awaitState(jobs.Deliver, "post:a", jobs.Running)
	b.mark(jobs.Deliver, "post:a")
	close(first)
	b.await("it has run twice", func() bool { return len(b.noted()) == 2 })
	b.awaitState(jobs.Deliver, "post:a", jobs.Completed)
}

func TestRunnerRetriesAndBuries(t *testing.T) {
	for name, fail := range map[string]func() []error{
		"an error":           func() []error { return []error{errors.New("broken")} },
		"a panic":            func() []error { panic("broken") },
		"an answer too many": func() []error { return make([]error, 2) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.mark(jobs.Deliver, "post:a")
			b.start(jobs.Config{Poll: time.Millisecond}, map[jobs.Kind]jobs.Handler{
				jobs.Deliver: {Run: func(_ context.Context, list []jobs.Job) []error {
					b.note(list)
					return fail()
				}},
			})
			for i := 1; i < jobs.MaxAttempts; i++ {
				b.await("it has failed", func() bool {
					j := b.row(jobs.Deliver, "post:a")
					return j.State == jobs.Failed && j.Attempts == i
				})
				b.pass(time.Hour)
			}
			b.awaitState(jobs.Deliver, "post:a", jobs.Dead)
			require.NotEmpty(t, b.row(jobs.Deliver, "post:a").Error)
			require.Len(t, b.noted(), jobs.MaxAttempts)
		})
	}
}

func TestRunnerWaitsForWhatIsDown(t *testing.T) {
	b := newBench(t)
	var mu sync.Mutex
	down := true
	b.mark(jobs.Deliver, "post:a")
	b.start(jobs.Config{Poll: time.Millisecond, Workers: 1}, map[jobs.Kind]jobs.Handler{
		jobs.Deliver: {Run: func(_ context.Context, list []jobs.Job) []error {
			mu.Lock()
			defer mu.Unlock()
			b.note(list)
			if down {
				return []error{fmt.Errorf("redis: %w", jobs.ErrWait)}
			}
			return nil
		}},
		jobs.Pair: {Run: func(context.Context, []jobs.Job) []error { return nil }},
	})
	for i := 1; i <= 2*jobs.MaxAttempts; i++ {
		b.await("it has waited", func() bool { return len(b.noted()) == i && b.row(jobs.Deliver, "post:a").State == jobs.Failed })
		// The others of its kind are not even tried, those of another kind are.
		b.mark(jobs.Deliver, "post:b")
		b.mark(jobs.Pair, "a/b")
		b.awaitState(jobs.Pair, "a/b", jobs.Completed)
		require.Equal(t, jobs.Pending, b.row(jobs.Deliver, "post:b").State)
		require.NoError(t, b.q.Drop(t.Context(), b.row(jobs.Deliver, "post:b").ID))
		b.pass(10 * time.Second)
	}
	mu.Lock()
	down = false
	mu.Unlock()
	b.await("it is back", func() bool {
		b.pass(time.Second)
		return b.row(jobs.Deliver, "post:a").State == jobs.Completed
	})
}

func TestRunnerRenewsLeases(t *testing.T) {
	b := newBench(t)
	release := make(chan struct{})
	b.mark(jobs.Deliver, "post:a")
	b.start(jobs.Config{Lease: 30 * time.Millisecond}, map[jobs.Kind]jobs.Handler{
		jobs.Deliver: {Run: func(context.Context, []jobs.Job) []error {
			<-release
			return nil
		}},
	})
	b.awaitState(jobs.Deliver, "post:a", jobs.Running)
	till := b.row(jobs.Deliver, "post:a").LeasedTill
	for range 3 {
		b.pass(20 * time.Millisecond)
		b.await("it is renewed", func() bool { return b.row(jobs.Deliver, "post:a").LeasedTill.After(till) })
		till = b.row(jobs.Deliver, "post:a").LeasedTill
	}
	close(release)
	b.awaitState(jobs.Deliver, "post:a", jobs.Completed)
	require.Equal(t, 1, b.row(jobs.Deliver, "post:a").Attempts)
}

func TestCloseLetsThemEnd(t *testing.T) {
	b := newBench(t)
	started, release := make(chan struct{}), make(chan struct{})
	r := b.start(jobs.Config{Workers: 1}, map[jobs.Kind]jobs.Handler{
		jobs.Deliver: {Run: func(context.Context, []jobs.Job) []error {
			close(started)
			<-release
			return nil
		}},
	})
	b.mark(jobs.Deliver, "post:a", "post:b")
	<-started
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		r.Close(t.Context())
	}()
	close(release)
	<-closed
	require.Equal(t, jobs.Completed, b.row(jobs.Deliver, "post:a").State)
	require.Equal(t, jobs.Pending, b.row(jobs.Deliver, "post:b").State, "no more are taken")
	r.Close(t.Context()) // twice does no harm
}

func TestCloseGivesBackWhatDoesNotEnd(t *testing.T) {
	b := newBench(t)
	started := make(chan struct{}, 1)
	r := b.start(jobs.Config{}, map[jobs.Kind]jobs.Handler{
		jobs.Deliver: {Run: func(ctx context.Context, _ []jobs.Job) []error {
			started <- struct{}{}
			<-ctx.Done()
			return []error{ctx.Err()}
		}},
	})
	b.mark(jobs.Deliver, "post:a")
	<-started
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r.Close(ctx)
	j := b.row(jobs.Deliver, "post:a")
	require.Equal(t, jobs.Pending, j.State)
	require.Zero(t, j.Attempts, "as if it had not been leased")
}

func TestRunnerSurvivesTheQueue(t *testing.T) {
	b := newBench(t)
	ran := make(chan struct{})
	r := b.start(jobs.Config{Poll: time.Millisecond}, map[jobs.Kind]jobs.Handler{
		jobs.Deliver: {Run: func(context.Context, []jobs.Job) []error {
			require.NoError(t, b.q.Close())
			close(ran)
			return nil
		}},
	})
	b.mark(jobs.Deliver, "post:a")
	<-ran
	r.Close(t.Context())
}

func TestDelay(t *testing.T) {
	require.Equal(t, 500*time.Millisecond, jobs.Delay(1, 0))
	require.Equal(t, 750*time.Millisecond, jobs.Delay(1, 0.5))
	require.Equal(t, 4*time.Second, jobs.Delay(4, 0))
	for n := 1; n < 100; n++ {
		d := jobs.Delay(n, 0.999)
		require.LessOrEqual(t, d, 10*time.Minute)
		require.GreaterOrEqual(t, d, jobs.Delay(n, 0))
		require.GreaterOrEqual(t, jobs.Delay(n+1, 0), jobs.Delay(n, 0))
	}
	require.Less(t, jobs.WaitDelay(0.9), jobs.Overdue)
}

func TestPriorityFor(t *testing.T) {
	last := jobs.PrioritySoon
	for _, n := range []int64{0, 2, 100, 10_000, 1 << 62} {
		p := jobs.PriorityFor(n)
		require.Greater(t, p, last, n)
		require.Less(t, p, jobs.PriorityLater)
		last = p
	}
}

func TestPairs(t *testing.T) {
	a, b, err := jobs.SplitPair(jobs.PairKey("@server", "x.y"))
	require.NoError(t, err)
	require.Equal(t, []string{"@server", "x.y"}, []string{a, b})
	for _, key := range []string{"", "a", "/a", "a/"} {
		_, _, err := jobs.SplitPair(key)
		require.Error(t, err, key)
	}
	require.Equal(t, "aé", jobs.Clip("aé"))
	long := jobs.Clip(string(append(make([]byte, jobs.MaxReason-1), "é"...)))
	require.Len(t, long, jobs.MaxReason-1, "no half character")
}
