package app

import (
	"context"
)

// background runs work in the background until the system closes. What was started
// last is ended first, and each has ended before the next one is told to.
func (a *App) background(ctx context.Context, work func(context.Context)) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		work(ctx)
	}()
	a.closers = append(a.closers, func(context.Context) error { stop(); <-ended; return nil })
}
