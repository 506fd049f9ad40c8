package jobs_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social/jobs"
)

func TestRunnerRunsMarkedJobs(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.mark(jobs.Deliver, "post:before")
		b.mark(jobs.Erase, "a")
		begin := time.Now()
		b.start(jobs.Config{}, map[jobs.Kind]jobs.Handler{
			jobs.Deliver: {Run: func(_ context.Context, list []jobs.Job) []error {
				b.note(list)
				return nil
			}},
		})
		require.Equal(b, jobs.Completed, b.row(jobs.Deliver, "post:before").State)
		require.Zero(b, time.Since(begin))
		b.mark(jobs.Deliver, "post:after") // marking the job wakes the runner
		require.Equal(b, []string{"deliver post:before", "deliver post:after"}, b.noted())
		require.Less(b, time.Since(begin), poll)
		require.Equal(b, jobs.Completed, b.row(jobs.Deliver, "post:after").State)
		require.Equal(b, jobs.Pending, b.row(jobs.Erase, "a").State, "no handler for its kind")
	})
}

// callCounts is a queue that counts calls.
type callCounts struct {
	jobs.Queue
	leases, completions atomic.Int32
}

func (q *callCounts) Lease(ctx context.Context, n int, d time.Duration, kinds ...jobs.Kind) ([]jobs.Job, error) {
	q.leases.Add(1)
	return q.Queue.Lease(ctx, n, d, kinds...)
}

func (q *callCounts) Done(ctx context.Context, list ...jobs.Job) ([]jobs.State, error) {
	q.completions.Add(1)
	return q.Queue.Done(ctx, list...)
}

// TestRunnerCallsOfQueue checks that jobs which are marked one after the other are leased by one call, and
// completed by one, but that the first after a pause does not wait.
func TestRunnerCallsOfQueue(t *testing.T) {
	inBubble(t, func(b *bench) {
		q := &callCounts{Queue: b.q}
		r := jobs.Start(b.Context(), q, map[jobs.Kind]jobs.Handler{
			jobs.Deliver: {Run: func(_ context.Context, list []jobs.Job) []error {
				b.note(list)
				return nil
			}},
		}, jobs.Config{})
		defer func() { r.Close(context.WithoutCancel(b.Context())) }()
		synctest.Wait()
		require.EqualValues(b, 1, q.leases.Load())
		b.pass(poll / 2)
		const marked = 20
		for n := range marked {
			require.NoError(b, b.q.Enqueue(b.Context(), jobs.Spec{Kind: jobs.Deliver, Key: fmt.Sprint("post:", n)}))
			synctest.Wait()
			if n == 0 {
				require.Len(b, b.noted(), 1, "it does not wait")
			}
			b.pass(3 * time.Millisecond)
		}
		b.pass(2 * gathering)
		require.Len(b, b.noted(), marked)
		require.InDelta(b, 8, q.leases.Load(), 1, "one in each 10 ms")
		require.InDelta(b, 7, q.completions.Load(), 1, "one in each 10 ms")
		for n := range marked {
			require.Equal(b, jobs.Completed, b.row(jobs.Deliver, fmt.Sprint("post:", n)).State)
		}
	})
}

// TestRunnerMarkedWhileRunning checks that a job that is marked while it runs, or waits to be completed, runs again
// without a poll.
func TestRunnerMarkedWhileRunning(t *testing.T) {
	inBubble(t, func(b *bench) {
		release := make(chan struct{})
		b.start(jobs.Config{}, map[jobs.Kind]jobs.Handler{
			jobs.Deliver: {Run: func(_ context.Context, list []jobs.Job) []error {
				b.note(list)
				<-release
				return nil
			}},
		})
		begin := time.Now()
		b.mark(jobs.Deliver, "post:a")
		b.mark(jobs.Deliver, "post:a")
		require.Len(b, b.noted(), 1)
		close(release)
		synctest.Wait()
		require.Len(b, b.noted(), 2, "marked while it ran")
		b.mark(jobs.Deliver, "post:a") // it waits to be completed
		b.pass(gathering)
		require.Len(b, b.noted(), 3, "marked while it waited to be completed")
		b.pass(gathering)
		require.Equal(b, jobs.Completed, b.row(jobs.Deliver, "post:a").State)
		require.Less(b, time.Since(begin), poll)
	})
}

