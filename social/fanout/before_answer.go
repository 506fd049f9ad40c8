package fanout

import (
	"context"
	"errors"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/periodic"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

const (
	// beforeAnswerLimit bounds the time for each of the additional steps of a write.
	beforeAnswerLimit = 500 * time.Millisecond
	// beforeAnswerLease is the lease of a job that a write runs itself. Running it takes up to
	// [beforeAnswerLimit], and reporting the outcome as long again.
	beforeAnswerLease = 2 * time.Second
	// takenPoll is the poll interval for a job that another worker runs.
	takenPoll = 5 * time.Millisecond
)

// brief returns the context of an additional step of a write, which the caller's end does not cancel.
func (f *Fanout) brief(ctx context.Context) (context.Context, context.CancelFunc) {
	// What follows a write is no act of the agent who made the call.
	return context.WithTimeout(social.WithActor(context.WithoutCancel(ctx), social.Actor{}), f.limit)
}

// logLeft logs the error of a step after a write. A job repeats the step.
func (f *Fanout) logLeft(ctx context.Context, err error) {
	if err != nil {
		f.d.Log.DebugContext(ctx, "a job of a change is left to the workers", "error", err)
	}
}

// dropUnless must be called with the result of a change of the lists of agents, which lets the caller
// see their write in the next call, on any server. If the change failed or timed out, it drops the
// lists, and the next call builds them from the store. If the lists are unreachable it queues jobs
// that drop them, and until then every server answers from the store. The write is committed and has
// a job for the workers, so failures here are not returned.
func (f *Fanout) dropUnless(ctx context.Context, agents []string, failure error) {
	if failure == nil {
		return
	}
	f.logLeft(ctx, failure)
	drop, cancel := f.brief(ctx)
	defer cancel()
	if f.d.Lists.Drop(drop, agents) == nil {
		return
	}
	f.d.ListsUnreachable()
	dirty := make([]jobs.Spec, len(agents))
	for i, agent := range agents {
		dirty[i] = jobs.Spec{Kind: jobs.AuthorAgent, Key: jobs.PairKey(jobs.Everybody, agent), Priority: jobs.PrioritySoon}
	}
	queue, cancel := f.brief(ctx)
	defer cancel()
	if err := f.d.Queue.Enqueue(queue, dirty...); err != nil {
		f.d.Log.WarnContext(ctx, "could not update or drop lists after an accepted change, nor queue a job for it", "error", err)
	}
}

// row names a job.
type row struct {
	kind jobs.Kind
	key  string
}

// runRows runs the jobs of pairs and members immediately.
func (f *Fanout) runRows(ctx context.Context, rows ...row) {
	agents := make([]string, len(rows))
	for i, r := range rows {
		_, agents[i], _ = jobs.SplitPair(r.key)
	}
	f.dropUnless(ctx, agents, f.runInTime(ctx, rows...))
}

// runInTime runs jobs within the time of an additional step of a write.
func (f *Fanout) runInTime(ctx context.Context, rows ...row) error {
	ctx, cancel := f.brief(ctx)
	defer cancel()
	for _, r := range rows {
		if err := f.runRow(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// runRow runs a job under its lease, or waits until another worker has run it.
func (f *Fanout) runRow(ctx context.Context, r row) error {
	for {
		j, err := f.d.Queue.LeaseKey(ctx, r.kind, r.key, beforeAnswerLease)
		switch {
		case errors.Is(err, feed.ErrNotFound):
			return nil
		case errors.Is(err, jobs.ErrTaken):
			if periodic.Pause(ctx, takenPoll) != nil {
				return err
			}
			continue
		case err != nil:
			return err
		}
		if again, err := f.runLeased(ctx, j); err != nil || !again {
			return err
		}
	}
}

// runLeased runs a leased job and reports its outcome to the queue. again means that the job must
// be checked again: it was marked while it ran, or its lease was lost. A job that failed is
// returned to the queue for the workers.
func (f *Fanout) runLeased(ctx context.Context, j jobs.Job) (again bool, err error) {
	err = f.handlers[j.Kind].Run(ctx, []jobs.Job{j})[0]
	end, cancel := f.brief(ctx)
	defer cancel()
	if err != nil {
		return false, errors.Join(err, f.d.Queue.Release(end, j))
	}
	ends, err := f.d.Queue.Done(end, j)
	return err == nil && ends[0] != jobs.Completed, err
}
