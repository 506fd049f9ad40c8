package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall/trending"
	trendingmemory "github.com/freshet/freshet/recall/trending/memory"
	trendingredis "github.com/freshet/freshet/recall/trending/redis"
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

// guest is the feed of readers who are not known. What is promoted in it is drawn anew
// with each set of what is trending.
func (a *App) guest(cfg engine.Config) *engine.Guest {
	diversity := func() feed.Diversity { return a.ranking.InForce().Live.Ranking.Diversity }
	stores := engine.GuestStores{Trending: a.trending, Items: a.stores.catalog}
	if a.network != nil {
		stores.Promoted = a.network.promotions.Guests(func() time.Time {
			if set, _ := a.trending.Set(); set != nil {
				return time.Unix(set.At, 0)
			}
			return time.Time{}
		})
	}
	return engine.NewGuest(stores, diversity, cfg)
}
