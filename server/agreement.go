package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/freshet/freshet/handler"
	"github.com/freshet/freshet/internal/repeat"
	"github.com/freshet/freshet/server/agreement"
	"github.com/freshet/freshet/social/postgres"
)

// agreeEvery is the pause between two attempts to compare the settings that servers must agree
// on, while the store that holds them is down.
const agreeEvery = 5 * time.Second

// agree compares the settings with those of the other servers that use each of the same stores.
// While a store is down, the comparison is postponed: differences are then reported in the log
// and in /readyz.
func (b *builder) agree(ctx context.Context, c clients, p *posts) error {
	if b.apart {
		return nil
	}
	var differs atomic.Pointer[error]
	own := agreement.Of(b.cfg)
	stores := b.settingsStores(c, p)
	for _, name := range slices.Sorted(maps.Keys(stores)) {
		store := stores[name]
		asking, cancel := context.WithTimeout(ctx, b.cfg.Server.RequestTimeout)
		err := agreement.Check(asking, store, own)
		cancel()
		if errors.Is(err, agreement.ErrDiffers) {
			return fmt.Errorf("%s: %w; %s", name, err, agreement.Advice)
		}
		if err != nil {
			b.log.WarnContext(ctx, "cannot compare settings with other servers yet; trying again", "store", name, "error", err)
			b.agreeLater(ctx, name, store, own, &differs)
			b.checks["settings"] = func(context.Context) handler.Dependency {
				if err := differs.Load(); err != nil {
					return handler.Dependency{Err: *err, Optional: true, Reason: agreement.ErrDiffers.Error()}
				}
				return handler.Dependency{Optional: true}
			}
		}
	}
	return nil
}

// agreeLater compares the settings once the store that holds them is reachable.
func (b *builder) agreeLater(ctx context.Context, name string, store agreement.Store, own agreement.Settings, differs *atomic.Pointer[error]) {
	b.background(ctx, "comparison of settings in "+name, func(ctx context.Context) {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		repeat.Every(ctx, agreeEvery, func(ctx context.Context) {
			switch err := agreement.Check(ctx, store, own); {
			case errors.Is(err, agreement.ErrDiffers):
				b.log.ErrorContext(ctx, "settings differ from those of the other servers: stop this server, and "+agreement.Advice, "store", name, "error", err)
				differs.Store(&err)
				stop()
			case err == nil:
				stop()
			}
		})
	})
}

// settingsStores returns the stores that other servers may share, by name.
func (b *builder) settingsStores(c clients, p *posts) map[string]agreement.Store {
	stores := map[string]agreement.Store{}
	if p != nil {
		if store, ok := p.store.(*postgres.Store); ok {
			stores["postgres"] = store.Settings()
		}
	}
	if c.redis != nil {
		stores["redis"] = agreement.InRedis(c.redis, b.cfg.Redis.KeyPrefix)
	}
	if c.elastic != nil {
		stores["elasticsearch"] = agreement.InElastic(c.elastic, b.cfg.Elasticsearch.Index)
	}
	return stores
}
