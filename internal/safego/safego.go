// Package safego prevents a panic in a goroutine from ending the process: every function that runs
// in a new goroutine is run by it.
package safego

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"

	"golang.org/x/sync/errgroup"
)

// Panic is the error that represents a recovered panic.
type Panic struct {
	Value any
	Stack string
}

// Error returns the panic's value and stack.
func (p *Panic) Error() string { return fmt.Sprintf("panic: %v\n%s", p.Value, p.Stack) }

// Run calls f and returns a panic of it as a [*Panic].
func Run(f func() error) (err error) {
	defer func() {
		p := recover()
		if p != nil {
			err = &Panic{p, string(debug.Stack())}
		}
	}()
	return f()
}

// Func wraps f in [Run], for groups of goroutines.
func Func(f func() error) func() error { return func() error { return Run(f) } }

// Each calls do with 0 to n-1, at most atOnce concurrently, and returns the first error. It cancels
// the context of the other calls, and calls that have not begun are skipped.
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

// Log calls f, logs a panic of it with a description of the operation, and reports whether there
// was one.
func Log(log *slog.Logger, doing string, f func()) (panicked bool) {
	err := Run(func() error { f(); return nil })
	if err != nil {
		log.Error("a panic", "doing", doing, "error", err)
	}
	return err != nil
}
