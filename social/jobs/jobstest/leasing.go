package jobstest

import (
	"fmt"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social/jobs"
)

func order(e *env) {
	for i, p := range []int{jobs.PriorityLater, jobs.PriorityFor(10_000), jobs.PriorityFor(3), jobs.PriorityRemoval, jobs.PrioritySoon} {
		e.mark(jobs.Spec{Kind: jobs.Deliver, Key: key(i), Priority: p})
		e.pass(time.Millisecond)
	}
	e.mark(jobs.Spec{Kind: jobs.Deliver, Key: key(5), Priority: jobs.PrioritySoon})
	require.Equal(e.t, []string{key(3), key(4), key(5), key(2)}, keys(e.lease(4)), "by priority, then by age")

	e.mark(jobs.Spec{Kind: jobs.Deliver, Key: key(6), Priority: jobs.PriorityLater})
	e.pass(jobs.Overdue)
	e.mark(jobs.Spec{Kind: jobs.Deliver, Key: key(7), Priority: jobs.PriorityRemoval})
	// The first leases have expired as well.
	require.Equal(e.t, []string{key(3), key(7), key(4), key(5), key(2), key(1), key(0), key(6)}, keys(e.lease(10)))
}

// backlog checks leases when there are more overdue rows than a lease takes. New rows have
// precedence in one half of each lease, and overdue rows get the other; of leases with n = 1,
// every second one.
func backlog(e *env) {
	var rows []jobs.Spec
	for i := range 60 {
		rows = append(rows, jobs.Spec{Kind: jobs.AuthorAgent, Key: fmt.Sprintf("erased/%02d", i), Priority: jobs.PriorityLeftover})
	}
	e.mark(rows...)
	e.pass(2 * jobs.Overdue)
	fresh := func(i int) jobs.Spec {
		return jobs.Spec{Kind: jobs.Deliver, Key: key(i), Priority: jobs.PriorityFor(3)}
	}
	e.mark(fresh(0))
	list := e.lease(8)
	require.Len(e.t, list, 8)
	require.Equal(e.t, key(0), list[0].Key, "first, however many have waited longer")
	e.mark(fresh(1), fresh(2), fresh(3), fresh(4), fresh(5))
	e.pass(time.Second)
	count := map[jobs.Kind]int{}
	for _, j := range e.lease(8) {
		count[j.Kind]++
	}
	require.Equal(e.t, map[jobs.Kind]int{jobs.Deliver: 4, jobs.AuthorAgent: 4}, count)
	e.mark(fresh(6), fresh(7), fresh(8))
	count = map[jobs.Kind]int{}
	for range 4 {
		count[e.lease(1)[0].Kind]++
	}
	require.Equal(e.t, map[jobs.Kind]int{jobs.Deliver: 2, jobs.AuthorAgent: 2}, count, "no job starves")
	e.pass(2 * jobs.Overdue)
	e.mark(jobs.Spec{Kind: jobs.Deliver, Key: key(9), Priority: jobs.PriorityRemoval})
	require.Equal(e.t, key(9), e.lease(2)[0].Key, "a new urgent job keeps its priority while others are overdue")
}

func leaseKinds(e *env) {
	e.mark(deliver("post:a"), jobs.Spec{Kind: jobs.Index, Key: "post:a"}, jobs.Spec{Kind: jobs.AuthorAgent, Key: "a/b"})
	require.Empty(e.t, e.lease(5, jobs.Erase))
	require.Len(e.t, e.lease(5, jobs.Index, jobs.AuthorAgent), 2)
	require.Len(e.t, e.lease(5), 1)
	require.Empty(e.t, e.lease(0))
}

func runsOut(e *env) {
	e.mark(deliver("post:a"))
	first := e.one()
	require.True(e.t, first.LeasedTill.Equal(e.now.Add(leaseTime)))
	e.pass(leaseTime - time.Millisecond)
	e.none()
	e.pass(time.Millisecond)
	second := e.one()
	require.Equal(e.t, first.ID, second.ID)
	require.Equal(e.t, 2, second.Attempts)
	require.Equal(e.t, jobs.Lost, e.end(first))
	require.False(e.t, e.done(second))
}

func dies(e *env) {
	e.mark(deliver("post:a"))
	for range jobs.MaxAttempts {
		e.one()
		e.pass(leaseTime)
	}
	e.none()
	j := e.row(jobs.Deliver, "post:a")
	require.Equal(e.t, jobs.Dead, j.State)
	require.NotEmpty(e.t, j.Error)
}

func leaseKey(e *env) {
	take := func() (jobs.Job, error) { return e.q.LeaseKey(e.ctx, jobs.AuthorAgent, "a/b", leaseTime) }
	_, err := take()
	require.ErrorIs(e.t, err, feed.ErrNotFound)
	e.mark(jobs.Spec{Kind: jobs.AuthorAgent, Key: "a/b", After: time.Hour})
	j, err := take()
	require.NoError(e.t, err, "whether it is due or not")
	require.Equal(e.t, jobs.Running, j.State)
	_, err = take()
	require.ErrorIs(e.t, err, jobs.ErrTaken)
	e.pass(leaseTime)
	j, err = take()
	require.NoError(e.t, err)
	require.False(e.t, e.done(j))
	_, err = take()
	require.ErrorIs(e.t, err, feed.ErrNotFound)
}

