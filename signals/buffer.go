// Package signals passes readers' actions from requests to the stores that count them or learn from
// them. Each kind of signal has a subpackage.
package signals

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/freshet/freshet/internal/safego"
)

// Waits between two attempts to reach a store.
const (
	firstWait = 100 * time.Millisecond
	mostWait  = 5 * time.Second
	// closingWait is how long Close retries a failing store: a failover takes moments, a full disk
	// stays full.
	closingWait = time.Second
)

// batchMost is the maximum number of entries handled together.
const batchMost = 1000

// Config configures a Buffer. Zero values mean the defaults.
type Config struct {
	Queue   int           // entries waiting to be handled; 8192
	Timeout time.Duration // deadline of one attempt; 5s
	Logger  *slog.Logger  // nil disables logging
}

// WithDefaults replaces zero values with the defaults.
func (c Config) WithDefaults() Config {
	c.Queue = cmp.Or(c.Queue, 8192)
	c.Timeout = cmp.Or(c.Timeout, 5*time.Second)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return c
}

// Buffer accepts entries without blocking and handles them in the background, in order: one batch
// after the other, each as soon as the previous one is done. A process that is killed loses only
// the entries that wait. The other queues of a process, which each say how they differ from it, drop
// more easily: what they lose is found again. It is safe for concurrent use.
type Buffer[E any] struct {
	cfg     Config
	handle  func(entries []E)
	ctx     context.Context // ends when Close gives up
	abandon context.CancelFunc
	queue   chan item[E]
	batch   []E           // the current batch; its memory is reused
	quit    chan struct{} // closed by Close
	late    chan struct{} // closed when Close has retried for closingWait
	done    chan struct{} // closed when everything is handled or given up
}

// item is an entry, or a request to be notified when all earlier entries are handled.
type item[E any] struct {
	entry   E
	handled chan struct{} // nil for an entry
}

// New starts a buffer; Close ends it. handle gets at most 1,000 waiting entries, in a slice that it
// must not retain; it must write through [Buffer.Try]. If handle panics, the panic is logged and
// the batch is lost. The buffer ignores cancellation of ctx.
func New[E any](ctx context.Context, cfg Config, handle func(entries []E)) *Buffer[E] {
	cfg = cfg.WithDefaults()
	ctx, abandon := context.WithCancel(context.WithoutCancel(ctx))
	b := &Buffer[E]{
		cfg: cfg, handle: handle, ctx: ctx, abandon: abandon,
		queue: make(chan item[E], cfg.Queue), quit: make(chan struct{}), late: make(chan struct{}), done: make(chan struct{}),
	}
	go b.run()
	return b
}

// Put adds an entry. It returns false if the queue is full and nothing was added.
func (b *Buffer[E]) Put(e E) bool {
	select {
	case b.queue <- item[E]{entry: e}:
		return true
	default:
		return false
	}
}

// Flush returns when all entries that were put before are handled.
func (b *Buffer[E]) Flush(ctx context.Context) error {
	handled := make(chan struct{})
	select {
	case b.queue <- item[E]{handled: handled}:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-handled:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close handles the remaining entries. It retries failing writes for a second, and until ctx ends
// at most. Nothing may be put afterwards.
func (b *Buffer[E]) Close(ctx context.Context) {
	close(b.quit)
	defer time.AfterFunc(closingWait, func() { close(b.late) }).Stop()
	defer context.AfterFunc(ctx, b.abandon)()
	<-b.done
	b.abandon()
}

// run handles entries until Close, and then those still queued.
func (b *Buffer[E]) run() {
	defer close(b.done)
	for {
		select {
		case i := <-b.queue:
			b.next(i)
		case <-b.quit:
			for len(b.queue) > 0 {
				b.next(<-b.queue)
			}
			return
		}
	}
}

// next handles an entry together with those queued after it.
func (b *Buffer[E]) next(i item[E]) {
	for i.handled == nil {
		b.batch = append(b.batch, i.entry)
		if len(b.batch) == batchMost || len(b.queue) == 0 {
			break
		}
		i = <-b.queue
	}
	if len(b.batch) > 0 {
		b.handled(b.batch)
		clear(b.batch)
		b.batch = b.batch[:0]
	}
	if i.handled != nil {
		close(i.handled)
	}
}

func (b *Buffer[E]) handled(batch []E) {
	if err := safego.Run(func() error { b.handle(batch); return nil }); err != nil {
		b.cfg.Logger.ErrorContext(b.ctx, "buffered entries could not be processed and are lost", "entries", len(batch), "error", err)
	}
}

// Try calls write until it succeeds or fails with a permanent error, which it returns; waits
// between attempts grow. passes reports whether an error is temporary; an exceeded deadline always
// is. On Close it retries at once, starts again with short waits, and makes a last attempt after a
// second, returning its error. down is called with the first temporary error, and up when a later
// write succeeds; both may be nil.
func (b *Buffer[E]) Try(write func(ctx context.Context) error, passes func(error) bool, down func(error), up func()) error {
	waits := backoff.NewExponentialBackOff()
	waits.InitialInterval, waits.MaxInterval = firstWait, mostWait
	for quit, late, failed := b.quit, b.late, false; ; failed = true {
		ctx, cancel := context.WithTimeout(b.ctx, b.cfg.Timeout)
		err := write(ctx)
		cancel()
		switch {
		case err == nil:
			if failed && up != nil {
				up()
			}
			return nil
		case !passes(err) && !errors.Is(err, context.DeadlineExceeded), late == nil, b.ctx.Err() != nil:
			return err
		}
		if !failed && down != nil {
			down(err)
		}
		select {
		case <-time.After(waits.NextBackOff()):
		case <-quit:
			quit = nil
			waits.Reset()
		case <-late:
			late = nil // one more attempt
		case <-b.ctx.Done():
		}
	}
}

// Ended reports whether Close has given up, after which nothing can be written.
func (b *Buffer[E]) Ended() bool { return b.ctx.Err() != nil }
