package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/freshet/freshet/handler"
	"github.com/freshet/freshet/internal/periodic"
	"github.com/freshet/freshet/server/sharedsettings"
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
	stores := b.settingsStores(c, p)
	for _, name := range slices.Sorted(maps.Keys(stores)) {
		a := agreement{name: name, store: stores[name], own: sharedsettings.Of(b.cfg), posts: p}
		asking, cancel := context.WithTimeout(ctx, b.cfg.Server.RequestTimeout)
		err := a.check(asking)
		cancel()
		if errors.Is(err, sharedsettings.ErrDiffers) {
			return fmt.Errorf("%s: %w; %s", name, err, sharedsettings.Advice)
		}
		if err != nil {
			b.log.WarnContext(ctx, "cannot compare settings with other servers yet; trying again", "store", name, "error", err)
			b.agreeLater(ctx, a, &differs)
			b.checks["settings"] = func(context.Context) handler.Dependency {
				if err := differs.Load(); err != nil {
					return handler.Dependency{Err: *err, Optional: true, Reason: sharedsettings.ErrDiffers.Error()}
				}
				return handler.Dependency{Optional: true}
			}
		}
	}
	return nil
}

// agreement is the comparison of a server's settings with those in one store.
type agreement struct {
	name  string
	store sharedsettings.Store
	own   sharedsettings.Settings
	posts *posts
}

// check compares the settings, and last of all the identity of the database of posts, which may be down
// when the store is not. The error wraps [sharedsettings.ErrDiffers], or is that of a store.
func (a agreement) check(ctx context.Context) error {
	err := sharedsettings.Check(ctx, a.store, a.own)
	if err != nil || a.posts == nil || a.name == inPostgres {
		return err
	}
	db, ok := a.posts.store.(*postgres.Store)
	if !ok {
		return nil
	}
	identity, err := db.Identity(ctx)
	if err != nil {
		return err
	}
	return sharedsettings.Check(ctx, a.store, a.own.WithDatabase(identity))
}

// agreeLater compares the settings once the store that holds them is reachable.
func (b *builder) agreeLater(ctx context.Context, a agreement, differs *atomic.Pointer[error]) {
	b.background(ctx, "comparison of settings in "+a.name, func(ctx context.Context) {
		for range periodic.Every(ctx, agreeEvery) {
			switch err := a.check(ctx); {
			case errors.Is(err, sharedsettings.ErrDiffers):
				b.log.ErrorContext(ctx, "settings differ from those of the other servers: stop this server, and "+sharedsettings.Advice, "store", a.name, "error", err)
				differs.Store(&err)
				return
			case err == nil:
				return
			}
		}
	})
}

// inPostgres is the name of the store in PostgreSQL.
const inPostgres = "postgres"

// settingsStores returns the stores that other servers may share, by name.
func (b *builder) settingsStores(c clients, p *posts) map[string]sharedsettings.Store {
	stores := map[string]sharedsettings.Store{}
	if p != nil {
		if store, ok := p.store.(*postgres.Store); ok {
			stores[inPostgres] = store.Settings()
		}
	}
	if c.redis != nil {
		stores["redis"] = sharedsettings.InRedis(c.redis, b.cfg.Redis.KeyPrefix)
	}
	if c.elastic != nil {
		stores["elasticsearch"] = sharedsettings.InElastic(c.elastic, b.cfg.Elasticsearch.Index)
	}
	return stores
}
