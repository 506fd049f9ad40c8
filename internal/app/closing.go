package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/freshet/freshet/internal/guard"
	"github.com/freshet/freshet/internal/telemetry"
)

type closer struct {
	name  string // for the log
	close func(context.Context) error
	// lossless parts lose nothing where they do not close in time, so that the process
	// has no failure to report.
	lossless bool
}

// onClose has something called when the system closes: what was opened last is closed first.
func (b *builder) onClose(name string, f func(context.Context) error) {
	b.closers = append(b.closers, closer{name: name, close: f})
}

// disconnects has the client of a service closed when the system closes. It may wait for
// a call that hangs, and is left to itself then.
func (b *builder) disconnects(name string, f func() error) {
	b.closers = append(b.closers, closer{name: name, close: func(context.Context) error { return f() }, lossless: true})
}

// background runs work in the background until the system closes. What was started
// last is ended first, and each has ended before the next one is told to, unless it hangs.
// Work that panics is logged, and begins again after a pause.
func (b *builder) background(ctx context.Context, name string, work func(context.Context)) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for guard.Log(b.log, name+", which begins again", func() { work(ctx) }) {
			select {
			case <-time.After(afterPanic):
			case <-ctx.Done():
			}
		}
	}()
	b.closers = append(b.closers, closer{name: name, close: func(context.Context) error { stop(); <-ended; return nil }, lossless: true})
}

// afterPanic is the pause before work that has panicked begins again.
const afterPanic = time.Second

// close closes what was opened, once. A part that hangs is left to itself after a
// share of the time until ctx ends.
func (b *builder) close(ctx context.Context) error {
	var errs []error
	b.closing.Do(func() {
		parts := slices.Clone(b.closers)
		if b.drain != nil {
			parts = append(parts, closer{name: "recording of impressions", close: func(ctx context.Context) error { b.drain(ctx); return nil }})
		}
		for _, part := range slices.Backward(parts) {
			err := part.within(ctx)
			if errors.Is(err, errHangs) && part.lossless {
				b.log.WarnContext(ctx, "a part did not stop in time and is left to itself; nothing is lost by that", "part", part.name)
				err = nil
			}
			errs = append(errs, err)
		}
	})
	return errors.Join(errs...)
}

var errHangs = errors.New("did not stop in time")

// within closes the part. It tells the part to be done in half of the time that is left,
// and leaves it soon after: the rest is for the parts that come next. For one that loses
// nothing an eighth is enough. A context without a deadline sets no limit, also when it is
// cancelled: what is left undone then is done quickly.
func (c closer) within(ctx context.Context) error {
	patience := context.WithoutCancel(ctx)
	if end, ok := ctx.Deadline(); ok {
		left := time.Until(end)
		longest := left * 5 / 8
		if c.lossless {
			longest = left / 8
		}
		var cancelPart, cancelWait context.CancelFunc
		patience, cancelWait = context.WithTimeout(context.WithoutCancel(ctx), max(longest, closeLeast))
		defer cancelWait()
		ctx, cancelPart = context.WithTimeout(context.WithoutCancel(ctx), left/2)
		defer cancelPart()
	}
	done := make(chan error, 1)
	go func() { done <- guard.Run(func() error { return c.close(ctx) }) }()
	select {
	case err := <-done:
		return err
	case <-patience.Done():
		return fmt.Errorf("%s %w", c.name, errHangs)
	}
}

// closeLeast is how long a part may take to close when all the time is used up.
const closeLeast = 10 * time.Millisecond

// sendSpans returns what sends the last spans at a stop. They are worth neither a long
// wait nor a failure.
func (b *builder) sendSpans(tracing *telemetry.Tracing) func(context.Context) error {
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, b.pauses.spans)
		defer cancel()
		if err := tracing.Close(ctx); err != nil {
			b.log.WarnContext(ctx, "the last spans were not sent", "error", err)
		}
		return nil
	}
}
