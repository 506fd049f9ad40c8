package jobstest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social/jobs"
)

func operators(e *env) {
	for i := range 5 {
		e.mark(deliver(key(i)))
	}
	e.mark(jobs.Spec{Kind: jobs.Index, Key: key(0)})
	all, err := e.q.List(e.ctx, jobs.Filter{})
	require.NoError(e.t, err)
	require.Len(e.t, all, 6)
	two, err := e.q.List(e.ctx, jobs.Filter{Kind: jobs.Deliver, After: all[1].ID, Limit: 2})
	require.NoError(e.t, err)
	require.Equal(e.t, []string{key(2), key(3)}, keys(two))
	j := e.lease(1, jobs.Index)[0]
	running, err := e.q.List(e.ctx, jobs.Filter{State: jobs.Running})
	require.NoError(e.t, err)
	require.Equal(e.t, []int64{j.ID}, []int64{running[0].ID})

	require.NoError(e.t, e.q.Retry(e.ctx, j.ID))
	require.True(e.t, e.done(j), "a running job runs again")
	require.NoError(e.t, e.q.Drop(e.ctx, all[0].ID))
	require.ErrorIs(e.t, e.q.Drop(e.ctx, all[0].ID), feed.ErrNotFound)
	require.ErrorIs(e.t, e.q.Retry(e.ctx, all[0].ID), feed.ErrNotFound)
	for _, j := range e.lease(10) {
		e.done(j)
	}
	e.mark(deliver("post:dead"))
	e.kill("post:dead")
	require.NoError(e.t, e.q.Retry(e.ctx, e.row(jobs.Deliver, "post:dead").ID))
	require.Equal(e.t, 1, e.one().Attempts)
}

func stats(e *env) {
	st, err := e.q.Stats(e.ctx)
	require.NoError(e.t, err)
	require.Empty(e.t, st.Rows)
	require.Zero(e.t, st.Oldest)
	e.mark(deliver("post:a"), deliver("post:b"), jobs.Spec{Kind: jobs.Count, Key: "post:a", After: time.Hour})
	e.pass(time.Minute)
	st, err = e.q.Stats(e.ctx)
	require.NoError(e.t, err)
	require.ElementsMatch(e.t, []jobs.Rows{{Kind: jobs.Deliver, State: jobs.Pending, N: 2}, {Kind: jobs.Count, State: jobs.Pending, N: 1}}, st.Rows)
	require.Equal(e.t, time.Minute, st.Oldest)
	require.Equal(e.t, time.Minute, st.OldestOfLists)
	list := e.lease(2)
	st, err = e.q.Stats(e.ctx)
	require.NoError(e.t, err)
	require.Equal(e.t, time.Minute, st.Oldest, "a running job is not completed")
	for _, j := range list {
		e.done(j)
	}
	st, err = e.q.Stats(e.ctx)
	require.NoError(e.t, err)
	require.Equal(e.t, []jobs.Rows{{Kind: jobs.Count, State: jobs.Pending, N: 1}}, st.Rows, "completed jobs are not counted")
	require.Zero(e.t, st.Oldest, "jobs scheduled for later are not due")
	e.pass(2 * time.Hour)
	st, err = e.q.Stats(e.ctx)
	require.NoError(e.t, err)
	require.Equal(e.t, time.Hour+time.Minute, st.Oldest)
	require.Zero(e.t, st.OldestOfLists, "counts do not affect lists")
}

