// Package fanout keeps data that is derived from the social store consistent: timelines,
// outboxes and the items of public posts. It knows contracts only.
//
// A list is complete, and has nothing that does not belong there, as soon as the jobs of a
// change have run, in whatever order they run, twice, late, or broken off.
//
// Every write to a list is made on condition of its version, and what it is made of is asked of
// the store after that version was: see [timeline.Head]. A job that changes what belongs into a
// list clears its token first, which ends the version. So whoever has asked the store before the
// change writes nothing after it.
package fanout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	// few and many are how many jobs of a kind are run as a batch: those that take
	// long, and those that mostly find no list.
	few, many = 4, 50
	// grace is how long an author is delivered both ways at least: longer than the lease of a
	// job, a request and what servers keep for a second.
	grace = 45 * time.Second
	// margin is by how much the clocks of servers may differ.
	margin = 2 * time.Minute
)

// Deps are the dependencies of a Fanout. All are required but Files, Cards, Log and the numbers.
type Deps struct {
	Store    social.Store // the backend itself
	Queue    jobs.Queue   // of the same backend
	Lists    timeline.Lists
	Outboxes timeline.Lists
	Items    catalog.Writer // keeps the items of public posts
	// Files removes the images of posts that are not there; nil: there is no store of images.
	Files Files
	// Cards keeps cards of public posts for while the store cannot be asked; nil: none are kept.
	Cards     social.CardCache
	Cap       int // of a timeline; default [timeline.Cap]
	OutboxCap int // of an outbox; default [timeline.OutboxCap]
	Clock     feed.Clock
	Log       *slog.Logger // nil: nothing is logged
	// Late is called when a write could neither change nor drop a list that lacks it now; nil:
	// it is not called.
	Late func()
	// Options are the store's: who is a celebrity.
	Options social.Options
}

// Fanout runs the jobs that follow from changes of the social store. It is safe
// for concurrent use; any number of servers may have one over the same stores.
type Fanout struct {
	d         Deps
	handlers  map[jobs.Kind]jobs.Handler
	timelines *builder
	outboxes  *builder
	limit     time.Duration // of what a write does at once
}

// New makes a Fanout; it asks nothing yet. The error names what is missing.
func New(d Deps) (*Fanout, error) {
	if d.Store == nil || d.Queue == nil || d.Lists == nil || d.Outboxes == nil || d.Items == nil || d.Clock == nil {
		return nil, errors.New("fanout needs a store, its queue, lists, outboxes, items and a clock")
	}
	d.Cap = cmp.Or(d.Cap, timeline.Cap)
	d.OutboxCap = cmp.Or(d.OutboxCap, timeline.OutboxCap)
	d.Log = cmp.Or(d.Log, slog.New(slog.DiscardHandler))
	if d.Late == nil {
		d.Late = func() {}
	}
	d.Options = d.Options.WithDefaults()
	f := &Fanout{d: d, limit: atOnceLimit}
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
		jobs.Deliver: eachJob(few, f.deliver),
		jobs.Pair:    each(many, f.pair),
		jobs.Member:  each(many, f.member),
		jobs.Author:  each(1, f.author),
		jobs.Erase:   each(1, f.erase),
		jobs.Images:  each(few, f.images),
		jobs.Suggest: each(1, f.suggest),
		jobs.Index:   {Batch: itemBatch, Run: f.items},
		jobs.Count:   {Batch: itemBatch, Run: f.items},
	}
	return f, nil
}

// Handlers runs the jobs of every kind, for [jobs.Start].
func (f *Fanout) Handlers() map[jobs.Kind]jobs.Handler { return f.handlers }

// Lost makes dirty again what was written to lists since a time, which their Redis may lack, and
// returns how many jobs that are. Errors are the queue's.
func (f *Fanout) Lost(ctx context.Context, since time.Time) (int, error) {
	return f.d.Queue.Again(ctx, since.Add(-margin), jobs.Deliver, jobs.Pair, jobs.Member, jobs.Author, jobs.Erase)
}

// each runs the jobs of a batch one by one. They end together, by one commit.
func each(batch int, run func(ctx context.Context, key string) error) jobs.Handler {
	return eachJob(batch, func(ctx context.Context, j jobs.Job) error { return run(ctx, j.Key) })
}

func eachJob(batch int, run func(context.Context, jobs.Job) error) jobs.Handler {
	return jobs.Handler{Batch: batch, Run: func(ctx context.Context, list []jobs.Job) []error {
		errs := make([]error, len(list))
		for i, j := range list {
			errs[i] = waits(run(ctx, j))
		}
		return errs
	}}
}

// waits makes an error of something that is down no failed attempt.
func waits(err error) error {
	if errors.Is(err, feed.ErrUnavailable) {
		return fmt.Errorf("%w: %w", jobs.ErrWait, err)
	}
	return err
}

// post reads a post as it is stored; zero where it is not known.
func (f *Fanout) post(ctx context.Context, id string) (social.Post, error) {
	posts, err := f.d.Store.PostsByID(ctx, []string{id})
	if err != nil {
		return social.Post{}, err
	}
	return posts[0], nil
}

// content takes up to n entries for a list, and the position of the next one as its floor.
func content(entries []social.Entry, n int) (add []timeline.Position, floor timeline.Position) {
	for i, e := range entries {
		if i == n {
			return add, e.Position
		}
		add = append(add, e.Position)
	}
	return add, floor
}
