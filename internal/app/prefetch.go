package app

import (
	"context"

	"github.com/freshet/freshet/engine"
)

// openPrefetch reads next pages ahead where content comes from a service and is cached
// in another one; nil: it does not.
func (a *App) openPrefetch(ctx context.Context) (*engine.Prefetcher, error) {
	items := a.cfg.UsesElasticsearch() && a.cfg.UsesRedis()
	if !items && !a.cfg.UsesPostgres() {
		return nil, nil
	}
	p, err := engine.NewPrefetcher(ctx, a.stores.sessions, a.stores.catalog, engine.PrefetchConfig{
		Timeout: a.cfg.Server.RequestTimeout, Logger: a.log,
	})
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, func(ctx context.Context) error { p.Close(ctx); return nil })
	return p, nil
}
