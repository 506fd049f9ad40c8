// Package guard keeps a panic of one goroutine from ending the process: what runs in a
// goroutine of its own runs by it.
package guard

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"

	"golang.org/x/sync/errgroup"
)

// Panic is the error that a panic has become.
type Panic struct {
	Value any
	Stack string
}

// Error tells the value and where it happened.
func (p *Panic) Error() string { return fmt.Sprintf("panic: %v\n%s", p.Value, p.Stack) }

// Run calls f. A panic is an error, a [*Panic].
func Run(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &Panic{p, string(debug.Stack())}
		}
	}()
	return f()
}

// Func is f with its panics as errors, as [Run] has them; for groups of goroutines.
func Func(f func() error) func() error { return func() error { return Run(f) } }

// Each calls do with 0 to n-1, some at once, and returns the first error, which ends the
// context of the others: what has not begun by then does not begin.
func Each(ctx context.Context, n, atOnce int, do func(ctx context.Context, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range n {
		group.Go(Func(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return do(ctx, i)
		}))
	}
	return group.Wait()
}

// Log calls f, logs a panic of it with what was being done, and reports whether there was
// one.
func Log(log *slog.Logger, doing string, f func()) (panicked bool) {
	err := Run(func() error { f(); return nil })
	if err != nil {
		log.Error("a panic", "doing", doing, "error", err)
	}
	return err != nil
}