// TestCloseCompletes checks that Close completes the jobs that are done, without waiting for others.
func TestCloseCompletes(t *testing.T) {
	inBubble(t, func(b *bench) {
		ready := map[string]chan struct{}{"post:a": make(chan struct{}), "post:b": make(chan struct{})}
		r := jobs.Start(b.Context(), b.q, map[jobs.Kind]jobs.Handler{
			jobs.Deliver: {Run: func(_ context.Context, list []jobs.Job) []error {
				<-ready[list[0].Key]
				return nil
			}},
		}, jobs.Config{})
		b.mark(jobs.Deliver, "post:a", "post:b")
		close(ready["post:a"])
		synctest.Wait()
		require.Equal(b, jobs.Completed, b.row(jobs.Deliver, "post:a").State)
		close(ready["post:b"])
		synctest.Wait()
		require.Equal(b, jobs.Running, b.row(jobs.Deliver, "post:b").State, "it waits for others that are done")
		begin := time.Now()
		r.Close(b.Context())
		require.Zero(b, time.Since(begin))
		require.Equal(b, jobs.Completed, b.row(jobs.Deliver, "post:b").State)
	})
}

// TestRunnerPolls checks that the runner finds a job that becomes due with its next poll, as
// nothing wakes it.
func TestRunnerPolls(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.start(jobs.Config{}, map[jobs.Kind]jobs.Handler{
			jobs.Author: {Run: func(context.Context, []jobs.Job) []error { return nil }},
		})
		b.pass(100 * time.Millisecond)
		require.NoError(b, b.q.Enqueue(b.Context(), jobs.Spec{Kind: jobs.Author, Key: "a", After: time.Minute}))
		b.pass(time.Minute + poll - 100*time.Millisecond - 1)
		require.Equal(b, jobs.Pending, b.row(jobs.Author, "a").State)
		b.pass(1)
		require.Equal(b, jobs.Completed, b.row(jobs.Author, "a").State)
	})
}

// TestRunnerSweepRepeats checks that a sweep repeats until no expired row is left when
// there are more than one call removes, and that sweeps run at their interval.
func TestRunnerSweepRepeats(t *testing.T) {
	inBubble(t, func(b *bench) {
		var rows []jobs.Spec
		for i := range 2500 {
			rows = append(rows, jobs.Spec{Kind: jobs.Deliver, Key: fmt.Sprintf("post:%d", i)})
		}
		require.NoError(b, b.q.Enqueue(b.Context(), rows...))
		list, err := b.q.Lease(b.Context(), len(rows), time.Minute)
		require.NoError(b, err)
		_, err = b.q.Done(b.Context(), list...)
		require.NoError(b, err)
		b.pass(jobs.CompletedTTL)
		q := &counted{Queue: b.q}
		r := jobs.Start(b.Context(), q, nil, jobs.Config{})
		defer r.Close(b.Context())
		b.pass(10*time.Second - 1)
		require.Empty(b, q.swept())
		b.pass(1)
		require.Equal(b, []int{1000, 1000, 500}, q.swept())
		left, err := b.q.List(b.Context(), jobs.Filter{Limit: 1})
		require.NoError(b, err)
		require.Empty(b, left)
		b.pass(10 * time.Second)
		require.Len(b, q.swept(), 4)
	})
}

// counted is a queue that records the number of rows each sweep removed.
type counted struct {
	jobs.Queue
	mu     sync.Mutex
	sweeps []int
}

func (c *counted) swept() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.sweeps)
}

func (c *counted) Sweep(ctx context.Context, n int) (int, error) {
	n, err := c.Queue.Sweep(ctx, n)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sweeps = append(c.sweeps, n)
	return n, err
}

// TestQueueMetricsOnEveryServer checks that a server measures the queue whether it runs jobs or
// not, and reports its number of workers.
func TestQueueMetricsOnEveryServer(t *testing.T) {
	inBubble(t, func(b *bench) {
		require.NoError(b, b.q.Enqueue(b.Context(), jobs.Spec{Kind: jobs.Deliver, Key: "post:a"}))
		ctx, stop := context.WithCancel(b.Context())
		var watch sync.WaitGroup
		watch.Go(func() { jobs.Watch(ctx, b.q, 10*time.Second, slog.New(slog.DiscardHandler)) })
		b.pass(time.Minute)
		require.Equal(b, 60.0, gauge(b.T, "freshet_jobs_oldest_seconds"))
		require.Equal(b, 0.0, gauge(b.T, "freshet_jobs_workers"), "no workers")
		r := jobs.Start(b.Context(), b.q, nil, jobs.Config{Workers: 3})
		require.Equal(b, 3.0, gauge(b.T, "freshet_jobs_workers"))
		r.Close(b.Context())
		require.Equal(b, 0.0, gauge(b.T, "freshet_jobs_workers"))
		stop()
		watch.Wait()
	})
}