// listsWaitFor checks which kinds and priorities each age includes, and that backoff counts but
// rows for later do not.
func listsWaitFor(e *env) {
	ages := func() jobs.Ages {
		a, err := e.q.Ages(e.ctx)
		require.NoError(e.t, err)
		return a
	}
	e.mark(jobs.Spec{Kind: jobs.Export, Key: "a"})
	e.pass(time.Second)
	require.Equal(e.t, jobs.Ages{}, ages(), "an export may take long")
	for _, kind := range []jobs.Kind{jobs.Index, jobs.Count, jobs.Images, jobs.Erase} {
		require.False(e.t, kind.OfLists())
		e.mark(jobs.Spec{Kind: kind, Key: "post:a"})
	}
	e.mark(jobs.Spec{Kind: jobs.Author, Key: "a", After: time.Minute})
	e.pass(time.Second)
	require.Equal(e.t, jobs.Ages{Oldest: time.Second}, ages(), "lists do not depend on these, nor on jobs scheduled for later")
	e.mark(deliver("post:a"))
	j := e.lease(1, jobs.Deliver)[0]
	_, err := e.q.Fail(e.ctx, j, jobs.Failure{Reason: "x", After: time.Hour})
	require.NoError(e.t, err)
	e.pass(time.Second)
	require.Equal(e.t, jobs.Ages{Oldest: 2 * time.Second, OldestOfLists: time.Second, OldestMissing: time.Second}, ages(), "a backoff hides nothing")
	e.pass(time.Minute)
	require.Equal(e.t, time.Minute+time.Second, ages().OldestOfLists)
	e.pass(time.Hour)
	for _, j := range e.lease(20) {
		e.done(j)
	}
	e.mark(jobs.Spec{Kind: jobs.AuthorAgent, Key: "a/b", Priority: jobs.PriorityLeftover})
	e.pass(time.Second)
	require.Equal(e.t, jobs.Ages{Oldest: time.Second}, ages(), "a leftover affects no response")
	e.mark(jobs.Spec{Kind: jobs.AuthorAgent, Key: "a/c", Priority: jobs.PriorityRemoval})
	e.pass(time.Second)
	require.Equal(e.t, jobs.Ages{Oldest: 2 * time.Second, OldestOfLists: time.Second}, ages())
	e.mark(jobs.Spec{Kind: jobs.AuthorAgent, Key: "a/d", Priority: jobs.PriorityUpkeep})
	e.pass(time.Second)
	require.Equal(e.t, jobs.Ages{Oldest: 3 * time.Second, OldestOfLists: 2 * time.Second, OldestMissing: time.Second}, ages())
}

func sweep(e *env) {
	for i := range 3 {
		e.mark(deliver(key(i)))
	}
	for _, j := range e.lease(2) {
		e.done(j)
	}
	e.pass(jobs.CompletedTTL - time.Second)
	n, err := e.q.Sweep(e.ctx, 100)
	require.NoError(e.t, err)
	require.Zero(e.t, n)
	e.pass(time.Second)
	n, err = e.q.Sweep(e.ctx, 1)
	require.NoError(e.t, err)
	require.Equal(e.t, 1, n)
	n, err = e.q.Sweep(e.ctx, 100)
	require.NoError(e.t, err)
	require.Equal(e.t, 1, n)
	left, err := e.q.List(e.ctx, jobs.Filter{})
	require.NoError(e.t, err)
	require.Equal(e.t, []string{key(2)}, keys(left))
}

// keepsNothing checks a queue that retains no completed rows: Again still marks running rows.
func keepsNothing(e *env) {
	for _, kind := range jobs.Kinds() {
		e.mark(jobs.Spec{Kind: kind, Key: "post:a"})
	}
	for _, j := range e.lease(20) {
		require.False(e.t, e.done(j))
	}
	left, err := e.q.List(e.ctx, jobs.Filter{})
	require.NoError(e.t, err)
	require.Empty(e.t, left)
	e.mark(deliver("post:a"))
	running := e.one()
	n, err := e.q.Reenqueue(e.ctx, e.now.Add(-time.Minute), jobs.Kinds()...)
	require.NoError(e.t, err)
	require.Equal(e.t, 1, n)
	require.True(e.t, e.done(running))
	require.False(e.t, e.done(e.one()))
}

func notified(e *env) {
	e.mark(deliver("post:a"))
	<-e.q.Notify()
	j := e.one()
	e.mark(deliver("post:a"))
	<-e.q.Notify()
	require.True(e.t, e.done(j))
	<-e.q.Notify() // it runs again
}

// manyWorkers lets workers compete for rows that are marked concurrently. Each row has one lease
// at a time, and a run sees the last mark of each.
func manyWorkers(e *env) {
	const workers, rows, marks = 8, 20, 5
	var mu sync.Mutex
	running := map[string]bool{}
	truth, seen := map[string]int{}, map[string]int{}
	var group sync.WaitGroup
	stop := make(chan struct{})
	for range workers {
		group.Go(func() {
			for last := false; ; {
				list, err := e.q.Lease(e.ctx, 3, time.Hour)
				if !assert.NoError(e.t, err) {
					return
				}
				for _, j := range list {
					mu.Lock()
					assert.False(e.t, running[j.Key], "%s is leased twice", j.Key)
					running[j.Key] = true
					seen[j.Key] = truth[j.Key]
					running[j.Key] = false
					mu.Unlock()
					if ends, err := e.q.Done(e.ctx, j); !assert.NoError(e.t, err) || !assert.NotEqual(e.t, jobs.Lost, ends[0]) {
						return
					}
				}
				if len(list) > 0 {
					continue
				}
				if last {
					return
				}
				select {
				case <-stop:
					last = true // one more lease, for rows marked since this one
				case <-time.After(time.Millisecond):
				}
			}
		})
	}
	var marking sync.WaitGroup
	for range 4 {
		marking.Go(func() {
			for i := range marks * rows {
				k := key(i % rows)
				mu.Lock()
				truth[k]++
				mu.Unlock()
				if !assert.NoError(e.t, e.q.Enqueue(e.ctx, deliver(k))) {
					return
				}
			}
		})
	}
	marking.Wait()
	close(stop)
	group.Wait()
	require.Equal(e.t, truth, seen, "no change during the run of its job is lost")
	st, err := e.q.Stats(e.ctx)
	require.NoError(e.t, err)
	require.Empty(e.t, st.Rows)
}

