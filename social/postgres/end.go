package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// heldText begins a statement that changes rows somebody has leased, $1 and $2
// their ids and leases, of $3 now: what is set follows. The rows are locked in
// the order of their keys, which is everybody's.
const heldText = `WITH held AS MATERIALIZED (
		SELECT j.id FROM unnest($1::bigint[], $2::bigint[]) h (id, lease)
		JOIN jobs j ON j.id = h.id AND j.lease = h.lease AND j.state = 'running'
		ORDER BY j.kind COLLATE "C", j.key FOR UPDATE OF j)
	UPDATE jobs SET `

// What ends a lease, or extends it.
const (
	renewText = heldText + `leased_till = $3 FROM held WHERE jobs.id = held.id RETURNING jobs.id, state`

	failText = heldText + `leased_till = 0,
		state = CASE WHEN generation <> leased_generation THEN 'pending' WHEN $4 OR attempts < $7 THEN 'failed' ELSE 'dead' END,
		run_at = CASE WHEN generation = leased_generation THEN $3::bigint + $5::bigint ELSE run_at END,
		attempts = CASE WHEN generation = leased_generation AND $4 THEN greatest(attempts - 1, 0) ELSE attempts END,
		finished = CASE WHEN generation = leased_generation AND NOT $4 AND attempts >= $7 THEN $3 ELSE 0 END,
		error = $6 FROM held WHERE jobs.id = held.id RETURNING jobs.id, state`

	giveBackText = heldText + `state = 'pending', leased_till = 0, attempts = greatest(attempts - 1, 0)
		FROM held WHERE jobs.id = held.id AND $3::bigint > 0 RETURNING jobs.id, state`
)

// doneText completes such rows, or removes those of the kinds $4. Which of the two
// is asked of each row as it was locked.
const doneText = `WITH held AS MATERIALIZED (
		SELECT j.id, j.kind = ANY ($4::text[]) AND j.generation = j.leased_generation AS over
		FROM unnest($1::bigint[], $2::bigint[]) h (id, lease) JOIN jobs j ON j.id = h.id AND j.lease = h.lease AND j.state = 'running'
		ORDER BY j.kind COLLATE "C", j.key FOR UPDATE OF j),
	removed AS (DELETE FROM jobs USING held WHERE jobs.id = held.id AND held.over RETURNING jobs.id),
	ended AS (UPDATE jobs SET leased_till = 0, state = CASE WHEN generation = leased_generation THEN 'completed' ELSE 'pending' END,
		error = '', finished = CASE WHEN generation = leased_generation THEN $3::bigint ELSE 0 END
		FROM held WHERE jobs.id = held.id AND NOT held.over RETURNING jobs.id, state)
	SELECT id, state FROM ended UNION ALL SELECT id, 'completed' FROM removed`

// notKept are the kinds whose rows are removed when they are done.
func (s *Store) notKept() (list []string) {
	for _, kind := range jobs.Kinds() {
		if !s.opts.KeepJobs || !kind.Kept() {
			list = append(list, string(kind))
		}
	}
	return list
}

// end runs such a statement, which is a transaction by itself, and returns the
// state of each row that was held, by id.
func (s *Store) end(ctx context.Context, text string, at time.Time, list []jobs.Job, args ...any) (states map[int64]jobs.State, err error) {
	ids, leases := make([]int64, len(list)), make([]int64, len(list))
	for i, j := range list {
		ids[i], leases[i] = j.ID, j.Lease
	}
	for attempt := 1; ; attempt++ {
		states = make(map[int64]jobs.State, len(list))
		err = s.read(ctx, func(q querying) error {
			return q.each(func(rows pgx.Rows) error {
				var id int64
				var state jobs.State
				err := rows.Scan(&id, &state)
				states[id] = state
				return err
			}, text, append([]any{ids, leases, social.Stamp(at)}, args...)...)
		})
		if !again(err) || attempt == attempts {
			break
		}
	}
	for _, state := range states {
		if err == nil && state == jobs.Pending {
			s.wake()
		}
	}
	return states, err
}

// Renew implements [jobs.Queue].
func (s *Store) Renew(ctx context.Context, d time.Duration, list ...jobs.Job) (lost []jobs.Job, err error) {
	states, err := s.end(ctx, renewText, s.opts.Clock().Add(d), list)
	if err != nil {
		return nil, queueFailed(ctx, "renew leases", err)
	}
	for _, j := range list {
		if _, held := states[j.ID]; !held {
			lost = append(lost, j)
		}
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
func (s *Store) DoneAll(ctx context.Context, list []jobs.Job) ([]jobs.End, error) {
	states, err := s.end(ctx, doneText, s.opts.Clock(), list, s.notKept())
	if err != nil {
		return nil, queueFailed(ctx, "complete jobs", err)
	}
	ends := make([]jobs.End, len(list))
	for i, j := range list {
		state, held := states[j.ID]
		delete(states, j.ID) // a lease ends once
		ends[i] = jobs.End{Again: state == jobs.Pending, Lost: !held}
	}
	return ends, nil
}

// Fail implements [jobs.Queue].
func (s *Store) Fail(ctx context.Context, j jobs.Job, f jobs.Failure) (jobs.State, error) {
	states, err := s.end(ctx, failText, s.opts.Clock(), []jobs.Job{j}, f.Wait, f.After.Microseconds(), jobs.Clip(f.Reason), jobs.MaxAttempts)
	if _, held := states[j.ID]; err == nil && !held {
		err = fmt.Errorf("%s %s: %w", j.Kind, j.Key, jobs.ErrLost)
	}
	if err != nil {
		return "", queueFailed(ctx, "fail job", err)
	}
	return states[j.ID], nil
}

// GiveBack implements [jobs.Queue].
func (s *Store) GiveBack(ctx context.Context, list ...jobs.Job) error {
	_, err := s.end(ctx, giveBackText, s.opts.Clock(), list)
	return queueFailed(ctx, "give jobs back", err)
}