func gauge(t *testing.T, name string) float64 {
	t.Helper()
	families, err := prometheus.DefaultGatherer.Gather()
	require.NoError(t, err)
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("there is no %s", name)
	return 0
}

// ended returns the number of attempts of a kind that the metric counts, by result.
func ended(t *testing.T, kind jobs.Kind) map[string]uint64 {
	t.Helper()
	families, err := prometheus.DefaultGatherer.Gather()
	require.NoError(t, err)
	attempts := map[string]uint64{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "freshet_jobs_seconds" && m.GetLabel()[0].GetValue() == string(kind) {
				attempts[m.GetLabel()[1].GetValue()] = m.GetHistogram().GetSampleCount()
			}
		}
	}
	return attempts
}

func TestRunnerBatches(t *testing.T) {
	before := ended(t, jobs.Index)
	inBubble(t, func(b *bench) {
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
		b.pass(gathering)
		require.Len(b, b.noted(), 25, "all have run once")
		require.LessOrEqual(b, slices.Max(sizes), 10)
		require.Len(b, sizes, 3)
		list, err := b.q.List(b.Context(), jobs.Filter{State: jobs.Failed})
		require.NoError(b, err)
		require.Len(b, list, 3)
		after := ended(t, jobs.Index)
		require.Equal(b, before["completed"]+22, after["completed"])
		require.Equal(b, before["failed"]+3, after["failed"])
	})
}

func TestRunnerWorkerLimit(t *testing.T) {
	inBubble(t, func(b *bench) {
		release := make(chan struct{})
		var mu sync.Mutex
		busy, most := 0, 0
		b.start(jobs.Config{Workers: 3}, map[jobs.Kind]jobs.Handler{
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
		b.pass(time.Minute) // leases are renewed and the queue is polled
		require.Equal(b, 3, busy)
		close(release)
		synctest.Wait()
		require.Len(b, b.noted(), 10, "a free worker takes the next job at once")
		require.Equal(b, 3, most)
	})
}

func TestRunnerRetriesUntilDead(t *testing.T) {
	for name, fail := range map[string]func() []error{
		"an error":           func() []error { return []error{errors.New("broken")} },
		"a panic":            func() []error { panic("broken") },
		"an answer too many": func() []error { return make([]error, 2) },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bench) {
				b.mark(jobs.Deliver, "post:a")
				b.start(jobs.Config{}, map[jobs.Kind]jobs.Handler{
					jobs.Deliver: {Run: func(_ context.Context, list []jobs.Job) []error {
						b.note(list)
						return fail()
					}},
				})
				for i := 1; i < jobs.MaxAttempts; i++ {
					j := b.row(jobs.Deliver, "post:a")
					require.Equal(b, jobs.Failed, j.State)
					require.Equal(b, i, j.Attempts)
					b.untilRunAgain(jobs.Delay(i, 0), jobs.Delay(i, 1)+poll)
				}
				j := b.row(jobs.Deliver, "post:a")
				require.Equal(b, jobs.Dead, j.State)
				require.NotEmpty(b, j.Error)
				b.pass(time.Hour)
				require.Len(b, b.noted(), jobs.MaxAttempts)
			})
		})
	}
}

func TestRunnerDependencyDown(t *testing.T) {
	inBubble(t, func(b *bench) {
		down := true
		b.mark(jobs.Deliver, "post:a")
		b.start(jobs.Config{Workers: 1}, map[jobs.Kind]jobs.Handler{
			jobs.Deliver: {Run: func(_ context.Context, list []jobs.Job) []error {
				b.note(list)
				if down {
					return []error{fmt.Errorf("redis: %w", jobs.ErrWait)}
				}
				return nil
			}},
			jobs.AuthorAgent: {Run: func(context.Context, []jobs.Job) []error { return nil }},
		})
		for i := 1; i <= 2*jobs.MaxAttempts; i++ {
			require.Len(b, b.noted(), i)
			require.Equal(b, jobs.Failed, b.row(jobs.Deliver, "post:a").State)
			// For a second no other job of its kind is tried, while those of another kind are.
			begin := time.Now()
			b.mark(jobs.Deliver, "post:b")
			b.mark(jobs.AuthorAgent, "a/b")
			require.Equal(b, jobs.Completed, b.row(jobs.AuthorAgent, "a/b").State)
			b.pass(time.Second - 1 - time.Since(begin))
			require.Equal(b, jobs.Pending, b.row(jobs.Deliver, "post:b").State)
			require.NoError(b, b.q.Drop(b.Context(), b.row(jobs.Deliver, "post:b").ID))
			b.untilRunAgain(jobs.WaitDelay(0)-time.Second+1, jobs.WaitDelay(1)-time.Second+poll)
		}
		down = false
		b.untilRunAgain(jobs.WaitDelay(0), jobs.WaitDelay(1)+poll)
		require.Equal(b, jobs.Completed, b.row(jobs.Deliver, "post:a").State)
	})
}

