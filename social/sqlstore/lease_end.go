package sqlstore

import (
	"cmp"
	"context"
	"time"

	"github.com/freshet/freshet/social/jobs"
)

// notRetained returns the kinds whose rows are removed on completion.
func (s *Store) notRetained() (list []string) {
	for _, kind := range jobs.Kinds() {
		if !s.opts.KeepJobs || !kind.Retained() {
			list = append(list, string(kind))
		}
	}
	return list
}

// states maps the ids of jobs that were held to their new states.
type states map[int64]jobs.State

// end ends or extends, with a statement, the leases of the jobs in list that are still held, in one
// transaction.
func (s *Store) end(ctx context.Context, text string, list []jobs.Job, args ...any) (held states, err error) {
	err = s.alone(ctx, func(q *Query) {
		held = states{}
		rest := list
		if text == q.d.Done && q.d.Remove != "" {
			rest = s.remove(q, held, list)
		}
		ids, leases := make([]int64, len(rest)), make([]int64, len(rest))
		for i, j := range rest {
			ids[i], leases[i] = j.ID, j.Lease
		}
		mapOf(q, held, text, append([]any{queueNow(s.opts), Table{ids, leases}}, args...)...)
	})
	for _, state := range held {
		if err == nil && state == jobs.Pending {
			s.notify()
		}
	}
	return held, err
}

// Renew implements [jobs.Queue].
func (s *Store) Renew(ctx context.Context, d time.Duration, list ...jobs.Job) (lost []jobs.Job, err error) {
	held, err := s.end(ctx, renewText, list, d.Microseconds())
	if err != nil {
		return nil, s.failed(ctx, "renew leases", err)
	}
	for _, j := range list {
		if _, ok := held[j.ID]; !ok {
			lost = append(lost, j)
		}
	}
	return lost, nil
}

// Done implements [jobs.Queue].
func (s *Store) Done(ctx context.Context, list ...jobs.Job) ([]jobs.State, error) {
	held, err := s.end(ctx, s.d.Done, list, s.notRetained())
	if err != nil {
		return nil, s.failed(ctx, "complete jobs", err)
	}
	ends := make([]jobs.State, len(list))
	for i, j := range list {
		ends[i] = cmp.Or(held[j.ID], jobs.Lost)
		delete(held, j.ID) // a lease ends only once
	}
	return ends, nil
}

// remove removes completed jobs that are not retained, and returns the others.
func (s *Store) remove(q *Query, held states, list []jobs.Job) (rest []jobs.Job) {
	for _, j := range list {
		kept := s.opts.KeepJobs && j.Kind.Retained()
		removed := !kept && q.exec(q.d.Remove, j.ID, j.Lease) > 0
		if removed {
			held[j.ID] = jobs.Completed
		} else {
			rest = append(rest, j)
		}
	}
	return rest
}

// Fail implements [jobs.Queue].
func (s *Store) Fail(ctx context.Context, j jobs.Job, f jobs.Failure) (jobs.State, error) {
	held, err := s.end(ctx, failText, []jobs.Job{j}, f.Wait, f.After.Microseconds(), jobs.Clip(f.Reason), jobs.MaxAttempts)
	if err != nil {
		return "", s.failed(ctx, "fail job", err)
	}
	return cmp.Or(held[j.ID], jobs.Lost), nil
}

// Release implements [jobs.Queue].
func (s *Store) Release(ctx context.Context, list ...jobs.Job) error {
	_, err := s.end(ctx, releaseText, list)
	return s.failed(ctx, "return jobs", err)
}

// ReleaseUnknown implements [jobs.Queue].
func (s *Store) ReleaseUnknown(ctx context.Context, but ...jobs.Job) (int, error) {
	held, err := s.end(ctx, releaseUnknownText, but, s.name)
	return len(held), s.failed(ctx, "release lost leases", err)
}

// EndLeases ends every lease: for a process that starts and is the only one that works on these
// jobs. Leases of the previous process would otherwise block their jobs until they expire.
func (s *Store) EndLeases(ctx context.Context) error {
	return s.failed(ctx, "end leases", s.alone(ctx, func(q *Query) {
		q.exec(`UPDATE jobs SET leased_till = 0 WHERE state = 'running'`)
	}))
}
