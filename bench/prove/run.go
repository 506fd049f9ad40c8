package prove

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Services has the faults that a run makes in the services of a place, and a look at what they store.
type Services struct {
	Redis []Fault // one every [Options.Redis], in turn
	Other []Fault // one every [Options.Every], in turn, with those of the servers
	// Look returns what is stored; nil if nobody can tell.
	Look func(context.Context) (Stored, error)
}

// Fault breaks a service for a moment.
type Fault struct {
	Name string // what is done, as in "kill -9 of Redis"
	// Await returns when the service can bear it, as a replica that follows its master; nil if it always can.
	Await func(context.Context) error
	// Do returns when it is over.
	Do func(context.Context) error
}

// Stored counts what a system has stored.
type Stored struct {
	KeysWithoutTTL *int             `json:"keys_without_ttl,omitempty"` // of Redis; nil without one
	Tables         map[string]int64 `json:"tables"`                     // bytes by table, with its indexes; embedded, by file
}

// run is one adapter under load.
type run struct {
	o        Options
	sys      System
	lacks    []Notion
	model    *model
	services Services
	start    time.Time
	out      io.Writer

	down    []atomic.Bool  // by server: it is being restarted
	ahead   []atomic.Int64 // by server: how far its clock is ahead
	pairs   sync.Map       // unordered pair → in use by a change
	tally   *tally
	journal journal
	unsure  sync.Map // reader → number of calls that were given up
}

// Run starts an adapter at a place, and judges it.
func Run(ctx context.Context, o Options, a Adapter, p Place, services Services, progress io.Writer) (Column, error) {
	column := Column{Adapter: a.Name, About: a.About, Disclaims: a.Disclaims, Lacks: a.Lacks}
	column.OwesNothing = !a.OwesPublic && slices.Contains(a.Lacks, Follows)
	sys, err := a.Start(ctx, p)
	if err != nil {
		return column, fmt.Errorf("%s: start: %w", a.Name, err)
	}
	r := &run{
		o: o, sys: sys, lacks: a.Lacks, model: newModel(a.OwesPublic), services: services, start: time.Now(), out: progress, tally: newTally(),
		down: make([]atomic.Bool, sys.Servers()), ahead: make([]atomic.Int64, sys.Servers()),
	}
	err = r.judge(ctx)
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	err = errors.Join(err, sys.Close(ending))
	if err != nil {
		return column, fmt.Errorf("%s: %w", a.Name, err)
	}
	r.fill(&column)
	return column, nil
}

// judge makes the begin, the load with its faults, and the end.
func (r *run) judge(ctx context.Context) error {
	if err := r.begin(ctx); err != nil {
		return err
	}
	fmt.Fprintf(r.out, "  %v: %d agents have %d posts\n", r.now().Round(time.Second), r.o.Agents, r.o.Posts)
	r.start = r.start.Add(-time.Second) // what was done before the load is in the past of its first call
	began := r.now()
	loading, stop := context.WithCancel(ctx)
	defer stop()
	var background sync.WaitGroup
	faults := make(chan error, 1)
	background.Go(func() { faults <- r.faults(loading, began) })
	background.Go(func() { r.sample(loading, began) })
	r.load(ctx, began)
	r.tally.took = r.now() - began
	stop()
	background.Wait()
	if err := errors.Join(<-faults, ctx.Err()); err != nil {
		return err
	}
	fmt.Fprintf(r.out, "  %v: the load has ended; readers ask to the end\n", r.now().Round(time.Second))
	return r.drain(ctx)
}

func (r *run) now() moment { return time.Since(r.start) }

// begin makes the follows and posts from before the load, without faults.
func (r *run) begin(ctx context.Context) error {
	if r.o.Ahead > 0 { // the last server's clock is ahead, or that of the only one until it is killed
		last := r.sys.Servers() - 1
		if err := r.restart(ctx, last, r.o.Ahead); err != nil {
			return err
		}
	}
	follows, posts := beginning(r.o)
	if err := each(ctx, 8, follows, func(ctx context.Context, p pair) error { return r.relate(ctx, step{kind: follow, a: p[0], b: p[1]}) }); err != nil {
		return err
	}
	return each(ctx, 8, posts, func(ctx context.Context, p Post) error { return r.publish(ctx, step{}, p) })
}

// each calls do for all of a list, some at a time, until one fails.
func each[T any](ctx context.Context, atOnce int, list []T, do func(context.Context, T) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	queue := make(chan T)
	for range atOnce {
		wg.Go(func() {
			for x := range queue {
				if err := do(ctx, x); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, x := range list {
		if ctx.Err() != nil {
			break
		}
		queue <- x
	}
	close(queue)
	wg.Wait()
	return context.Cause(ctx)
}

// mostWaiting bounds the calls that wait for an answer.
const mostWaiting = 2000

// load makes the calls of the plan when they are due, whether earlier ones are answered or not.
func (r *run) load(ctx context.Context, began moment) {
	waiting := make(chan struct{}, mostWaiting)
	var calls sync.WaitGroup
	for _, s := range plan(r.o) {
		due := began + s.at
		if pause(ctx, due-r.now()) != nil {
			break
		}
		select {
		case waiting <- struct{}{}:
		default:
			r.tally.dropped.Add(1)
			continue
		}
		calls.Go(func() {
			defer func() { <-waiting }()
			r.do(ctx, s, due)
		})
	}
	calls.Wait()
}

// pause waits, or returns the context's error.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