// clockGoesBack sets the queue's clock back by a day while rows are pending, in backoff, running
// and delayed. All can be leased at once instead of when the clock catches up.
func clockGoesBack(e *env) {
	e.mark(deliver("post:runs"))
	running := e.one()
	e.mark(deliver("post:fails"))
	_, err := e.q.Fail(e.ctx, e.one(), jobs.Failure{Reason: "x", After: time.Minute})
	require.NoError(e.t, err)
	e.mark(deliver("post:waits"))
	later := deliver("post:later")
	later.After = time.Minute
	e.mark(later)
	e.pass(-jobs.ClockJump / 2)
	require.Empty(e.t, keys(e.lease(10, jobs.AuthorAgent)))
	e.pass(-24 * time.Hour)
	require.ElementsMatch(e.t, []string{"post:runs", "post:fails", "post:waits", "post:later"}, keys(e.lease(10)))
	require.Equal(e.t, jobs.Lost, e.end(running), "another worker runs it now")
	e.none() // leases are by the new clock
	e.pass(leaseTime)
	require.Len(e.t, e.lease(10), 4)
}

// releaseUnknown checks that a caller whose Lease reply was lost ends exactly those leases.
func releaseUnknown(e *env) {
	e.mark(deliver("post:known"))
	known := e.one()
	e.mark(deliver("post:a"), deliver("post:b"), jobs.Spec{Kind: jobs.AuthorAgent, Key: "a/b"})
	lost := e.lease(2, jobs.Deliver)
	require.Len(e.t, lost, 2)
	own, err := e.q.LeaseKey(e.ctx, jobs.AuthorAgent, "a/b", leaseTime)
	require.NoError(e.t, err)
	e.none()
	n, err := e.q.ReleaseUnknown(e.ctx, known)
	require.NoError(e.t, err)
	require.Equal(e.t, 2, n)
	<-e.q.Notify()
	for _, j := range e.lease(5) {
		require.Contains(e.t, []string{"post:a", "post:b"}, j.Key)
		require.Equal(e.t, 1, j.Attempts, "as if it had not been leased")
	}
	require.False(e.t, e.done(known))
	require.False(e.t, e.done(own), "TakeBack does not end leases of LeaseKey")
	n, err = e.q.ReleaseUnknown(e.ctx)
	require.NoError(e.t, err)
	require.Equal(e.t, 2, n)
	// A job that was lost and leased again has another lease.
	first := e.lease(2)
	e.pass(leaseTime)
	require.Len(e.t, e.lease(2), 2)
	n, err = e.q.ReleaseUnknown(e.ctx, first...)
	require.NoError(e.t, err)
	require.Equal(e.t, 2, n)
}

func renew(e *env) {
	e.mark(deliver("post:a"), deliver("post:b"))
	list := e.lease(2)
	e.pass(leaseTime / 2)
	left, err := e.q.Renew(e.ctx, leaseTime, list[0])
	require.NoError(e.t, err)
	require.Empty(e.t, left)
	e.pass(leaseTime / 2)
	taken := e.one()
	require.Equal(e.t, list[1].Key, taken.Key)
	left, err = e.q.Renew(e.ctx, leaseTime, list...)
	require.NoError(e.t, err)
	require.Equal(e.t, []string{list[1].Key}, keys(left))
	left, err = e.q.Renew(e.ctx, leaseTime)
	require.NoError(e.t, err)
	require.Empty(e.t, left)
}

func lost(e *env) {
	e.mark(deliver("post:a"))
	first := e.one()
	e.pass(leaseTime)
	second := e.one()
	require.Equal(e.t, jobs.Lost, e.end(first))
	state, err := e.q.Fail(e.ctx, first, jobs.Failure{Reason: "late"})
	require.NoError(e.t, err)
	require.Equal(e.t, jobs.Lost, state)
	require.NoError(e.t, e.q.Release(e.ctx, first))
	require.Equal(e.t, jobs.Running, e.row(jobs.Deliver, "post:a").State)
	require.NoError(e.t, e.q.Drop(e.ctx, second.ID))
	require.Equal(e.t, jobs.Lost, e.end(second))
	// Earlier leases do not hold a new row of the same key either.
	e.mark(deliver("post:a"))
	third := e.one()
	require.Equal(e.t, jobs.Lost, e.end(first))
	require.False(e.t, e.done(third))
	require.Equal(e.t, jobs.Lost, e.end(third), "only once")
}

