package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

const jobColumns = `id, kind, key, generation, priority, state, due, run_at, attempts, error, lease, leased_till, finished`

func scanJob(scan func(...any) error) (j jobs.Job, err error) {
	var due, runAt, till, finished int64
	err = scan(&j.ID, &j.Kind, &j.Key, &j.Generation, &j.Priority, &j.State, &due, &runAt, &j.Attempts, &j.Error, &j.Lease, &till, &finished)
	j.Due, j.RunAt, j.LeasedTill, j.FinishedAt = instant(due), instant(runAt), instant(till), instant(finished)
	return j, err
}

func (q querying) jobs(text string, args ...any) (list []jobs.Job, err error) {
	err = q.each(func(rows *sql.Rows) error {
		j, err := scanJob(rows.Scan)
		list = append(list, j)
		return err
	}, text, args...)
	return list, err
}

const waiting = `state IN ('pending', 'failed') AND run_at <= ?1 AND (?2 = '[]' OR kind IN (SELECT value FROM json_each(?2)))`

// Lease implements [jobs.Queue].
func (s *Store) Lease(ctx context.Context, n int, d time.Duration, kinds ...jobs.Kind) (list []jobs.Job, err error) {
	of := array(append([]jobs.Kind{}, kinds...))
	// Whoever polls an idle queue does not disturb the writer.
	if due, err := s.due(ctx, of); err != nil || !due || n < 1 {
		return nil, queueFailed(ctx, "lease jobs", err)
	}
	err = s.write(ctx, func(t *tx) error {
		if err := t.expire(); err != nil {
			return err
		}
		ids, err := t.next(n, of)
		if err != nil || len(ids) == 0 {
			return err
		}
		list, err = t.lease(ids, d)
		return err
	})
	return list, queueFailed(ctx, "lease jobs", err)
}

func (s *Store) due(ctx context.Context, kinds string) (due bool, err error) {
	err = s.readers.read(ctx, func(q *reading) error {
		return q.row(`SELECT EXISTS (SELECT 1 FROM jobs WHERE `+waiting+`)
			OR EXISTS (SELECT 1 FROM jobs WHERE state = 'running' AND leased_till <= ?1)`, social.Stamp(s.opts.Clock()), kinds).Scan(&due)
	})
	return due, err
}

// expire takes back leases that have run out.
func (t *tx) expire() error {
	_, err := t.exec(`UPDATE jobs SET state = CASE WHEN attempts >= ?2 THEN 'dead' ELSE 'pending' END,
		finished = CASE WHEN attempts >= ?2 THEN ?1 ELSE 0 END, error = 'its lease ran out', leased_till = 0
		WHERE state = 'running' AND leased_till <= ?1`, social.Stamp(t.now), jobs.MaxAttempts)
	return err
}

// next chooses: those that have waited too long, by how long, then by priority.
func (t *tx) next(n int, kinds string) ([]int64, error) {
	var ids []int64
	read := func(text string, args ...any) error {
		return t.each(func(rows *sql.Rows) error {
			var id int64
			err := rows.Scan(&id)
			ids = append(ids, id)
			return err
		}, text, args...)
	}
	now, overdue := social.Stamp(t.now), social.Stamp(t.now.Add(-jobs.Overdue))
	if err := read(`SELECT id FROM jobs INDEXED BY jobs_by_due WHERE `+waiting+` AND due <= ?3 ORDER BY due, id LIMIT +?4`,
		now, kinds, overdue, n); err != nil || len(ids) == n {
		return ids, err
	}
	err := read(`SELECT id FROM jobs INDEXED BY jobs_by_priority WHERE `+waiting+` AND due > ?3 ORDER BY priority, due, id LIMIT +?4`,
		now, kinds, overdue, n-len(ids))
	return ids, err
}

// lease takes rows, in the order of their ids in the list.
func (t *tx) lease(ids []int64, d time.Duration) ([]jobs.Job, error) {
	list, err := t.jobs(`UPDATE jobs SET state = 'running', lease = lease + 1, leased_generation = generation,
		leased_till = ?1, attempts = attempts + 1 WHERE id IN (SELECT value FROM json_each(?2)) RETURNING `+jobColumns,
		social.Stamp(t.now.Add(d)), array(ids))
	slices.SortFunc(list, func(a, b jobs.Job) int {
		return cmp.Compare(slices.Index(ids, a.ID), slices.Index(ids, b.ID))
	})
	return list, err
}

// LeaseKey implements [jobs.Queue].
func (s *Store) LeaseKey(ctx context.Context, kind jobs.Kind, key string, d time.Duration) (j jobs.Job, err error) {
	err = s.write(ctx, func(t *tx) error {
		if err := t.expire(); err != nil {
			return err
		}
		var id int64
		var state jobs.State
		ok, err := found(t.row(`SELECT id, state FROM jobs WHERE kind = ? AND key = ?`, kind, key), &id, &state)
		switch {
		case err != nil:
			return err
		case !ok || state == jobs.Completed || state == jobs.Dead:
			return fmt.Errorf("%s %s: %w", kind, key, jobs.ErrNotFound)
		case state == jobs.Running:
			return fmt.Errorf("%s %s: %w", kind, key, jobs.ErrTaken)
		}
		list, err := t.lease([]int64{id}, d)
		if err == nil {
			j = list[0]
		}
		return err
	})
	return j, queueFailed(ctx, "lease job", err)
}

