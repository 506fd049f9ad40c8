package app

import (
	"context"
	"time"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/internal/clocks"
	"github.com/freshet/freshet/internal/rediskeys"
)

// sweepEvery is the pause between two sweeps of old items.
const sweepEvery = 10 * time.Minute

// startRetention removes items that are older than they are to be kept. Of several
// servers one does so each time.
func (a *App) startRetention(ctx context.Context) {
	if a.cfg.Catalog.Retention == 0 {
		return
	}
	cfg := catalog.RetentionConfig{Keep: a.cfg.Catalog.Retention, Every: sweepEvery, Logger: a.log}
	cfg.Now = func(context.Context) (time.Time, error) { return a.clock(), nil }
	if a.clients.redis != nil {
		cfg.Now = clocks.Earlier(a.clock, a.clients.redis)
		if a.stores.indexed == nil {
			cfg.Turn = rediskeys.Turn(a.clients.redis, a.retentionLease(), sweepEvery)
		}
	}
	a.background(ctx, catalog.NewRetention(a.stores.contents, a.Catalog, cfg).Run)
}

func (a *App) retentionLease() string {
	return rediskeys.For(a.clients.redis, a.cfg.Redis.KeyPrefix).RetentionLease()
}
