package jobs

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/freshet/freshet/internal/periodic"
	"github.com/freshet/freshet/internal/safego"
)

// Handler updates the derived data of one kind from the store's state at the time of the run. It
// may be run twice, and again after it was interrupted.
type Handler struct {
	// Batch is the maximum number of jobs per run; 0 means one.
	Batch int
	// Run returns one error per job, nil for those that are done. A nil slice means that all
	// are. A job whose error wraps [ErrWait] waits for an unavailable dependency. Errors must not
	// contain content. Run returns soon after its context ends; jobs do not fail because of that.
	Run func(ctx context.Context, list []Job) []error
}

// Config configures a [Runner]. Zero fields have their defaults.
type Config struct {
	Workers int          // concurrent runs; default 8
	Logger  *slog.Logger // nil disables logging
	// ListsUnreachable, unless nil, is called when the queue is available again after a call to it has
	// failed: jobs that were due meanwhile may not have run.
	ListsUnreachable func()
}

const (
	// poll is the poll interval of the queue without a wake-up.
	poll = 250 * time.Millisecond
	// leaseTime is how long a job is leased; the lease is renewed while it runs.
	leaseTime = 30 * time.Second
	// sweepEvery is how often the queue is swept.
	sweepEvery = 10 * time.Second
)

// pause is how long no job of a kind is leased after one has found a dependency down: the others
// would fail in the same way.
const pause = time.Second

// sweepRows is how many completed rows one transaction removes: few, because other writes wait
// for it in a database with a single writer.
const sweepRows = 1000

// Runner works on a queue until it is closed.
type Runner struct {
	q        Queue
	handlers map[Kind]Handler
	cfg      Config

	ctx     context.Context // of the handlers; ends when Close gives up waiting
	abandon context.CancelFunc
	leasing context.Context // ends when Close is called
	stop    context.CancelFunc
	freed   chan struct{} // has a value after a run has ended
	again   chan struct{} // has a value after a job that had run became pending again
	loops   sync.WaitGroup
	ended   chan struct{} // closed when no more runs are started
	runs    sync.WaitGroup

	leasedAt time.Time // when jobs were last leased; only dispatch uses it

	mu            sync.Mutex
	takeBackUntil time.Time // until when unknown leases are taken back
	busy          int
	active        map[int64]Job // leased, by id
	gathered      []finished    // to be completed
	completedAt   time.Time     // when jobs were last completed
	paused        map[Kind]time.Time
	lateDue       atomic.Bool // a call of the queue has failed since ListsUnreachable was last called
}

// Start starts a runner; Close ends it. Only jobs of kinds with a handler are leased. ctx's
// cancellation is ignored.
func Start(ctx context.Context, q Queue, handlers map[Kind]Handler, cfg Config) *Runner {
	cfg.Workers = cmp.Or(cfg.Workers, 8)
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.ListsUnreachable == nil {
		cfg.ListsUnreachable = func() {}
	}
	ctx, abandon := context.WithCancel(context.WithoutCancel(ctx))
	leasing, stop := context.WithCancel(ctx)
	r := &Runner{
		q: q, handlers: handlers, cfg: cfg, ctx: ctx, abandon: abandon, leasing: leasing, stop: stop,
		freed: make(chan struct{}, 1), again: make(chan struct{}, 1), ended: make(chan struct{}), active: map[int64]Job{}, paused: map[Kind]time.Time{},
	}
	workers.Set(float64(r.cfg.Workers))
	expose(maps.Keys(handlers))
	r.loops.Go(func() {
		defer close(r.ended)
		for safego.Log(r.cfg.Logger, "dispatching jobs", r.dispatch) {
			time.Sleep(afterPanic)
		}
	})
	r.loops.Go(func() {
		for range periodic.Every(r.ctx, leaseTime/3) {
			safego.Log(r.cfg.Logger, upkeep, func() { r.renew(r.ctx) })
		}
	})
	r.loops.Go(func() {
		for range periodic.Every(r.leasing, sweepEvery) {
			safego.Log(r.cfg.Logger, upkeep, func() { r.sweep(r.leasing) })
		}
	})
	return r
}

// Close stops leasing jobs and waits for the running ones. When ctx ends, it interrupts those that
// still run and returns them to the queue.
func (r *Runner) Close(ctx context.Context) {
	r.stop()
	stop := context.AfterFunc(ctx, r.abandon)
	defer stop()
	<-r.ended
	workers.Set(0)
	r.runs.Wait()
	r.abandon()
	r.loops.Wait()
}

// afterPanic is the pause after a panic before jobs are dispatched again.
const afterPanic = time.Second

// upkeep names the periodic work in the log.
const upkeep = "upkeep of the queue"

func (r *Runner) sweep(ctx context.Context) {
	for {
		n, err := r.q.Sweep(ctx, sweepRows)
		if err != nil && ctx.Err() == nil {
			r.cfg.Logger.WarnContext(ctx, "completed jobs cannot be removed", "error", err)
		}
		if err != nil || n < sweepRows {
			return
		}
	}
}