func TestRunnerRenewsLeases(t *testing.T) {
	inBubble(t, func(b *bench) {
		release := make(chan struct{})
		b.mark(jobs.Deliver, "post:a")
		const lease = 30 * time.Second
		b.start(jobs.Config{}, map[jobs.Kind]jobs.Handler{
			jobs.Deliver: {Run: func(context.Context, []jobs.Job) []error {
				<-release
				return nil
			}},
		})
		till := func() time.Duration { return time.Until(b.row(jobs.Deliver, "post:a").LeasedTill) }
		require.Equal(b, jobs.Running, b.row(jobs.Deliver, "post:a").State)
		require.Equal(b, lease, till())
		for range 3 {
			b.pass(lease/3 - time.Millisecond)
			require.Equal(b, lease-lease/3+time.Millisecond, till())
			b.pass(time.Millisecond)
			require.Equal(b, lease, till(), "it is renewed when a third is over")
		}
		close(release)
		synctest.Wait()
		require.Equal(b, jobs.Completed, b.row(jobs.Deliver, "post:a").State)
		require.Equal(b, 1, b.row(jobs.Deliver, "post:a").Attempts)
	})
}

// losing is a queue that loses some answers: the call took effect, but its caller gets an error.
type losing struct {
	jobs.Queue
	mu          sync.Mutex
	lease, done int // how many answers to lose
}

var errLost = errors.New("the answer is lost")

func (q *losing) lose(n *int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	*n--
	return *n >= 0
}

func (q *losing) Lease(ctx context.Context, n int, d time.Duration, kinds ...jobs.Kind) ([]jobs.Job, error) {
	list, err := q.Queue.Lease(ctx, n, d, kinds...)
	if len(list) > 0 && q.lose(&q.lease) {
		return nil, errLost
	}
	return list, err
}

// Done loses the call instead of its answer: the jobs stay leased.
func (q *losing) Done(ctx context.Context, list ...jobs.Job) ([]jobs.State, error) {
	if q.lose(&q.done) {
		return nil, errLost
	}
	return q.Queue.Done(ctx, list...)
}

// TestRunnerReclaimsUnknownLeases checks that a job leased by a call with a lost answer, or
// one that could not be completed, runs again before its lease expires, and that lists count as
// late until it is done. A running job stays leased.
func TestRunnerReclaimsUnknownLeases(t *testing.T) {
	for name, lost := range map[string]*losing{"lease": {lease: 1}, "completion": {done: 1}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bench) {
				lost.Queue = b.q
				release, late := make(chan struct{}), 0
				r := jobs.Start(b.Context(), lost, map[jobs.Kind]jobs.Handler{
					jobs.Deliver: {Run: func(_ context.Context, list []jobs.Job) []error {
						b.note(list)
						return nil
					}},
					jobs.Erase: {Run: func(context.Context, []jobs.Job) []error {
						<-release
						return nil
					}},
				}, jobs.Config{ListsUnreachable: func() { late++ }})
				defer r.Close(b.Context())
				defer close(release)
				lost.mu.Lock()
				leases := lost.lease
				lost.lease = 0
				lost.mu.Unlock()
				b.mark(jobs.Erase, "runs")
				lost.mu.Lock()
				lost.lease = leases
				lost.mu.Unlock()
				b.mark(jobs.Deliver, "post:a")
				b.pass(poll)
				require.Equal(b, jobs.Completed, b.row(jobs.Deliver, "post:a").State, "at the next poll of the queue")
				require.Positive(b, late)
				running := b.row(jobs.Erase, "runs")
				require.Equal(b, jobs.Running, running.State)
				require.Equal(b, int64(1), running.Lease, "its lease was not released")
			})
		})
	}
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
	require.Len(t, long, jobs.MaxReason-1, "no partial character")
}