// random marks, leases and ends rows in random order and checks that in the end a run has seen
// the last change of each row.
func random(e *env) {
	seed := time.Now().UnixNano()
	r := rand.New(rand.NewPCG(uint64(seed), 0))
	defer func() {
		if e.t.Failed() {
			e.t.Logf("seed %d", seed)
		}
	}()
	truth, seen := map[string]int{}, map[string]int{}
	type held struct {
		job  jobs.Job
		read int
	}
	var leases []held
	for range 600 {
		k := key(r.IntN(6))
		switch r.IntN(10) {
		case 0, 1, 2:
			truth[k]++
			e.mark(jobs.Spec{Kind: jobs.Deliver, Key: k, Priority: r.IntN(3), After: time.Duration(r.IntN(3)) * time.Second})
		case 3, 4, 5:
			for _, j := range e.lease(1 + r.IntN(2)) {
				leases = append(leases, held{j, truth[j.Key]})
			}
		case 6, 7:
			if len(leases) == 0 {
				continue
			}
			i := r.IntN(len(leases))
			l := leases[i]
			leases = append(leases[:i], leases[i+1:]...)
			seen[l.job.Key] = max(seen[l.job.Key], l.read) // the work is done even if the lease is lost
			e.end(l.job)
		case 8:
			if len(leases) == 0 {
				continue
			}
			l := leases[len(leases)-1]
			leases = leases[:len(leases)-1]
			if r.IntN(2) == 0 {
				require.NoError(e.t, e.q.Release(e.ctx, l.job))
			} else {
				_, err := e.q.Fail(e.ctx, l.job, jobs.Failure{After: time.Second, Wait: r.IntN(2) == 0})
				require.NoError(e.t, err)
			}
		case 9:
			e.pass(time.Duration(r.IntN(20)) * time.Second)
		}
	}
	e.settle(truth, seen)
}

// settle runs the remaining rows and compares truth and seen.
func (e *env) settle(truth, seen map[string]int) {
	e.t.Helper()
	for range 100 {
		e.pass(time.Minute)
		for _, j := range e.lease(100) {
			seen[j.Key] = truth[j.Key]
			e.done(j)
		}
	}
	for k, v := range truth {
		if e.row(jobs.Deliver, k).State != jobs.Dead {
			require.Equal(e.t, v, seen[k], k)
		}
	}
}

func cancelled(e *env) {
	ctx, cancel := context.WithCancel(e.ctx)
	cancel()
	for name, err := range map[string]error{
		"Enqueue": e.q.Enqueue(ctx, deliver("post:a")),
		"Drop":    e.q.Drop(ctx, 1),
		"List":    second(e.q.List(ctx, jobs.Filter{})),
	} {
		require.ErrorIs(e.t, err, context.Canceled, name)
	}
	list, err := e.q.List(e.ctx, jobs.Filter{})
	require.NoError(e.t, err)
	require.Empty(e.t, list)
}

func second[T any](_ T, err error) error { return err }

// Benchmark measures marking and running rows.
func Benchmark(b *testing.B, q jobs.Queue) {
	n := 0
	for b.Loop() {
		n++
		if err := q.Enqueue(b.Context(), deliver(fmt.Sprintf("post:%d", n))); err != nil {
			b.Fatal(err)
		}
		list, err := q.Lease(b.Context(), 8, leaseTime)
		if err != nil {
			b.Fatal(err)
		}
		for _, j := range list {
			if _, err := q.Done(b.Context(), j); err != nil {
				b.Fatal(err)
			}
		}
	}
}
