package app

import (
	"context"
	"log/slog"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/trending"
	trendingmemory "github.com/freshet/freshet/trending/memory"
	trendingredis "github.com/freshet/freshet/trending/redis"
)

// openTrending follows what is trending: in Redis, where the servers share the
// computing, or in this process.
func (a *App) openTrending() {
	var store trending.Store = &trendingmemory.Store{}
	if a.stores.indexed == nil && a.clients.redis != nil {
		store = trendingredis.New(a.clients.redis, a.cfg.Redis.KeyPrefix)
	}
	a.trending = trending.NewLive(store, a.stores.popular, a.stores.contents, trending.Config{Clock: a.clock, Logger: a.log})
}

// startTrending keeps it up to date. Where recall is in this process it is known when
// this returns.
func (a *App) startTrending(ctx context.Context) {
	if a.stores.indexed != nil {
		if err := a.trending.Look(ctx); err != nil {
			a.log.WarnContext(ctx, "what is trending is not known yet", slog.Any("error", err))
		}
	}
	a.background(ctx, a.trending.Run)
}

// guest is the feed of readers who are not known.
func (a *App) guest(cfg engine.Config) *engine.Guest {
	diversity := func() feed.Diversity { return a.ranking.InForce().Live.Ranking.Diversity }
	return engine.NewGuest(engine.GuestStores{Trending: a.trending, Items: a.stores.catalog}, diversity, cfg)
}
