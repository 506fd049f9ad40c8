package app

import (
	"context"

	"github.com/freshet/freshet/popularity"
)

// openPopularity lets clicks and likes count in the recall index of this process.
// Recall in Elasticsearch does not know them.
func (a *App) openPopularity(ctx context.Context) {
	if a.stores.indexed == nil {
		return
	}
	a.popular = popularity.NewBuffer(ctx, a.stores.indexed.count, popularity.BufferConfig{Timeout: a.cfg.Server.RequestTimeout, Logger: a.log})
	a.closers = append(a.closers, func(ctx context.Context) error { a.popular.Close(ctx); return nil })
}