func (r *Runner) renew(ctx context.Context) {
	r.mu.Lock()
	list := slices.Collect(maps.Values(r.active))
	r.mu.Unlock()
	if len(list) == 0 {
		return
	}
	lost, err := r.q.Renew(ctx, leaseTime, list...)
	if err != nil && ctx.Err() == nil {
		r.cfg.Logger.WarnContext(ctx, "leases of jobs cannot be renewed", "jobs", len(list), "error", err)
	}
	for _, j := range lost {
		r.cfg.Logger.DebugContext(ctx, "the lease of a job is lost", "kind", j.Kind, "key", j.Key)
	}
}

// dispatch repeatedly leases as many jobs as there are free workers.
func (r *Runner) dispatch() {
	timer := time.NewTimer(poll)
	defer timer.Stop()
	asks := periodic.Failing{Fails: "the job queue is unavailable", Again: "the job queue is available again"}
	for {
		left, err := r.take()
		if r.leasing.Err() != nil {
			return
		}
		asks.Tell(r.ctx, r.cfg.Logger, err)
		freed := r.freed
		switch left {
		case some:
			continue
		case none: // a worker that is free now has nothing to do
			freed = nil
		}
		timer.Reset(poll)
		select {
		case <-timer.C:
		case <-r.q.Notify():
			if left == none { // jobs that are marked one after the other are leased, and run, together
				_ = periodic.Pause(r.leasing, gathering-time.Since(r.leasedAt))
			}
		case <-r.again:
		case <-freed:
		case <-r.leasing.Done():
			return
		}
	}
}

// leftOver says whether take has left due jobs in the queue.
type leftOver int

const (
	unknown leftOver = iota // all workers are busy, or the queue is unavailable
	none                    // no job is due
	some                    // there may be due jobs, and free workers
)

// take leases jobs and starts them.
func (r *Runner) take() (left leftOver, err error) {
	if err := r.releaseUnknown(); err != nil {
		return unknown, err
	}
	kinds, free := r.ready()
	if free == 0 || len(kinds) == 0 {
		return unknown, nil
	}
	r.leasedAt = time.Now()
	list, err := r.q.Lease(r.leasing, free, leaseTime, kinds...)
	if err != nil {
		r.noteFailedCall()
	}
	for _, group := range r.group(list) {
		batch := r.handlers[group[0].Kind].Batch
		if len(list) == free && len(group) < batch { // otherwise no more jobs are due
			rest, failed := r.q.Lease(r.leasing, batch-len(group), leaseTime, group[0].Kind)
			if failed != nil { // the next call will return the error, too
				r.noteFailedCall()
			}
			group = append(group, rest...)
		}
		r.start(group)
	}
	switch {
	case err != nil:
		return unknown, err
	case len(list) == free:
		return some, nil
	}
	return none, nil
}

// noteFailedCall records that a call of the queue has failed. It may have leased jobs that no one
// works on, or failed to end leases of jobs that have run.
func (r *Runner) noteFailedCall() {
	r.mu.Lock()
	defer r.mu.Unlock()
	// A call whose reply was lost may still be running. Leases older than leaseTime have expired.
	r.takeBackUntil = time.Now().Add(leaseTime)
	r.lateDue.Store(true)
}

// releaseUnknown ends leases that this runner took but does not know of. It does so until leaseTime
// after a failed call.
func (r *Runner) releaseUnknown() error {
	r.mu.Lock()
	if !time.Now().Before(r.takeBackUntil) {
		r.mu.Unlock()
		return nil
	}
	known := slices.Collect(maps.Values(r.active))
	r.mu.Unlock()
	n, err := r.q.ReleaseUnknown(r.leasing, known...)
	if err != nil {
		return err
	}
	late := r.lateDue.Swap(false)
	if late || n > 0 {
		r.cfg.ListsUnreachable()
	}
	if n > 0 {
		r.cfg.Logger.WarnContext(r.ctx, "released jobs that were leased in a call whose reply was lost", "jobs", n)
	}
	return nil
}

// ready returns the kinds that are not paused and the number of free workers.
func (r *Runner) ready() (kinds []Kind, free int) {
	now := time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	for kind := range r.handlers {
		if !now.Before(r.paused[kind]) {
			kinds = append(kinds, kind)
		}
	}
	slices.Sort(kinds)
	return kinds, r.cfg.Workers - r.busy
}

// group groups jobs by kind into batches for one run each.
func (r *Runner) group(list []Job) (groups [][]Job) {
	open := map[Kind]int{}
	for _, j := range list {
		batch := max(r.handlers[j.Kind].Batch, 1)
		if i, ok := open[j.Kind]; ok && len(groups[i]) < batch {
			groups[i] = append(groups[i], j)
			continue
		}
		open[j.Kind] = len(groups)
		groups = append(groups, []Job{j})
	}
	return groups
}

// start runs jobs in a new goroutine.
func (r *Runner) start(list []Job) {
	r.mu.Lock()
	r.busy++
	for _, j := range list {
		r.active[j.ID] = j
	}
	r.mu.Unlock()
	r.runs.Go(func() {
		safego.Log(r.cfg.Logger, "running jobs", func() { r.work(list) })
		r.mu.Lock()
		r.busy--
		r.mu.Unlock()
		select {
		case r.freed <- struct{}{}:
		default:
		}
	})
}
