// Package signals hands what readers do from requests to where it is kept. The kinds of
// signals are in the folders below.
package signals

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/freshet/freshet/internal/guard"
)

// Waits between two tries to reach a store.
const (
	firstWait = 100 * time.Millisecond
	mostWait  = 5 * time.Second
	// closingWait is how long Close bears with a store that fails: one that fails over is back
	// in moments, a disk that is full stays full.
	closingWait = time.Second
)

// batchMost is how many entries are handled together, at most.
const batchMost = 1000

// Config tunes a Buffer. Zero values stand for the defaults.
type Config struct {
	Queue   int           // entries waiting to be handled; 8192
	Timeout time.Duration // deadline of one try; 5s
	Logger  *slog.Logger  // nil: nothing is logged
}

// WithDefaults fills the zero values in.
func (c Config) WithDefaults() Config {
	c.Queue = cmp.Or(c.Queue, 8192)
	c.Timeout = cmp.Or(c.Timeout, 5*time.Second)
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return c
}

// Buffer takes entries without ever blocking, and handles them in the background, in their
// order: one batch after the other, each as soon as the one before is done. A process that
// is killed loses the entries that wait, and nothing else. It is safe for concurrent use.
type Buffer[E any] struct {
	cfg     Config
	handle  func(entries []E)
	ctx     context.Context // ends when Close gives up
	abandon context.CancelFunc
	queue   chan item[E]
	batch   []E           // what is handled now, for the next batch to use again
	quit    chan struct{} // closed by Close
	late    chan struct{} // closed when Close has borne with a store for long enough
	done    chan struct{} // closed when all is handled or given up
}

// item is an entry, or the wish to know when all before is handled.
type item[E any] struct {
	entry   E
	handled chan struct{} // nil: an entry
}

// New starts a buffer; Close ends it. handle is given what waits, 1,000 entries at most, in
// a list that it must not keep; what it writes it writes by [Buffer.Try]. One that panics is
// logged, and its batch is lost. ctx's cancellation is ignored.
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

// Put takes an entry; false says that there is no room at the moment and nothing was taken.
func (b *Buffer[E]) Put(e E) bool {
	select {
	case b.queue <- item[E]{entry: e}:
		return true
	default:
		return false
	}
}

// Flush returns when all that was put before is handled.
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

// Close handles what is left. Writes that fail it tries again for a second, until ctx ends at
// the latest. Nothing may be put any more.
func (b *Buffer[E]) Close(ctx context.Context) {
	close(b.quit)
	defer time.AfterFunc(closingWait, func() { close(b.late) }).Stop()
	defer context.AfterFunc(ctx, b.abandon)()
	<-b.done
	b.abandon()
}

// run handles until Close, and then what is still queued.
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

// next handles an entry together with what waits behind it.
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
	if err := guard.Run(func() error { b.handle(batch); return nil }); err != nil {
		b.cfg.Logger.ErrorContext(b.ctx, "what readers did could not be handled and is lost", "entries", len(batch), "error", err)
	}
}

// Try calls write until it succeeds, or fails with an error that does not pass, with longer
// and longer waits, and returns that error. A deadline that has passed passes. With Close it
// tries at once, begins with short waits again, and ends a second later with a last try, whose
// error it returns. down is called with the first error that passes, and up when a write
// succeeds after that; nil: nobody is told.
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
			late = nil // once more
		case <-b.ctx.Done():
		}
	}
}

// Ended reports whether Close has given up: then nothing can be written any more.
func (b *Buffer[E]) Ended() bool { return b.ctx.Err() != nil }
