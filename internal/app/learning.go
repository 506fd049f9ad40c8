package app

import (
	"context"

	"github.com/freshet/freshet/signals/learning"
)

// openLearning lets readers be learned from what they do.
func (a *App) openLearning(ctx context.Context) {
	a.learner = learning.NewBuffer(ctx, a.stores.catalog, learning.BufferConfig{
		Timeout: a.cfg.Server.RequestTimeout, Clock: a.clock, Logger: a.log,
	})
	a.closers = append(a.closers, func(ctx context.Context) error { a.learner.Close(ctx); return nil })
}
