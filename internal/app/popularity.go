package app

import (
	"context"

	"github.com/freshet/freshet/signals/popularity"
)

// openPopularity lets clicks and likes count: in the recall index of this process,
// or in Redis, from where any server writes them to Elasticsearch.
func (a *App) openPopularity(ctx context.Context) {
	var counter popularity.Counter
	switch s := a.stores; {
	case s.indexed != nil:
		counter = s.indexed
	case s.live != nil:
		counter = s.live
		a.publisher = popularity.NewPublisher(s.live, s.counted, popularity.PublisherConfig{Timeout: a.cfg.Server.RequestTimeout, Logger: a.log})
		a.background(ctx, a.publisher.Run)
	default:
		return
	}
	a.popular = popularity.NewBuffer(ctx, counter, popularity.BufferConfig{Timeout: a.cfg.Server.RequestTimeout, Logger: a.log})
	a.closers = append(a.closers, func(ctx context.Context) error { a.popular.Close(ctx); return nil })
}
