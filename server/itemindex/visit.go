package itemindex

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/periodic"
	"github.com/freshet/freshet/recall"
)

// Use holds the operations by which a Watch verifies that the index can be used.
type Use struct {
	// Ready is called before the first search; an error delays it.
	Ready func(context.Context) error
	// Query returns the query of the empty profile.
	Query func() feed.Query
	// Docs reads documents, bypassing all caches.
	Docs func(ctx context.Context, ids []string) ([]feed.Doc, error)
	// Shared stores the fallback lists that replace recall while Elasticsearch is down.
	Shared *recall.Shared
}

// Pauses holds the pauses of the watch.
type Pauses struct {
	WarmUp   time.Duration // between two attempts of the startup, or of a recall that was refused
	Fallback time.Duration // between two renewals of the fallback lists
	Mapping  time.Duration // between two checks of the mapping
}

// Begin attempts the startup immediately if Elasticsearch has answered [Watch.Try], and otherwise
// leaves it to Run.
func (w *Watch) Begin(ctx context.Context, use Use) {
	if w.found != nil {
		w.visit(ctx, use)
	}
}

// Run completes the startup, and then recalls periodically until ctx ends: to renew the fallback
// lists that are served while Elasticsearch is down, and to check that recall works.
func (w *Watch) Run(ctx context.Context, use Use, pauses Pauses) {
	for range w.visits(ctx, pauses) {
		w.visit(ctx, use)
	}
}

// CheckPeriodically checks the mapping, and whether writes are blocked, periodically until ctx ends.
func (w *Watch) CheckPeriodically(ctx context.Context, pauses Pauses) {
	for range periodic.Every(ctx, pauses.Mapping) {
		w.recheck(ctx, nil)
		w.checkWrites(ctx)
	}
}

// visits yields after each pause, which is short until the startup is complete, and after a call of
// hurry, until ctx ends.
func (w *Watch) visits(ctx context.Context, pauses Pauses) func(yield func() bool) {
	return func(yield func() bool) {
		for again := true; again; again = yield() {
			pause, woken := pauses.Fallback, w.woken
			if w.Waiting() != nil {
				pause = pauses.WarmUp
			}
			next := time.After(pause)
			for waiting := true; waiting; {
				select {
				case <-next:
					waiting = false
				case <-woken:
					next, woken = time.After(pauses.WarmUp), nil
				case <-ctx.Done():
					return
				}
			}
		}
	}
}

// visit attempts the startup, or recalls if that is complete.
func (w *Watch) visit(ctx context.Context, use Use) {
	if w.Waiting() != nil {
		if err := w.warmUp(ctx, use); ctx.Err() == nil {
			w.recordAttempt(ctx, err)
		}
		return
	}
	err := w.checkMapping(ctx)
	if err == nil {
		err = w.RecallForAll(ctx, use)
	}
	if ctx.Err() == nil {
		w.recordRecall(ctx, err)
	}
}

// warmUp makes the backends usable, and runs the first search.
func (w *Watch) warmUp(ctx context.Context, use Use) error {
	if err := w.inspect(ctx); err != nil {
		return err
	}
	if err := use.Ready(ctx); err != nil {
		return err
	}
	w.schema.Set(w.found.Schema)
	return w.RecallForAll(ctx, use)
}

// RecallForAll recalls the empty profile from each source, and stores the results as the fallback
// lists for outages of Elasticsearch.
func (w *Watch) RecallForAll(ctx context.Context, use Use) error {
	schema, err := w.schema.Get()
	if err != nil {
		return err
	}
	docs := func(ctx context.Context, ids []string) ([]feed.Doc, error) {
		found, err := use.Docs(ctx, ids)
		now, changed := w.schema.Get()
		if changed != nil || *now != *schema {
			err = cmp.Or(err, changed, fmt.Errorf("%w: the mapping has changed", esindex.ErrUnavailable))
		}
		return found, err
	}
	return use.Shared.RenewFallback(ctx, use.Query(), docs, schema.ContentDecides)
}
