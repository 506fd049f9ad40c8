package app

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/handler"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/social/timeline"
	memorylists "github.com/freshet/freshet/social/timeline/memory"
	redislists "github.com/freshet/freshet/social/timeline/redis"
)

// listTTL is the life of a list that nobody reads.
const listTTL = 7 * day

// openLists makes lists where the social store's backend wants them: several
// servers share those in Redis.
func (a *App) openLists(ctx context.Context, n *network) error {
	t := a.cfg.Timeline
	n.late = &late{queue: n.store, clock: a.clock}
	if a.cfg.Social.Backend != configs.SocialPostgres {
		n.lists = memorylists.New(memorylists.Config{Cap: t.Cap, TTL: listTTL, Clock: a.clock})
		n.outboxes = memorylists.New(memorylists.Config{Cap: timeline.OutboxCap, TTL: listTTL, Clock: a.clock})
		return nil
	}
	r, err := a.listsRedis(ctx)
	if err != nil {
		return err
	}
	n.redis = r.client
	cfg := redislists.Config{KeyPrefix: a.cfg.Redis.KeyPrefix, TTL: listTTL, Clock: a.clock, Replicas: r.replicas}
	n.outboxes = redislists.NewOutboxes(r.client, cfg)
	n.late.watched = true
	n.restored = &restoreWatch{
		stamps: redislists.NewStamps(r.direct, cfg), lost: n.lost, late: n.late, clock: a.clock, log: a.log, known: map[string]string{},
	}
	cfg.Cap = t.Cap
	n.lists = redislists.NewTimelines(r.client, cfg)
	return nil
}

// lists is the Redis of lists and kept cards.
type lists struct {
	client   redis.UniversalClient
	direct   redis.UniversalClient // waits for nothing while a master is replaced
	replicas rediskeys.Replicas
}

// listsRedis is the Redis that the configuration names for lists, or the one that
// everything else is in.
func (a *App) listsRedis(ctx context.Context) (lists, error) {
	c := a.clients
	if len(a.cfg.Timeline.Redis.Addrs) == 0 {
		direct := c.redis
		if c.masters != nil {
			direct = c.masters.client
		}
		return lists{client: c.redis, direct: direct, replicas: replicas(a.cfg, c.breaker)}, nil
	}
	cfg := listsConfig(a.cfg)
	client, err := ConnectRedis(ctx, cfg)
	if err != nil {
		return lists{}, fmt.Errorf("timeline.%w", err)
	}
	a.closers = append(a.closers, func(context.Context) error { return client.Close() })
	breaker := newRedisBreaker("timeline_redis", redisPatience(cfg), nil, a.log)
	client.AddHook(breaker)
	a.checks["timeline_redis"] = func(ctx context.Context) handler.Dependency {
		return handler.Dependency{Err: client.Ping(ctx).Err(), Optional: true}
	}
	return lists{client: client, direct: client}, nil
}

// listsConfig is the configuration with the Redis of the lists in the place of the
// other. Lists only propose, so nothing waits until replicas have them.
func listsConfig(cfg configs.Config) configs.Config {
	cfg.Redis.RedisServer = cfg.Timeline.Redis
	cfg.Redis.WaitReplicas = 0
	return cfg
}

// lost makes lists consistent again that the Redis of the lists may lack parts of.
func (n *network) lost(ctx context.Context, since time.Time) (int, error) {
	return n.fanout.Lost(ctx, since)
}
