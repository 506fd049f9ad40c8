package dedup

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/panjf2000/ants/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/safego"
)

var (
	recordedTotal = promauto.NewCounter(prometheus.CounterOpts{
		Name: "freshet_record_recorded_total", Help: "Impressions confirmed in a filter.",
	})
	deferredTotal = promauto.NewCounter(prometheus.CounterOpts{
		Name: "freshet_record_deferred_total",
		Help: "Impressions left in the pending sets for later, because the queue was full or the store kept failing.",
	})
)

// errDeferred means that an impression could not be recorded now. Groups that were served stay in
// the pending set, are filtered exactly, and are recorded later.
var errDeferred = feed.Errorf(ErrUnavailable, "impressions could not be recorded now; report them again")

// RecorderConfig configures a Recorder. Zero values mean the defaults.
type RecorderConfig struct {
	Batch   int           // impressions collected before a write; a larger delivery makes a larger write; 1000
	Linger  time.Duration // longest wait for a batch to fill; 5ms, which callers of Confirm do not notice
	Workers int           // concurrent writes; 8, so that round trips overlap
	Queue   int           // deliveries that may wait; 8192
	Grace   time.Duration // wait between confirmation and leaving the pending set; 10s
	GiveUp  time.Duration // how long a failing batch is retried before it is deferred; 30s
	Timeout time.Duration // deadline of one write; 5s
	Logger  *slog.Logger  // nil disables logging
	// NoFailover means that the store cannot lose confirmed writes to a failover. No deliveries are
	// then kept for [Recorder.Reclaim].
	NoFailover bool
}

// WithDefaults replaces zero values with the defaults.
func (c RecorderConfig) WithDefaults() RecorderConfig {
	c.Batch = cmp.Or(c.Batch, 1000)
	c.Linger = cmp.Or(c.Linger, 5*time.Millisecond)
	c.Workers = cmp.Or(c.Workers, 8)
	c.Queue = cmp.Or(c.Queue, 8192)
	c.Grace = cmp.Or(c.Grace, 10*time.Second)
	c.GiveUp = cmp.Or(c.GiveUp, 30*time.Second)
	c.Timeout = cmp.Or(c.Timeout, 5*time.Second)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return c
}

// Totals counts the outcomes of the impressions handed to a recorder. After Close, Recorded +
// Deferred = Delivered.
type Totals struct {
	Delivered, Recorded, Deferred uint64
}

// Recorder writes impressions to the filters off the request path, in batches over all agents. It
// retries failed writes, and removes confirmed impressions from the pending sets after the grace
// period. Unlike a [signals.Buffer] it waits for a batch to fill, writes several at once, and gives up
// what the pending sets hold anyway.
type Recorder struct {
	w       Writer
	clock   feed.Clock
	cfg     RecorderConfig
	ctx     context.Context // ends when Close gives up draining
	abandon context.CancelFunc

	mu     sync.RWMutex // held while sending on queue, so that Close may close it
	closed bool
	queue  chan delivery

	pool      *ants.Pool
	writes    sync.WaitGroup // batches handed to the pool
	backlog   backlog
	cleaner   *pendingCleaner
	recent    recent
	collected chan struct{} // closed when the collector has ended

	delivered, recorded, deferred atomic.Uint64
}

// delivery is one agent's impressions on their way to a batch.
type delivery struct {
	agent  string
	groups []string
	at     time.Time  // when it was handed over
	done   chan error // nil, or receives the result of recording
}

// NewRecorder starts a recorder; Close ends it. The clock determines which day is written to. The
// recorder uses ctx's values and ignores its cancellation.
func NewRecorder(ctx context.Context, w Writer, clock feed.Clock, cfg RecorderConfig) (*Recorder, error) {
	cfg = cfg.WithDefaults()
	pool, err := ants.NewPool(cfg.Workers)
	if err != nil {
		return nil, fmt.Errorf("recorder: %w", err)
	}
	ctx, abandon := context.WithCancel(context.WithoutCancel(ctx))
	r := &Recorder{
		w: w, clock: clock, cfg: cfg, ctx: ctx, abandon: abandon,
		queue: make(chan delivery, cfg.Queue), pool: pool,
		cleaner:   startPendingCleaner(ctx, w, cfg),
		collected: make(chan struct{}),
	}
	go r.collect()
	return r, nil
}

// Deliver hands over groups that an agent was given. It never blocks: if the queue is full the
// groups are deferred, that is, they stay in the pending set until a later refresh of the agent
// hands them over again. The recorder retains groups.
func (r *Recorder) Deliver(agent string, groups []string) {
	if len(groups) > 0 {
		r.remember(delivery{agent: agent, groups: groups})
	}
}

