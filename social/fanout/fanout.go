// Package fanout keeps data that is derived from the social store consistent: timelines,
// outboxes and the items of public posts. It depends on interfaces only.
//
// A list is complete, and holds no posts that do not belong in it, as soon as the jobs of a
// change have run. They may run in any order, twice, late, or be interrupted and repeated.
//
// Every write to a list is conditional on the list's version, and its content is read from the
// store after the version: see [timeline.Head]. A job that changes the content of a list clears the
// list's token first, which changes the version. So a write based on a read of the store from
// before the change fails after it.
package fanout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/timeline"
)

const (
	// page is how many receivers are pushed to at once.
	page = 1000
	// together is how many posts are delivered together, which share the round trips.
	together = 16
	// few and many are batch sizes: few for kinds of jobs that take long, many for those that
	// mostly find no list.
	few, many = 4, 50
	// grace is the minimum time for which an author is delivered both ways: longer than the
	// lease of a job, a request and the second for which servers cache data.
	grace = 45 * time.Second
	// margin is the maximum difference between the clocks of servers.
	margin = 2 * time.Minute
)

// Deps are the dependencies of a Fanout. All are required except Files, Profiles, Cards, Cap, OutboxCap,
// Log, ListsUnreachable, Wake and Options.
type Deps struct {
	Store    social.Store // the backend itself
	Queue    jobs.Queue   // of the same backend
	Lists    timeline.Lists
	Outboxes timeline.Lists
	Items    catalog.Writer // stores the items of public posts
	// Files removes the images of posts that do not exist. Nil means there is no image store.
	Files Files
	// Profiles tell whom a reader mutes. Nil means that suggestions are stored regardless of it.
	Profiles interface {
		Profile(ctx context.Context, agent string) (feed.Profile, error)
	}
	// Cards caches cards of public posts for use while the store is unavailable. Nil disables it.
	Cards     social.CardCache
	Cap       int // of a timeline; default [timeline.Cap]
	OutboxCap int // of an outbox; default [timeline.OutboxCap]
	Clock     feed.Clock
	Log       *slog.Logger // nil disables logging
	// ListsUnreachable, unless nil, is called when a write could neither change nor drop a list, which
	// therefore lacks the write.
	ListsUnreachable func()
	// Wake, unless nil, is called after a post was pushed into lists, and after the delivery of a public
	// one. It must not block.
	Wake func(timeline.Wake)
	// Options are the store's options, for the celebrity thresholds.
	Options social.Options
}

// Fanout runs the jobs that changes of the social store cause. It is safe for concurrent
// use, and any number of servers may run one over the same stores.
type Fanout struct {
	d         Deps
	handlers  map[jobs.Kind]jobs.Handler
	timelines *builder
	outboxes  *builder
	limit     time.Duration // of each additional step of a write
}

// New returns a Fanout and makes no calls. The error names the required dependencies.
func New(d Deps) (*Fanout, error) {
	switch {
	case d.Store == nil, d.Queue == nil, d.Lists == nil, d.Outboxes == nil, d.Items == nil, d.Clock == nil:
		return nil, errors.New("fanout needs a store, its queue, lists, outboxes, items and a clock")
	}
	d.Cap = cmp.Or(d.Cap, timeline.Cap)
	d.OutboxCap = cmp.Or(d.OutboxCap, timeline.OutboxCap)
	d.Log = cmp.Or(d.Log, slog.New(slog.DiscardHandler))
	if d.ListsUnreachable == nil {
		d.ListsUnreachable = func() {}
	}
	if d.Wake == nil {
		d.Wake = func(timeline.Wake) {}
	}
	d.Options = d.Options.WithDefaults()
	f := &Fanout{d: d, limit: beforeAnswerLimit}
	f.timelines = &builder{
		kind: "timeline", lists: d.Lists, cap: d.Cap, clock: d.Clock, patience: patience,
		read: func(ctx context.Context, agent string, n int) ([]social.Entry, error) {
			return d.Store.Pull(ctx, social.PullQuery{Reader: agent, N: n})
		},
	}
	f.outboxes = &builder{
		kind: "outbox", lists: d.Outboxes, cap: d.OutboxCap, clock: d.Clock, patience: patience,
		read: func(ctx context.Context, author string, n int) ([]social.Entry, error) {
			return d.Store.Newest(ctx, []string{author}, social.Position{}, n)
		},
	}
	f.handlers = map[jobs.Kind]jobs.Handler{
		jobs.Deliver:     {Batch: together, Run: f.deliver},
		jobs.AuthorAgent: each(many, f.authorAgent),
		jobs.Member:      each(many, f.member),
		jobs.Author:      each(1, f.author),
		jobs.Erase:       each(1, f.erase),
		jobs.Images:      each(few, f.images),
		jobs.Suggest:     each(1, f.suggest),
		jobs.Recommend:   each(1, f.recommend),
		jobs.Index:       {Batch: itemBatch, Run: f.items},
		jobs.Count:       {Batch: itemBatch, Run: f.items},
	}
	return f, nil
}

// Handlers returns the handlers for jobs of every kind, for [jobs.Start].
func (f *Fanout) Handlers() map[jobs.Kind]jobs.Handler { return f.handlers }

// Redeliver marks dirty again all rows whose writes to lists since a time may have been lost by Redis,
// and returns the number of jobs. Errors are the queue's.
func (f *Fanout) Redeliver(ctx context.Context, since time.Time) (int, error) {
	return f.d.Queue.Reenqueue(ctx, since.Add(-margin), jobs.Deliver, jobs.AuthorAgent, jobs.Member, jobs.Author, jobs.Erase)
}

// each returns a handler that runs the jobs of a batch one by one. One commit completes them all.
func each(batch int, run func(context.Context, jobs.Job) error) jobs.Handler {
	return jobs.Handler{Batch: batch, Run: func(ctx context.Context, list []jobs.Job) []error {
		errs := make([]error, len(list))
		for i, j := range list {
			errs[i] = waits(run(ctx, j))
		}
		return errs
	}}
}

// failed returns the errors of jobs whose run failed. It runs each of several alone, unless a
// dependency is unavailable: what is wrong with one, such as a damaged row, must not fail the others.
func failed(ctx context.Context, list []jobs.Job, err error, run func(context.Context, []jobs.Job) []error) []error {
	err = waits(err)
	errs := slices.Repeat([]error{err}, len(list))
	if len(list) == 1 || errors.Is(err, jobs.ErrWait) || ctx.Err() != nil {
		return errs
	}
	for i, j := range list {
		errs[i] = run(ctx, []jobs.Job{j})[0]
	}
	return errs
}

// waits wraps the error of an unavailable dependency in [jobs.ErrWait], so that it does not count
// as a failed attempt.
func waits(err error) error {
	if errors.Is(err, feed.ErrUnavailable) {
		return fmt.Errorf("%w: %w", jobs.ErrWait, err)
	}
	return err
}

// content returns the first n entries for a list, and the position of the next one as its floor.
func content(entries []social.Entry, n int) (add []timeline.Position, floor timeline.Position) {
	for i, e := range entries {
		if i == n {
			return add, e.Position
		}
		add = append(add, e.Position)
	}
	return add, floor
}
