package server

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/handler"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/server/breaker"
	"github.com/freshet/freshet/server/connect"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/fanout/repair"
	"github.com/freshet/freshet/social/postitems"
	"github.com/freshet/freshet/social/rediscards"
	"github.com/freshet/freshet/social/timeline"
	timelinememory "github.com/freshet/freshet/social/timeline/memory"
	timelineredis "github.com/freshet/freshet/social/timeline/redis"
)

// listStores holds the lists of agents and authors.
type listStores struct {
	lists, outboxes timeline.Lists
	redis           redis.UniversalClient // of lists and cached cards; nil if they are in this process
	stamps          *timelineredis.Stamps // nil if lists are in this process
	wakes           timeline.Wakes
}

// openLists opens the lists where the social store's backend requires them: in Redis if several
// servers share them.
func (b *builder) openLists(ctx context.Context, c clients) (listStores, error) {
	t := b.cfg.Timeline
	if !b.cfg.UsesPostgres() {
		return listStores{
			lists:    timelinememory.New(timelinememory.Config{Cap: t.Cap, Clock: b.clock}),
			outboxes: timelinememory.New(timelinememory.Config{Cap: timeline.OutboxCap, Clock: b.clock}),
			wakes:    timelinememory.NewWakes(),
		}, nil
	}
	client, direct, replicas, err := b.openListsRedis(ctx, c)
	if err != nil {
		return listStores{}, err
	}
	cfg := timelineredis.Config{KeyPrefix: b.cfg.Redis.KeyPrefix, Clock: b.clock, Replicas: replicas}
	capped := cfg
	capped.Cap = t.Cap
	wakes := timelineredis.NewWakes(client, cfg, b.log)
	b.background(ctx, "wakes of streams", wakes.Run)
	return listStores{
		lists: timelineredis.NewTimelines(client, capped), outboxes: timelineredis.NewOutboxes(client, cfg),
		redis: client, stamps: timelineredis.NewStamps(direct, b.cfg.Redis.KeyPrefix), wakes: wakes,
	}, nil
}

// openListsRedis opens the Redis configured for lists, or uses the one for everything else;
// direct does not wait while a master is replaced.
func (b *builder) openListsRedis(ctx context.Context, c clients) (client, direct redis.UniversalClient, replicas rediskeys.Replicas, err error) {
	if b.cfg.Timeline.RedisURL == "" {
		direct = c.redis
		if c.masters != nil {
			direct = c.masters.Client()
		}
		return c.redis, direct, connect.Replicas(b.cfg, c.breaker), nil
	}
	b.waitFor("timeline_redis", "")
	cfg := b.cfg.WithListsRedis()
	if client, err = connect.Redis(ctx, cfg); err != nil {
		return nil, nil, replicas, fmt.Errorf("timeline.redis_url: %w", err)
	}
	b.disconnects("timeline_redis", client.Close)
	b.watchMode(ctx, "timeline.redis_url", cfg, client)
	client.AddHook(breaker.NewRedis("timeline_redis", connect.RedisPatience(cfg), nil, b.log))
	connect.Follow(cfg, client)
	b.checks["timeline_redis"] = func(ctx context.Context) handler.Dependency {
		state := handler.Dependency{Err: client.Ping(ctx).Err(), Optional: true}
		if state.Err != nil {
			state.Reason = whyRedisDown(state.Err)
			return state
		}
		state.Err = rediskeys.TryWrites(ctx, client, rediskeys.For(client, b.cfg.Redis.KeyPrefix).ListProbes()[:1])
		if state.Err != nil {
			state.Reason = withAdvice(writesRefused, rediskeys.Advice(state.Err))
		}
		return state
	}
	return client, client, replicas, nil
}

// openCards caches cards of public posts if several servers share a store that may be
// unreachable.
func (b *builder) openCards(ctx context.Context, store SocialStore, l listStores, completeness *repair.Completeness) (cards social.Cards, ahead postitems.Ahead, cache social.CardCache, kept social.CachedCards) {
	if !b.cfg.UsesPostgres() {
		return store, nil, nil, nil
	}
	cache = rediscards.New(l.redis, b.cfg.Redis.KeyPrefix)
	keeper := social.NewCardCacheWriter(store, cache, b.clock, b.log)
	b.background(ctx, "card cache", keeper.Run)
	return keeper, keeper, cache, repair.CachedCards(cache, completeness)
}

// shownStore is the social store that answers use: the cards that they show are cached.
type shownStore struct {
	social.Store
	cards social.Cards
}

// Cards implements [social.Cards], as a call within a request.
func (s shownStore) Cards(ctx context.Context, reader string, posts []social.PostVersion) ([]social.Card, error) {
	if !breaker.InRequest(ctx) {
		ctx = breaker.Begin(ctx)
	}
	return s.cards.Cards(ctx, reader, posts)
}
