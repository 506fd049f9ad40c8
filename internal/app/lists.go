package app

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/handler"
	"github.com/freshet/freshet/internal/breaker"
	"github.com/freshet/freshet/internal/connect"
	"github.com/freshet/freshet/internal/lists"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/social/timeline"
	memorylists "github.com/freshet/freshet/social/timeline/memory"
	redislists "github.com/freshet/freshet/social/timeline/redis"
)

// listTTL is the life of a list that nobody reads.
const listTTL = 7 * 24 * time.Hour

// openLists makes lists where the social store's backend wants them: several
// servers share those in Redis.
func (a *App) openLists(ctx context.Context, n *network) error {
	t := a.cfg.Timeline
	n.late = lists.NewLate(n.store, a.clock)
	if !a.cfg.UsesPostgres() {
		n.lists = memorylists.New(memorylists.Config{Cap: t.Cap, TTL: listTTL, Clock: a.clock})
		n.outboxes = memorylists.New(memorylists.Config{Cap: timeline.OutboxCap, TTL: listTTL, Clock: a.clock})
		return nil
	}
	r, err := a.openListsRedis(ctx)
	if err != nil {
		return err
	}
	n.redis = r.client
	cfg := redislists.Config{KeyPrefix: a.cfg.Redis.KeyPrefix, TTL: listTTL, Clock: a.clock, Replicas: r.replicas}
	n.outboxes = redislists.NewOutboxes(r.client, cfg)
	n.restored = lists.NewRestored(redislists.NewStamps(r.direct, cfg), n.lost, n.late, a.clock, a.log)
	cfg.Cap = t.Cap
	n.lists = redislists.NewTimelines(r.client, cfg)
	return nil
}

// listsRedis is the Redis of lists and kept cards.
type listsRedis struct {
	client   redis.UniversalClient
	direct   redis.UniversalClient // waits for nothing while a master is replaced
	replicas rediskeys.Replicas
}

// openListsRedis opens the Redis that the configuration names for lists, or the one that
// everything else is in.
func (a *App) openListsRedis(ctx context.Context) (listsRedis, error) {
	c := a.clients
	if a.cfg.Timeline.RedisURL == "" {
		direct := c.redis
		if c.masters != nil {
			direct = c.masters.Client()
		}
		return listsRedis{client: c.redis, direct: direct, replicas: connect.Replicas(a.cfg, c.breaker)}, nil
	}
	cfg := a.cfg.WithListsRedis()
	client, err := connect.Redis(ctx, cfg)
	if err != nil {
		return listsRedis{}, fmt.Errorf("timeline.redis_url: %w", err)
	}
	a.closers = append(a.closers, func(context.Context) error { return client.Close() })
	client.AddHook(breaker.NewRedis("timeline_redis", connect.RedisPatience(cfg), nil, a.log))
	a.checks["timeline_redis"] = func(ctx context.Context) handler.Dependency {
		return handler.Dependency{Err: client.Ping(ctx).Err(), Optional: true}
	}
	return listsRedis{client: client, direct: client}, nil
}

// lost makes lists consistent again that the Redis of the lists may lack parts of.
func (n *network) lost(ctx context.Context, since time.Time) (int, error) {
	return n.fanout.Lost(ctx, since)
}
