package jobstest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social/jobs"
)

func oneRow(e *env) {
	e.none()
	for range 3 {
		e.mark(deliver("post:a"))
	}
	e.mark(jobs.Spec{Kind: jobs.Index, Key: "post:a"})
	e.mark()
	j := e.row(jobs.Deliver, "post:a")
	require.Equal(e.t, int64(3), j.Generation)
	require.Equal(e.t, jobs.Pending, j.State)
	require.True(e.t, j.Due.Equal(e.now))
	require.True(e.t, j.RunAt.Equal(e.now))
	got := e.lease(10)
	require.Len(e.t, got, 2, "a row is a kind and a key")
	for _, j := range got {
		require.False(e.t, e.done(j))
	}
	e.none()
	j = e.row(jobs.Deliver, "post:a")
	require.Equal(e.t, jobs.Completed, j.State)
	require.True(e.t, j.FinishedAt.Equal(e.now))
}

func earlierHolds(e *env) {
	later := deliver("post:a")
	later.After, later.Priority = time.Minute, 9
	e.mark(later)
	e.none()
	later.After, later.Priority = time.Hour, 3
	e.mark(later)
	j := e.row(jobs.Deliver, "post:a")
	require.Equal(e.t, 3, j.Priority)
	require.True(e.t, j.Due.Equal(e.now.Add(time.Minute)), "a later mark does not delay it")
	e.mark(deliver("post:a"))
	j = e.one()
	require.Equal(e.t, 3, j.Priority, "a less urgent mark does not lower the priority")
	require.Equal(e.t, int64(3), j.Generation)
}

func lazy(e *env) {
	count := jobs.Spec{Kind: jobs.Count, Key: "post:a", After: jobs.CountDelay, Lazy: true}
	e.mark(count)
	e.pass(20 * time.Second)
	e.mark(count)
	require.Equal(e.t, int64(1), e.row(jobs.Count, "post:a").Generation, "the job is already pending")
	e.pass(10 * time.Second)
	j := e.one()
	e.mark(count)
	require.True(e.t, e.done(j), "a mark during the run is not covered by it")
	e.none()
	e.pass(jobs.CountDelay)
	j = e.one()
	_, err := e.q.Fail(e.ctx, j, jobs.Failure{Reason: "x", After: time.Minute})
	require.NoError(e.t, err)
	e.mark(count)
	require.Equal(e.t, jobs.Failed, e.row(jobs.Count, "post:a").State)
	e.pass(time.Minute)
	require.False(e.t, e.done(e.one()))
	e.mark(count)
	require.Equal(e.t, jobs.Pending, e.row(jobs.Count, "post:a").State)
}

func markedWhileRunning(e *env) {
	e.mark(deliver("post:a"))
	j := e.one()
	soon := deliver("post:a")
	soon.Priority = 0
	e.mark(soon)
	later := deliver("post:a")
	later.After, later.Priority = time.Hour, 9
	e.mark(later)
	require.Equal(e.t, jobs.Running, e.row(jobs.Deliver, "post:a").State)
	e.none()
	require.True(e.t, e.done(j), "it runs again")
	second := e.one()
	require.Equal(e.t, int64(3), second.Generation)
	require.Equal(e.t, 0, second.Priority, "the most urgent of the marks during the run")
	require.Equal(e.t, 1, second.Attempts)
	require.False(e.t, e.done(second))

	e.mark(deliver("post:a"))
	j = e.one()
	e.mark(later)
	require.True(e.t, e.done(j))
	e.none() // the only mark meanwhile has a delay
	e.pass(time.Hour)
	require.Equal(e.t, 9, e.one().Priority)
}

func revives(e *env) {
	e.mark(deliver("post:a"))
	j := e.one()
	require.False(e.t, e.done(j))
	later := deliver("post:a")
	later.After, later.Priority = time.Minute, 7
	e.mark(later)
	got := e.row(jobs.Deliver, "post:a")
	require.Equal(e.t, jobs.Pending, got.State)
	require.Equal(e.t, 7, got.Priority, "as if it were new")
	require.True(e.t, got.Due.Equal(e.now.Add(time.Minute)))
	require.True(e.t, got.FinishedAt.IsZero())
	require.Equal(e.t, j.ID, got.ID)

	e.pass(time.Minute)
	e.kill("post:a")
	e.mark(deliver("post:a"))
	got = e.one()
	require.Equal(e.t, 1, got.Attempts)
	require.Empty(e.t, got.Error)
}

// kill fails the due row of a key until it is dead.
func (e *env) kill(key string) {
	e.t.Helper()
	for i := 1; ; i++ {
		j := e.one()
		require.Equal(e.t, key, j.Key)
		require.Equal(e.t, i, j.Attempts)
		state, err := e.q.Fail(e.ctx, j, jobs.Failure{Reason: "no", After: time.Second})
		require.NoError(e.t, err)
		if state == jobs.Dead {
			require.Equal(e.t, jobs.MaxAttempts, i)
			return
		}
		require.Equal(e.t, jobs.Failed, state)
		e.none()
		e.pass(time.Second)
	}
}

func reenqueue(e *env) {
	before := e.now
	for i := range 3 {
		e.mark(deliver(key(i)))
	}
	e.mark(jobs.Spec{Kind: jobs.Index, Key: key(0)}, jobs.Spec{Kind: jobs.AuthorAgent, Key: "a/b"})
	for _, j := range e.lease(2, jobs.Deliver) {
		e.done(j)
		e.pass(time.Minute)
	}
	running := e.lease(3)
	n, err := e.q.Reenqueue(e.ctx, before.Add(time.Minute), jobs.Deliver, jobs.AuthorAgent)
	require.NoError(e.t, err)
	require.Equal(e.t, 3, n, "the second, and the two that run")
	require.Equal(e.t, []string{key(1)}, keys(e.lease(10)))
	for _, j := range running {
		require.Equal(e.t, j.Kind != jobs.Index, e.done(j), j.Kind)
	}
}

func oddKeys(e *env) {
	odd := []string{"post:A", "post:a", "post:.@-_9", "@server/a", "a/@b", "%", "'; --"}
	for _, k := range odd {
		e.mark(deliver(k))
	}
	require.ElementsMatch(e.t, odd, keys(e.lease(10)))
}
