package fanout

import (
	"context"
	"errors"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/repeat"
	"github.com/freshet/freshet/social/jobs"
)

const (
	// atOnceLimit bounds what a write does beside itself.
	atOnceLimit = 500 * time.Millisecond
	// atOnceLease is the lease of a job that a write runs itself. That takes [atOnceLimit], and
	// as long again to end it.
	atOnceLease = 2 * time.Second
	// takenLook is how often a job is looked at that somebody else runs.
	takenLook = 5 * time.Millisecond
)

// atOnce changes the lists of agents so that the caller of a write sees it in their next call, on
// any server. Where that takes too long the lists are dropped, so that the next call builds them
// from the store. Where they cannot be reached, the queue has them dropped, and until then every
// server answers from the store. The change is committed and a job is left for the workers, so
// nothing that fails here is the caller's concern.
func (f *Fanout) atOnce(ctx context.Context, agents []string, change func(ctx context.Context) error) {
	ctx = context.WithoutCancel(ctx)
	err := f.within(ctx, change)
	if err == nil {
		return
	}
	f.d.Log.DebugContext(ctx, "a job of a change waits for the workers", "error", err)
	if err := f.within(ctx, func(ctx context.Context) error { return f.d.Lists.Drop(ctx, agents) }); err != nil {
		f.d.Late()
		dirty := make([]jobs.Dirty, len(agents))
		for i, agent := range agents {
			dirty[i] = jobs.Dirty{Kind: jobs.Pair, Key: jobs.PairKey(jobs.Everybody, agent), Priority: jobs.PrioritySoon}
		}
		err = f.within(ctx, func(ctx context.Context) error { return f.d.Queue.Mark(ctx, dirty...) })
		if err != nil {
			f.d.Log.WarnContext(ctx, "lists lack a change that was accepted, and other servers do not know", "error", err)
		}
	}
}

// within runs do for as long as a write may take beside itself.
func (f *Fanout) within(ctx context.Context, do func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, f.limit)
	defer cancel()
	return do(ctx)
}

// row names a job.
type row struct {
	kind jobs.Kind
	key  string
}

// runRows runs jobs of pairs and members at once.
func (f *Fanout) runRows(ctx context.Context, rows ...row) {
	agents := make([]string, len(rows))
	for i, r := range rows {
		_, agents[i], _ = jobs.SplitPair(r.key)
	}
	f.atOnce(ctx, agents, func(ctx context.Context) error {
		for _, r := range rows {
			if err := f.runRow(ctx, r); err != nil {
				return err
			}
		}
		return nil
	})
}

// runRow runs a job under its lease, or waits until somebody else has run it.
func (f *Fanout) runRow(ctx context.Context, r row) error {
	for {
		j, err := f.d.Queue.LeaseKey(ctx, r.kind, r.key, atOnceLease)
		switch {
		case errors.Is(err, feed.ErrNotFound):
			return nil
		case errors.Is(err, jobs.ErrTaken):
			if repeat.Pause(ctx, takenLook) != nil {
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

// runLeased runs a job and tells the queue. again says that it is to be looked at again: it was
// marked meanwhile, or somebody else has it. One that failed is given to the workers.
func (f *Fanout) runLeased(ctx context.Context, j jobs.Job) (again bool, err error) {
	err = f.handlers[j.Kind].Run(ctx, []jobs.Job{j})[0]
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.limit)
	defer cancel()
	if err != nil {
		return false, errors.Join(err, f.d.Queue.GiveBack(end, j))
	}
	ends, err := f.d.Queue.Done(end, j)
	return err == nil && ends[0] != jobs.Completed, err
}
