package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social/jobs"
)

// Now is the queue's time in µs. The parameter $1 is that time, or NULL for the clock of the
// database, which is the same for all servers. It is constant during a statement, so an index can
// be searched by it. In SQLite it is never NULL. The subquery hides the value from PostgreSQL, which
// otherwise plans a statement again in each call once the table has statistics.
var Now = Either(`(SELECT coalesce($1::bigint, (extract(epoch FROM statement_timestamp()) * 1000000)::bigint))`, `$1`)

// JobColumns are the columns of a job that [Dialect.Lease] returns.
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
		return nil, s.failed(ctx, "lease jobs", err)
	}
	l := lease{now: queueNow(s.opts), n: n, d: d, kinds: names(kinds), by: s.name, expire: s.expires()}
	l.late = (n + int(s.turn.Add(1)%2)) / 2
	err = s.alone(ctx, func(q *Query) { list = q.lease(l) })
	return list, s.failed(ctx, "lease jobs", err)
}

// expireEvery is the pause between two looks for leases that have ended, which cost PostgreSQL as much
// as a lease.
const expireEvery = time.Second

// expires reports whether to look for leases that have ended: each time by a clock of a test, and in
// SQLite, where due has looked already.
func (s *Store) expires() bool {
	if s.opts.QueueClock != nil || s.d.OneWriter {
		return true
	}
	now, before := time.Now().UnixNano(), s.ended.Load()
	pause := time.Duration(now - before)
	return (pause < 0 || pause >= expireEvery) && s.ended.CompareAndSwap(before, now)
}

// due reports whether there may be a job to lease, so that polling an idle queue does not block the
// writer.
func (s *Store) due(ctx context.Context, kinds []jobs.Kind) (due bool, err error) {
	if !s.d.OneWriter {
		return true, nil
	}
	err = s.read(ctx, func(q *Query) { q.row(into(&due), dueText, queueNow(s.opts), names(kinds)) })
	return due, err
}

// lease holds the parameters of a call of Lease.
type lease struct {
	now   any
	n     int
	d     time.Duration
	kinds []string
	by    string
	late  int // how many may be chosen because they are overdue
	// expire makes jobs whose lease has ended wait again first.
	expire bool
}

// lease leases rows: first overdue ones, in the order of their age, then others by priority.
func (q *Query) lease(l lease) (list []jobs.Job) {
	var all []Reading
	if l.expire {
		all = append(all, Reading{Statement: Statement{expireText, []any{l.now, jobs.MaxAttempts}}})
	}
	args := []any{l.now, l.kinds, jobs.Overdue.Microseconds()}
	if q.d.Lease != "" {
		q.all(append(all, Reading{Statement{q.d.Lease, append(args, l.n, l.d.Microseconds(), l.by, l.late)}, appendJob(&list)})...)
	} else {
		q.all(all...)
		list = q.jobs(leaseText, l.now, Table{q.choose(args, l)}, l.d.Microseconds(), l.by)
	}
	leased(list, l.d)
	slices.SortFunc(list, func(a, b jobs.Job) int {
		return cmp.Or(a.Priority-b.Priority, a.Due.Compare(b.Due), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// leased fills in the waiting time of jobs that were just leased for d.
func leased(list []jobs.Job, d time.Duration) {
	for i := range list {
		j := &list[i]
		j.Waited = max(j.LeasedTill.Add(-d).Sub(j.Due), 0)
	}
}

// choose returns the ids of the rows to lease.
func (q *Query) choose(args []any, l lease) (ids []int64) {
	ids = column[int64](q, q.d.Choose[0], append(args[:3:3], l.late)...)
	return append(ids, column[int64](q, q.d.Choose[1], append(args[:2:2], Table{ids}, l.n-len(ids))...)...)
}

// LeaseKey implements [jobs.Queue].
func (s *Store) LeaseKey(ctx context.Context, kind jobs.Kind, key string, d time.Duration) (j jobs.Job, err error) {
	err = s.write(ctx, func(t *Tx) {
		now := queueNow(s.opts)
		kept, over, found := t.jobOf(kind, key, now)
		switch {
		case !found, kept.State == jobs.Completed, kept.State == jobs.Dead, over && kept.Attempts >= jobs.MaxAttempts:
			t.fail(fmt.Errorf("%s %s: %w", kind, key, feed.ErrNotFound))
			return
		case kept.State == jobs.Running && !over:
			t.fail(fmt.Errorf("%s %s: %w", kind, key, jobs.ErrTaken))
			return
		}
		list := t.jobs(leaseText, now, Table{[]int64{kept.ID}}, d.Microseconds(), "")
		leased(list, d)
		for _, one := range list {
			j = one
		}
	})
	return j, s.failed(ctx, "lease job", err)
}

// jobOf locks and reads the row of a kind and key; over reports that it has a lease that has
// expired.
func (t *Tx) jobOf(kind jobs.Kind, key string, now any) (j jobs.Job, over, found bool) {
	t.each(func(scan Scan) (err error) {
		j, err = scanJob(func(into ...any) error { return scan(append(into, &over)...) })
		found = true
		return err
	}, `SELECT `+JobColumns+`, `+expired+` FROM jobs WHERE kind = $2 AND key = $3`+locks[exclusive], now, string(kind), key)
	return j, over, found
}
