package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// JobColumns are the columns of a job, for [Dialect.Lease] to return.
const JobColumns = `id, kind, key, generation, priority, state, due, run_at, attempts, error, lease, leased_till, finished`

func scanJob(scan Scan) (j jobs.Job, err error) {
	var due, runAt, till, finished int64
	err = scan(&j.ID, &j.Kind, &j.Key, &j.Generation, &j.Priority, &j.State, &due, &runAt, &j.Attempts, &j.Error, &j.Lease, &till, &finished)
	j.Due, j.RunAt, j.LeasedTill, j.FinishedAt = instant(due), instant(runAt), instant(till), instant(finished)
	return j, err
}

// jobs reads rows of the queue.
func (q *Query) jobs(text string, args ...any) (list []jobs.Job) {
	q.each(appendJob(&list), text, args...)
	return list
}

func appendJob(list *[]jobs.Job) func(Scan) error {
	return func(scan Scan) error {
		j, err := scanJob(scan)
		*list = append(*list, j)
		return err
	}
}

// Lease implements [jobs.Queue].
func (s *Store) Lease(ctx context.Context, n int, d time.Duration, kinds ...jobs.Kind) (list []jobs.Job, err error) {
	if n < 1 {
		return nil, nil
	}
	due, err := s.due(ctx, kinds)
	if err != nil || !due {
		return nil, s.queueFailed(ctx, "lease jobs", err)
	}
	err = s.alone(ctx, func(q *Query) { list = q.lease(s.opts.Clock(), n, d, kinds) })
	return list, s.queueFailed(ctx, "lease jobs", err)
}

// due reports whether there may be something to lease.
func (s *Store) due(ctx context.Context, kinds []jobs.Kind) (due bool, err error) {
	if s.d.Due == "" {
		return true, nil
	}
	err = s.read(ctx, func(q *Query) { q.row(into(&due), q.d.Due, social.Stamp(s.opts.Clock()), names(kinds)) })
	return due, err
}

// lease takes rows: those that have waited too long, by how long, and then others by
// priority.
func (q *Query) lease(now time.Time, n int, d time.Duration, kinds []jobs.Kind) (list []jobs.Job) {
	overdue, till := now.Add(-jobs.Overdue), social.Stamp(now.Add(d))
	expire := Statement{q.d.Expire, []any{social.Stamp(now), jobs.MaxAttempts}}
	args := []any{social.Stamp(now), names(kinds), social.Stamp(overdue), n}
	if q.d.Lease != "" {
		q.both(expire, appendJob(&list), Statement{q.d.Lease, append(args, till)})
	} else {
		q.exec(expire.Text, expire.Args...)
		list = q.jobs(leaseText, Table{q.choose(args, n)}, till)
	}
	late := func(j jobs.Job) int { // 0 goes first
		if social.Stamp(j.Due) <= social.Stamp(overdue) {
			return 0
		}
		return 1
	}
	slices.SortFunc(list, func(a, b jobs.Job) int {
		if order := late(a) - late(b); order != 0 {
			return order
		}
		if late(a) == 1 && a.Priority != b.Priority {
			return a.Priority - b.Priority
		}
		return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// choose reads the ids of at most n rows to be leased.
func (q *Query) choose(args []any, n int) (ids []int64) {
	for _, text := range q.d.Choose {
		q.each(func(scan Scan) error {
			var id int64
			err := scan(&id)
			ids = append(ids, id)
			return err
		}, text, append(args[:3:3], n-len(ids))...)
	}
	return ids
}

// leaseText leases the row $1 until $2.
const leaseText = `UPDATE jobs SET leased_till = $2, ` + Leased + ` WHERE id = $1 RETURNING ` + JobColumns

// LeaseKey implements [jobs.Queue].
func (s *Store) LeaseKey(ctx context.Context, kind jobs.Kind, key string, d time.Duration) (j jobs.Job, err error) {
	err = s.write(ctx, func(t *Tx) {
		var kept jobs.Job
		list := t.jobs(`SELECT `+JobColumns+` FROM jobs WHERE kind = $1 AND key = $2`+t.d.Locks[exclusive], string(kind), key)
		if len(list) > 0 {
			kept = list[0]
		}
		over := kept.State == jobs.Running && !kept.LeasedTill.After(t.now)
		switch {
		case len(list) == 0, kept.State == jobs.Completed, kept.State == jobs.Dead, over && kept.Attempts >= jobs.MaxAttempts:
			t.fail(fmt.Errorf("%s %s: %w", kind, key, feed.ErrNotFound))
		case kept.State == jobs.Running && !over:
			t.fail(fmt.Errorf("%s %s: %w", kind, key, jobs.ErrTaken))
		}
		for _, leased := range t.jobs(leaseText, kept.ID, social.Stamp(t.now.Add(d))) {
			j = leased
		}
	})
	return j, s.queueFailed(ctx, "lease job", err)
}

// Leased is the change of a lease to a row of jobs, except for the time it ends.
const Leased = `state = 'running', lease = lease + 1, leased_generation = generation, attempts = attempts + 1`
