package itemindex

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/repeat"
	"github.com/freshet/freshet/recall"
)

// Use is how the index is used, to know that it can be.
type Use struct {
	// Ready is asked before the first search; an error says that it has to wait.
	Ready func(context.Context) error
	// Query is that of the empty profile.
	Query func() feed.Query
	// Docs reads contents, past all caches.
	Docs func(ctx context.Context, ids []string) ([]feed.Doc, error)
	// Front keeps what stands in for recall while Elasticsearch is down.
	Front *recall.Front
}

// Pauses are how long the watch waits.
type Pauses struct {
	WarmUp  time.Duration // between two tries to begin, or to recall what was refused
	Standby time.Duration // between two renewals of the list that stands in
	Mapping time.Duration // between two looks at the mapping
}

// Begin does the startup at once where Elasticsearch has answered [Watch.Try], and leaves it
// to Run otherwise.
func (w *Watch) Begin(ctx context.Context, use Use) {
	if w.found != nil {
		w.visit(ctx, use)
	}
}

// Run does the startup, and then recalls now and then, until ctx ends: to renew the lists
// that are served while it is down, and to know that it can be recalled from.
func (w *Watch) Run(ctx context.Context, use Use, pauses Pauses) {
	w.repeat(ctx, pauses, func(ctx context.Context) { w.visit(ctx, use) })
}

// LookNowAndThen looks at the mapping until ctx ends.
func (w *Watch) LookNowAndThen(ctx context.Context, pauses Pauses) {
	repeat.Every(ctx, pauses.Mapping, func(ctx context.Context) { w.doubt(ctx, nil) })
}

// repeat calls visit after each pause, which is a short one while the startup is not done or
// where somebody is in a hurry.
func (w *Watch) repeat(ctx context.Context, pauses Pauses, visit func(context.Context)) {
	for {
		pause, woken := pauses.Standby, w.woken
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
		visit(ctx)
	}
}

// visit tries the startup once, or recalls once it is done.
func (w *Watch) visit(ctx context.Context, use Use) {
	if w.Waiting() != nil {
		if err := w.warmUp(ctx, use); ctx.Err() == nil {
			w.tried(ctx, err)
		}
		return
	}
	err := w.look(ctx)
	if err == nil {
		err = w.RecallForAll(ctx, use)
	}
	if ctx.Err() == nil {
		w.recalled(ctx, err)
	}
}

// warmUp makes the backends usable, and sends the first search.
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

// RecallForAll recalls the empty profile from each source, and keeps the answer, which
// stands in while Elasticsearch is down.
func (w *Watch) RecallForAll(ctx context.Context, use Use) error {
	schema, err := w.schema.Get()
	if err != nil {
		return err
	}
	docs := func(ctx context.Context, ids []string) ([]feed.Doc, error) {
		found, err := use.Docs(ctx, ids)
		if now, changed := w.schema.Get(); changed != nil || *now != *schema {
			err = cmp.Or(err, changed, fmt.Errorf("%w: the mapping has changed", esindex.ErrUnavailable))
		}
		return found, err
	}
	return use.Front.Renew(ctx, use.Query(), docs, schema.Tells)
}
