// Package guard keeps a panic of one goroutine from ending the process: what runs in a
// goroutine of its own runs by it.
package guard

import (
	"fmt"
	"log/slog"
	"runtime/debug"
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

// Log calls f, logs a panic of it with what was being done, and reports whether there was
// one.
func Log(log *slog.Logger, doing string, f func()) (panicked bool) {
	err := Run(func() error { f(); return nil })
	if err != nil {
		log.Error("a panic", "doing", doing, "error", err)
	}
	return err != nil
}
