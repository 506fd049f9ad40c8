package app

import (
	"context"
	"time"

	"github.com/freshet/freshet/engine"
)

// rankingEvery is how often each server looks for a newer ranking. What one
// server stores is in force on the others after it and one read: well below the
// two seconds that are promised.
const rankingEvery = time.Second

// openRanking reads the ranking in force and starts what keeps it up to date.
func (a *App) openRanking(ctx context.Context) (err error) {
	a.ranking, err = engine.OpenLiveRanking(ctx, a.stores.catalog, engine.LiveConfig{
		Clock: a.clock, Configured: a.cfg.Parameters(), Every: rankingEvery, Timeout: a.cfg.Server.RequestTimeout, Log: a.log,
	})
	if err != nil {
		return err
	}
	a.background(ctx, a.ranking.Run)
	if a.file != nil {
		a.file.start(a.cfg, a.ranking, a.log)
		a.background(ctx, a.file.watch)
	}
	return nil
}

// background runs work until the system closes.
func (a *App) background(ctx context.Context, work func(context.Context)) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		work(ctx)
	}()
	a.closers = append(a.closers, func(context.Context) error { stop(); <-ended; return nil })
}