func retries(e *env) {
	e.mark(deliver("post:a"))
	j := e.one()
	long := string(make([]byte, 0, 2000))
	for len(long) < 2000 {
		long += "é broken "
	}
	state, err := e.q.Fail(e.ctx, j, jobs.Failure{Reason: long, After: time.Minute})
	require.NoError(e.t, err)
	require.Equal(e.t, jobs.Failed, state)
	got := e.row(jobs.Deliver, "post:a")
	require.Equal(e.t, jobs.Clip(long), got.Error)
	require.True(e.t, got.RunAt.Equal(e.now.Add(time.Minute)))
	require.True(e.t, got.Due.Equal(e.now), "due since the failed lease")
	e.none()
	e.pass(time.Minute)
	j = e.one()
	require.Equal(e.t, 2, j.Attempts)
	e.mark(deliver("post:a"))
	state, err = e.q.Fail(e.ctx, j, jobs.Failure{Reason: "x", After: time.Hour})
	require.NoError(e.t, err)
	require.Equal(e.t, jobs.Pending, state, "it was marked during the run")
	j = e.one()
	require.Equal(e.t, 1, j.Attempts)
	_, err = e.q.Fail(e.ctx, j, jobs.Failure{Reason: "x", After: time.Hour})
	require.NoError(e.t, err)
	e.mark(deliver("post:a"))
	require.False(e.t, e.done(e.one()), "a mark does not wait for the backoff")

	e.mark(deliver("post:b"))
	e.kill("post:b")
	got = e.row(jobs.Deliver, "post:b")
	require.Equal(e.t, jobs.Dead, got.State)
	require.Equal(e.t, "no", got.Error)
	e.pass(1000 * time.Hour)
	e.none()
}

func waits(e *env) {
	e.mark(deliver("post:a"))
	for range 3 * jobs.MaxAttempts {
		j := e.one()
		require.Equal(e.t, 1, j.Attempts)
		state, err := e.q.Fail(e.ctx, j, jobs.Failure{Reason: "redis is down", After: time.Second, Wait: true})
		require.NoError(e.t, err)
		require.Equal(e.t, jobs.Failed, state)
		e.pass(time.Second)
	}
}

func release(e *env) {
	e.mark(deliver("post:a"), deliver("post:b"))
	list := e.lease(2)
	require.NoError(e.t, e.q.Release(e.ctx, list...))
	require.NoError(e.t, e.q.Release(e.ctx, list...))
	require.NoError(e.t, e.q.Release(e.ctx))
	for _, j := range e.lease(3) {
		require.Equal(e.t, 1, j.Attempts, "as if it had not been leased")
		require.False(e.t, e.done(j))
	}
}

func doneAll(e *env) {
	e.mark(deliver("post:a"), deliver("post:b"), deliver("post:c"), deliver("post:d"))
	list, err := e.q.Lease(e.ctx, 10, time.Minute)
	require.NoError(e.t, err)
	require.Len(e.t, list, 4)
	e.mark(deliver(list[2].Key))
	require.NoError(e.t, e.q.Drop(e.ctx, list[0].ID))
	list = append(list, list[1]) // its lease has ended by the second time
	ends, err := e.q.Done(e.ctx, list[:4]...)
	require.NoError(e.t, err)
	require.Equal(e.t, []jobs.State{jobs.Lost, jobs.Completed, jobs.Pending, jobs.Completed}, ends)
	ends, err = e.q.Done(e.ctx, list...)
	require.NoError(e.t, err)
	require.Equal(e.t, slices.Repeat([]jobs.State{jobs.Lost}, 5), ends)
	ends, err = e.q.Done(e.ctx)
	require.NoError(e.t, err)
	require.Empty(e.t, ends)
}

// notKept completes rows of every kind, with one of them marked meanwhile.
func notKept(e *env) {
	e.mark(jobs.Spec{Kind: jobs.Index, Key: "post:b"})
	for _, kind := range jobs.Kinds() {
		e.mark(jobs.Spec{Kind: kind, Key: "post:a"})
	}
	list := e.lease(20)
	e.mark(jobs.Spec{Kind: jobs.Index, Key: "post:b"})
	ends, err := e.q.Done(e.ctx, list...)
	require.NoError(e.t, err)
	for i, j := range list {
		want := jobs.Completed
		if j.Key == "post:b" {
			want = jobs.Pending
		}
		require.Equal(e.t, want, ends[i], "%s %s", j.Kind, j.Key)
		require.Equal(e.t, jobs.Lost, e.end(j), "a job is completed only once")
	}
	left, err := e.q.List(e.ctx, jobs.Filter{Key: "post:a"})
	require.NoError(e.t, err)
	for _, j := range left {
		require.Equal(e.t, jobs.Completed, j.State)
		require.True(e.t, j.Kind.Retained(), j.Kind)
	}
	require.Len(e.t, left, len(jobs.Kinds())-6)
	require.Equal(e.t, []string{"post:b"}, keys(e.lease(10)))
	e.mark(jobs.Spec{Kind: jobs.Index, Key: "post:a"})
	require.Equal(e.t, []string{"post:a"}, keys(e.lease(10)), "and marked again")
}