// held ends the text of a statement that changes a row somebody has leased.
const held = ` WHERE id = ?1 AND lease = ?2 AND state = 'running'`

// Renew implements [jobs.Queue].
func (s *Store) Renew(ctx context.Context, d time.Duration, list ...jobs.Job) (lost []jobs.Job, err error) {
	err = s.write(ctx, func(t *tx) error {
		for _, j := range list {
			n, err := t.exec(`UPDATE jobs SET leased_till = ?3`+held, j.ID, j.Lease, social.Stamp(t.now.Add(d)))
			if err != nil {
				return err
			}
			if n == 0 {
				lost = append(lost, j)
			}
		}
		return nil
	})
	if err != nil {
		return nil, queueFailed(ctx, "renew leases", err)
	}
	return lost, nil
}

// Done implements [jobs.Queue].
func (s *Store) Done(ctx context.Context, j jobs.Job) (again bool, err error) {
	ends, err := s.DoneAll(ctx, []jobs.Job{j})
	switch {
	case err != nil:
		return false, err
	case ends[0].Lost:
		return false, fmt.Errorf("%s %s: %w", j.Kind, j.Key, jobs.ErrLost)
	}
	return ends[0].Again, nil
}

// DoneAll implements [jobs.Queue].
func (s *Store) DoneAll(ctx context.Context, list []jobs.Job) (ends []jobs.End, err error) {
	err = s.write(ctx, func(t *tx) error {
		ends = make([]jobs.End, len(list))
		for i, j := range list {
			state, err := t.complete(j, s.opts.KeepJobs)
			if err != nil {
				return err
			}
			ends[i] = jobs.End{Again: state == jobs.Pending, Lost: state == ""}
			t.woken = t.woken || ends[i].Again
		}
		return nil
	})
	return ends, queueFailed(ctx, "complete jobs", err)
}

// complete returns the state that a row then has, none where the lease is lost.
func (t *tx) complete(j jobs.Job, keep bool) (state jobs.State, err error) {
	if !keep || !j.Kind.Kept() {
		n, err := t.exec(`DELETE FROM jobs`+held+` AND generation = leased_generation`, j.ID, j.Lease)
		if err != nil || n > 0 {
			return jobs.Completed, err
		}
	}
	_, err = found(t.row(`UPDATE jobs SET leased_till = 0,
		state = CASE WHEN generation = leased_generation THEN 'completed' ELSE 'pending' END,
		error = '', finished = CASE WHEN generation = leased_generation THEN ?3 ELSE 0 END`+held+` RETURNING state`,
		j.ID, j.Lease, social.Stamp(t.now)), &state)
	return state, err
}

// end runs a statement that ends a lease, of ?3 now, and returns the state.
func (s *Store) end(ctx context.Context, what string, j jobs.Job, text string, args ...any) (state jobs.State, err error) {
	err = s.write(ctx, func(t *tx) error {
		ok, err := found(t.row(text+held+` RETURNING state`, append([]any{j.ID, j.Lease, social.Stamp(t.now)}, args...)...), &state)
		if err == nil && !ok {
			err = fmt.Errorf("%s %s: %w", j.Kind, j.Key, jobs.ErrLost)
		}
		t.woken = state == jobs.Pending
		return err
	})
	if err != nil {
		return "", queueFailed(ctx, what, err)
	}
	return state, nil
}

// Fail implements [jobs.Queue].
func (s *Store) Fail(ctx context.Context, j jobs.Job, f jobs.Failure) (jobs.State, error) {
	return s.end(ctx, "fail job", j, `UPDATE jobs SET leased_till = 0,
		state = CASE WHEN generation <> leased_generation THEN 'pending' WHEN ?4 OR attempts < ?7 THEN 'failed' ELSE 'dead' END,
		run_at = CASE WHEN generation = leased_generation THEN ?3 + ?5 ELSE run_at END,
		attempts = CASE WHEN generation = leased_generation AND ?4 THEN max(attempts - 1, 0) ELSE attempts END,
		finished = CASE WHEN generation = leased_generation AND NOT ?4 AND attempts >= ?7 THEN ?3 ELSE 0 END,
		error = ?6`, f.Wait, f.After.Microseconds(), jobs.Clip(f.Reason), jobs.MaxAttempts)
}

// GiveBack implements [jobs.Queue].
func (s *Store) GiveBack(ctx context.Context, list ...jobs.Job) error {
	return queueFailed(ctx, "give jobs back", s.write(ctx, func(t *tx) error {
		for _, j := range list {
			if _, err := t.exec(`UPDATE jobs SET state = 'pending', leased_till = 0, attempts = max(attempts - 1, 0)`+held, j.ID, j.Lease); err != nil {
				return err
			}
		}
		t.woken = len(list) > 0
		return nil
	}))
}
