package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/freshet/freshet/internal/safego"
	"github.com/freshet/freshet/server/telemetry"
)

type closer struct {
	name  string // for the log
	close func(context.Context) error
	// lossless parts lose nothing if they do not close in time, so the process reports no
	// failure.
	lossless bool
}

// onClose registers a function to call when the system closes, in reverse order of registration.
func (b *builder) onClose(name string, f func(context.Context) error) {
	b.closers = append(b.closers, closer{name: name, close: f})
}

// disconnects registers a client of a service to be closed when the system closes. It may wait
// for a call that hangs, and is then abandoned.
func (b *builder) disconnects(name string, f func() error) {
	b.closers = append(b.closers, closer{name: name, close: func(context.Context) error { return f() }, lossless: true})
}

// background runs work in the background until the system closes. Work that was started last is
// ended first, and each has ended before the next one is stopped, unless it hangs. Work that
// panics is logged and restarted after a pause.
func (b *builder) background(ctx context.Context, name string, work func(context.Context)) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for safego.Log(b.log, name+", which is restarted", func() { work(ctx) }) {
			select {
			case <-time.After(afterPanic):
			case <-ctx.Done():
			}
		}
	}()
	b.closers = append(b.closers, closer{name: name, close: func(context.Context) error { stop(); <-ended; return nil }, lossless: true})
}

// afterPanic is the pause before work that has panicked is restarted.
const afterPanic = time.Second

// close closes everything that was opened, once. It abandons a part that hangs after a share of
// the time until ctx ends.
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
				b.log.WarnContext(ctx, "a part did not stop in time and is abandoned; no data is lost", "part", part.name)
				err = nil
			}
			errs = append(errs, err)
		}
	})
	return errors.Join(errs...)
}

var errHangs = errors.New("did not stop in time")

// within closes the part. The part must finish in half of the time that is left, and is abandoned
// soon after: the rest is for the parts that follow. A lossless part is abandoned after an
// eighth. A context without a deadline sets no limit, even when it is cancelled: the remaining
// work is then quick.
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
	go func() { done <- safego.Run(func() error { return c.close(ctx) }) }()
	select {
	case err := <-done:
		return err
	case <-patience.Done():
		return fmt.Errorf("%s %w", c.name, errHangs)
	}
}

// closeLeast is the minimum time for a part to close, even if no time is left.
const closeLeast = 10 * time.Millisecond

// sendSpans returns the function that sends the last spans at a stop. They are worth neither a
// long wait nor a failure.
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
