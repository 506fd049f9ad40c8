// Package jobstest is the conformance suite for [jobs.Queue]. Every backend passes it:
//
//	func TestQueue(t *testing.T) {
//		jobstest.Run(t, func(t *testing.T, opts social.Options) jobs.Queue { return open(t, opts) })
//	}
package jobstest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// Open opens an empty queue with the given options.
type Open func(t *testing.T, opts social.Options) jobs.Queue

// Run runs all checks of the contract, each with a new queue.
func Run(t *testing.T, open Open) {
	for _, check := range []struct {
		name string
		run  func(e *env)
	}{
		{"Enqueue/one row per key", oneRow},
		{"Enqueue/earlier and lesser hold", earlierHolds},
		{"Enqueue/lazy", lazy},
		{"Enqueue/while it runs", markedWhileRunning},
		{"Enqueue/revives", revives},
		{"Lease/order", order},
		{"Lease/backlog", backlog},
		{"Lease/kinds", leaseKinds},
		{"Lease/runs out", runsOut},
		{"Lease/dead after its last attempt ran out", dies},
		{"Lease/key", leaseKey},
		{"Lease/the clock goes back", clockGoesBack},
		{"ReleaseUnknown", releaseUnknown},
		{"Renew", renew},
		{"Done/by who has lost it", lost},
		{"Done/of a batch", doneAll},
		{"Done/of kinds that are not kept", notKept},
		{"Fail/retries and dies", retries},
		{"Fail/waiting is no attempt", waits},
		{"Release", release},
		{"Reenqueue", reenqueue},
		{"List, Retry, Drop", operators},
		{"Stats", stats},
		{"Ages/what lists wait for", listsWaitFor},
		{"Sweep", sweep},
		{"Notify", notified},
		{"keys of every kind", oddKeys},
		{"many workers", manyWorkers},
		{"random", random},
		{"cancelled context", cancelled},
	} {
		t.Run(check.name, func(t *testing.T) { check.run(newEnv(t, open, true)) })
	}
	t.Run("keeps nothing", func(t *testing.T) { keepsNothing(newEnv(t, open, false)) })
}

// env is a queue and its clock.
type env struct {
	t   *testing.T
	ctx context.Context
	q   jobs.Queue
	mu  sync.Mutex
	now time.Time
}

func newEnv(t *testing.T, open Open, keep bool) *env {
	e := &env{t: t, ctx: t.Context(), now: time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)}
	e.q = open(t, social.Options{Clock: e.clock, QueueClock: e.clock, KeepJobs: keep})
	return e
}

func (e *env) clock() time.Time {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.now
}

func (e *env) pass(d time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.now = e.now.Add(d)
}

const leaseTime = 30 * time.Second

func (e *env) mark(rows ...jobs.Spec) {
	e.t.Helper()
	require.NoError(e.t, e.q.Enqueue(e.ctx, rows...))
}

func (e *env) lease(n int, kinds ...jobs.Kind) []jobs.Job {
	e.t.Helper()
	list, err := e.q.Lease(e.ctx, n, leaseTime, kinds...)
	require.NoError(e.t, err)
	return list
}

// one leases the only row that is due.
func (e *env) one() jobs.Job {
	e.t.Helper()
	list := e.lease(2)
	require.Len(e.t, list, 1)
	return list[0]
}

func (e *env) none() {
	e.t.Helper()
	require.Empty(e.t, e.lease(1))
}

func (e *env) done(j jobs.Job) (again bool) {
	e.t.Helper()
	state := e.end(j)
	require.Contains(e.t, []jobs.State{jobs.Completed, jobs.Pending}, state)
	return state == jobs.Pending
}

func (e *env) end(j jobs.Job) jobs.State {
	e.t.Helper()
	ends, err := e.q.Done(e.ctx, j)
	require.NoError(e.t, err)
	require.Len(e.t, ends, 1)
	return ends[0]
}

func (e *env) row(kind jobs.Kind, key string) jobs.Job {
	e.t.Helper()
	list, err := e.q.List(e.ctx, jobs.Filter{Kind: kind, Key: key})
	require.NoError(e.t, err)
	require.Len(e.t, list, 1)
	return list[0]
}

func keys(list []jobs.Job) []string {
	out := make([]string, len(list))
	for i, j := range list {
		out[i] = j.Key
	}
	return out
}

func deliver(key string) jobs.Spec { return jobs.Spec{Kind: jobs.Deliver, Key: key, Priority: 5} }

func key(i int) string { return fmt.Sprintf("post:%04d", i) }
