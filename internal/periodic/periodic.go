// Package periodic runs work periodically.
package periodic

import (
	"context"
	"log/slog"
	"time"
)

// Every yields after each pause until ctx ends. If one or more pauses end while the body of the loop
// is running, it yields once more immediately.
func Every(ctx context.Context, pause time.Duration) func(yield func() bool) {
	return func(yield func() bool) {
		tick := time.NewTicker(pause)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if !yield() {
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}
}

// Now yields immediately, and then as [Every] does.
func Now(ctx context.Context, pause time.Duration) func(yield func() bool) {
	return func(yield func() bool) {
		if yield() {
			Every(ctx, pause)(yield)
		}
	}
}

// Pause waits for d. If ctx ends earlier, it returns the error of ctx.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Failing logs the beginning and the end of repeated failures.
type Failing struct {
	Fails string // logged as a warning, with the error
	Again string // logged when it succeeds again

	failing bool
}

// Tell logs when attempts begin to fail and when they succeed again, and reports whether it did. An
// attempt that ends after ctx has ended does not count.
func (f *Failing) Tell(ctx context.Context, log *slog.Logger, err error, args ...any) (changed bool) {
	if ctx.Err() != nil || (err != nil) == f.failing {
		return false
	}
	f.failing = err != nil
	if f.failing {
		log.WarnContext(ctx, f.Fails, append(args, "error", err)...)
	} else {
		log.InfoContext(ctx, f.Again, args...)
	}
	return true
}