// Confirm hands over groups and waits until they are in a filter. The error wraps [ErrUnavailable]
// if they could not be written, or is the context's.
func (r *Recorder) Confirm(ctx context.Context, agent string, groups []string) error {
	if len(groups) == 0 {
		return nil
	}
	done := make(chan error, 1)
	r.remember(delivery{agent: agent, groups: groups, done: done})
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// remember enqueues a delivery, and keeps it if it may have to be repeated ([Recorder.Reclaim]).
func (r *Recorder) remember(d delivery) {
	d.at = r.clock()
	if !r.cfg.NoFailover {
		r.recent.add(d, r.cfg.Grace+recentBeyond)
	}
	r.enqueue(d)
}

func (r *Recorder) enqueue(d delivery) {
	n := uint64(len(d.groups))
	r.delivered.Add(n)
	r.mu.RLock()
	defer r.mu.RUnlock()
	if !r.closed {
		select {
		case r.queue <- d:
			return
		default:
		}
	}
	r.defers(len(d.groups))
	if d.done != nil {
		d.done <- fmt.Errorf("%w: the recorder's queue is full", errDeferred)
	}
}

func (r *Recorder) defers(n int) {
	r.deferred.Add(uint64(n))
	deferredTotal.Add(float64(n))
}

func (r *Recorder) collect() {
	defer close(r.collected)
	linger := time.NewTimer(time.Hour)
	defer linger.Stop()
	for first := range r.queue {
		batch := []delivery{first}
		members := len(first.groups)
		r.backlog.begin(first.at)
		linger.Reset(r.cfg.Linger)
	fill:
		for members < r.cfg.Batch {
			select {
			case d, ok := <-r.queue:
				if !ok {
					break fill
				}
				batch = append(batch, d)
				members += len(d.groups)
			case <-linger.C:
				break fill
			}
		}
		// Submit waits for a free worker; meanwhile the queue accepts deliveries.
		r.writes.Add(1)
		if err := r.pool.Submit(func() { r.write(batch, members) }); err != nil {
			r.writes.Done()
			r.backlog.end(first.at)
			r.finish(batch, members, nil, fmt.Errorf("%w: %w", errDeferred, err))
		}
	}
}

// write writes one batch. If it panics, the batch is deferred.
func (r *Recorder) write(batch []delivery, members int) {
	defer r.writes.Done()
	defer r.backlog.end(batch[0].at)
	if err := safego.Run(func() error { r.record(batch, members); return nil }); err != nil {
		r.cfg.Logger.ErrorContext(r.ctx, "panic while recording impressions", "error", err)
		r.finish(batch, members, nil, fmt.Errorf("%w: a panic, see the log", errDeferred))
	}
}

// record records one batch, retrying with exponential backoff until it is confirmed, GiveUp has
// elapsed, or the deadline of Close has passed.
func (r *Recorder) record(batch []delivery, members int) {
	left := make([]Impression, 0, members)
	for _, d := range batch {
		for _, g := range d.groups {
			left = append(left, Impression{Agent: d.agent, Group: g})
		}
	}
	all := left
	_, err := backoff.Retry(r.ctx, func() (struct{}, error) {
		ctx, cancel := context.WithTimeout(r.ctx, r.cfg.Timeout)
		defer cancel()
		unconfirmed, err := r.w.Record(ctx, left, r.clock())
		if err == nil {
			return struct{}{}, nil
		}
		left = unconfirmed
		r.cfg.Logger.WarnContext(r.ctx, "recording impressions failed, trying again", "unconfirmed", len(left), "error", err)
		return struct{}{}, err
	}, backoff.WithBackOff(backoff.NewExponentialBackOff()), backoff.WithMaxElapsedTime(r.cfg.GiveUp))
	if err != nil {
		err = fmt.Errorf("%w: %w", errDeferred, err)
	} else {
		left = nil
	}
	r.finish(batch, members, left, err)
	if err == nil {
		r.cleaner.add(all)
	}
}

// finish counts a batch's outcome and notifies its waiters. If part of a batch failed, all its
// waiters get the error: recording twice is harmless.
func (r *Recorder) finish(batch []delivery, members int, unconfirmed []Impression, err error) {
	lost := 0
	if err != nil {
		lost = members
		if unconfirmed != nil {
			lost = len(unconfirmed)
		}
		r.defers(lost)
	}
	r.recorded.Add(uint64(members - lost))
	recordedTotal.Add(float64(members - lost))
	for _, d := range batch {
		if d.done != nil {
			d.done <- err
		}
	}
}

// Totals returns the outcomes of the impressions so far.
func (r *Recorder) Totals() Totals {
	return Totals{Delivered: r.delivered.Load(), Recorded: r.recorded.Load(), Deferred: r.deferred.Load()}
}

// Close accepts no further deliveries, writes what is queued and returns the totals. It does not
// wait for the grace period: impressions that are confirmed but not settled leave the pending set
// at the agent's next refresh. When ctx ends first, the rest is deferred.
func (r *Recorder) Close(ctx context.Context) Totals {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return r.Totals()
	}
	r.closed = true
	close(r.queue)
	r.mu.Unlock()
	stop := context.AfterFunc(ctx, r.abandon)
	defer stop()
	<-r.collected
	r.writes.Wait() // returns soon after ctx has ended, because then every write fails at once
	r.abandon()
	<-r.cleaner.ended
	r.pool.Release()
	return r.Totals()
}
