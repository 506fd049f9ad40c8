package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

const jobColumns = `j.id, j.kind, j.key, j.generation, j.priority, j.state, j.due, j.run_at, j.attempts, j.error, j.lease, j.leased_till, j.finished`

func scanJob(scan func(...any) error, more ...any) (j jobs.Job, err error) {
	var due, runAt, till, finished int64
	err = scan(append([]any{
		&j.ID, &j.Kind, &j.Key, &j.Generation, &j.Priority, &j.State, &due, &runAt, &j.Attempts, &j.Error, &j.Lease, &till, &finished,
	}, more...)...)
	j.Due, j.RunAt, j.LeasedTill, j.FinishedAt = instant(due), instant(runAt), instant(till), instant(finished)
	return j, err
}

func (q querying) jobs(text string, args ...any) (list []jobs.Job, err error) {
	err = q.each(func(rows pgx.Rows) error {
		j, err := scanJob(rows.Scan)
		list = append(list, j)
		return err
	}, text, args...)
	return list, err
}

// expireText takes back leases that have run out; what somebody changes at this
// moment is left to the next.
const expireText = `UPDATE jobs SET state = CASE WHEN attempts >= $2 THEN 'dead' ELSE 'pending' END,
	finished = CASE WHEN attempts >= $2 THEN $1 ELSE 0 END, error = 'its lease ran out', leased_till = 0
	WHERE id = ANY (ARRAY(SELECT id FROM jobs WHERE state = 'running' AND leased_till <= $1 FOR UPDATE SKIP LOCKED))`

const waiting = `state IN ('pending', 'failed') AND run_at <= $1 AND (cardinality($2::text[]) = 0 OR kind = ANY ($2))`

// leaseText takes the rows that have waited too long, by how long, and then
// others by priority.
const leaseText = `WITH late AS MATERIALIZED (
		SELECT id FROM jobs WHERE ` + waiting + ` AND due <= $3 ORDER BY due, id LIMIT $4 FOR UPDATE SKIP LOCKED),
	others AS MATERIALIZED (
		SELECT id FROM jobs WHERE ` + waiting + ` AND due > $3 ORDER BY priority, due, id
		LIMIT (SELECT $4 - count(*) FROM late) FOR UPDATE SKIP LOCKED),
	taken AS (SELECT id, true AS late FROM late UNION ALL SELECT id, false FROM others)
	UPDATE jobs j SET leased_till = $5, ` + leased + ` FROM taken WHERE j.id = taken.id RETURNING taken.late, ` + jobColumns

// leased is the change of a lease to a row, except for the time it ends.
const leased = `state = 'running', lease = j.lease + 1, leased_generation = j.generation, attempts = j.attempts + 1`

// Lease implements [jobs.Queue].
func (s *Store) Lease(ctx context.Context, n int, d time.Duration, kinds ...jobs.Kind) (list []jobs.Job, err error) {
	if n < 1 {
		return nil, nil
	}
	err = s.read(ctx, func(q querying) (err error) {
		list, err = q.lease(s.opts.Clock(), n, d, kinds)
		return err
	})
	return list, queueFailed(ctx, "lease jobs", err)
}

// lease sends both statements at once; together they are one transaction.
func (q querying) lease(now time.Time, n int, d time.Duration, kinds []jobs.Kind) (list []jobs.Job, err error) {
	of := []string{}
	for _, kind := range kinds {
		of = append(of, string(kind))
	}
	late := map[int64]bool{}
	b := &pgx.Batch{}
	b.Queue(expireText, social.Stamp(now), jobs.MaxAttempts)
	b.Queue(leaseText, social.Stamp(now), of, social.Stamp(now.Add(-jobs.Overdue)), n, social.Stamp(now.Add(d))).
		Query(func(rows pgx.Rows) error {
			return eachOf(rows, func(rows pgx.Rows) error {
				var overdue bool
				j, err := scanJob(func(into ...any) error { return rows.Scan(append([]any{&overdue}, into...)...) })
				list, late[j.ID] = append(list, j), overdue
				return err
			})
		})
	if err := q.on.SendBatch(q.ctx, b).Close(); err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b jobs.Job) int {
		switch {
		case late[a.ID] != late[b.ID]:
			if late[a.ID] {
				return -1
			}
			return 1
		case !late[a.ID] && a.Priority != b.Priority:
			return a.Priority - b.Priority
		}
		return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.ID, b.ID))
	})
	return list, nil
}

// LeaseKey implements [jobs.Queue].
func (s *Store) LeaseKey(ctx context.Context, kind jobs.Kind, key string, d time.Duration) (j jobs.Job, err error) {
	err = s.write(ctx, func(t *tx) error {
		kept, err := scanJob(t.row(`SELECT `+jobColumns+` FROM jobs j WHERE kind = $1 AND key = $2 FOR UPDATE`, kind, key).Scan)
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		over := kept.State == jobs.Running && !kept.LeasedTill.After(t.now)
		switch {
		case err != nil, kept.State == jobs.Completed, kept.State == jobs.Dead, over && kept.Attempts >= jobs.MaxAttempts:
			return fmt.Errorf("%s %s: %w", kind, key, jobs.ErrNotFound)
		case kept.State == jobs.Running && !over:
			return fmt.Errorf("%s %s: %w", kind, key, jobs.ErrTaken)
		}
		j, err = scanJob(t.row(`UPDATE jobs j SET leased_till = $2, `+leased+` WHERE id = $1 RETURNING `+jobColumns, kept.ID, social.Stamp(t.now.Add(d))).Scan)
		return err
	})
	return j, queueFailed(ctx, "lease job", err)
}
