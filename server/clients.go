package server

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/cache/redislist"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/periodic"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/ranking"
	"github.com/freshet/freshet/recall"
	"github.com/freshet/freshet/server/breaker"
	"github.com/freshet/freshet/server/clocks"
	"github.com/freshet/freshet/server/connect"
	"github.com/freshet/freshet/server/itemindex"
	"github.com/freshet/freshet/server/redisfailover"
)

// clients holds the connections that the configured backends need; nil if not needed.
type clients struct {
	redis   redis.UniversalClient
	clock   *clocks.Redis        // of redis
	masters *redisfailover.Watch // nil if impressions are not in Redis
	breaker breaker.Redis        // of the client and of connections that bypass it
	elastic esindex.Client
	index   *itemindex.Watch // of elastic
}

// contentDecides returns the check whether the content of items suffices to decide if a reader refuses
// them; nil means that it always does.
func (c *clients) contentDecides() recall.ContentDecides {
	if c.index == nil {
		return nil
	}
	return c.index.ContentDecides
}

func (b *builder) openClients(ctx context.Context) (c clients, err error) {
	if b.cfg.UsesRedis() {
		if c, err = b.openRedis(ctx); err != nil {
			return c, err
		}
	}
	if b.cfg.UsesElasticsearch() {
		c.elastic, c.index, err = b.openElastic(ctx)
	}
	return c, err
}

func (b *builder) openRedis(ctx context.Context) (c clients, err error) {
	b.waitFor("redis", "")
	connect.LogRedis(b.log)
	var masters atomic.Pointer[redisfailover.Watch]
	client, err := connect.Redis(ctx, b.cfg, connect.OnConnect(func(ctx context.Context, conn *redis.Conn) {
		watch := masters.Load()
		if watch != nil {
			watch.Connected(ctx, conn)
		}
	}))
	if err != nil {
		return c, fmt.Errorf("redis.url: %w", err)
	}
	b.disconnects("redis", client.Close)
	c.redis = client
	b.watchMode(ctx, "redis.url", b.cfg, client)
	if c.masters, err = redisfailover.Open(ctx, b.cfg, client, b.log); err != nil {
		return c, err
	}
	masters.Store(c.masters)
	b.onClose("watch of masters", c.masters.Close)
	c.breaker = breaker.NewRedis("redis", connect.RedisPatience(b.cfg), c.masters, b.log)
	client.AddHook(c.breaker)
	if b.hooks.Redis != nil {
		client.AddHook(b.hooks.Redis)
	}
	connect.Follow(b.cfg, client)
	c.clock = clocks.OfRedis(client, b.clock)
	return c, nil
}

// watchMode ends the server if a Redis that did not answer at the start turns out to be a cluster.
func (b *builder) watchMode(ctx context.Context, setting string, cfg configs.Config, client redis.UniversalClient) {
	b.background(ctx, "watch of the mode of Redis", func(ctx context.Context) {
		for range periodic.Now(ctx, b.pauses.mode) {
			isCluster, answers := connect.IsCluster(ctx, cfg, client)
			if isCluster {
				b.fail(fmt.Errorf("%s: %w", setting, connect.ErrCluster))
			}
			if answers {
				return
			}
		}
	})
}

// openElastic creates the client and tries it once: a faulty index is an error, an unreachable
// Elasticsearch is not.
func (b *builder) openElastic(ctx context.Context) (esindex.Client, *itemindex.Watch, error) {
	b.waitFor("elasticsearch", "")
	client, err := connect.Elastic(b.cfg, b.log)
	if err != nil {
		return nil, nil, err
	}
	if b.hooks.Elastic != nil {
		client = b.hooks.Elastic(client)
	}
	index := itemindex.New(client, b.cfg, b.log)
	return client, index, index.Try(ctx)
}

// indexUse returns the parameters for trying the index: with the ranking in force.
func (b *builder) indexUse(s stores, live *ranking.Live) itemindex.Use {
	return itemindex.Use{
		Ready: live.Sync,
		Query: func() feed.Query {
			return feed.Query{Ranking: live.InForce().Live.Ranking, Origin: b.clock().UTC(), N: b.cfg.Recall.N}
		},
		Docs:   s.contents.Docs,
		Shared: s.shared,
	}
}

// startIndex starts to use and watch the index. It does nothing if index is nil.
func (b *builder) startIndex(ctx context.Context, index *itemindex.Watch, use itemindex.Use) {
	if index == nil {
		return
	}
	index.Begin(ctx, use)
	b.background(ctx, "watch of the mapping", func(ctx context.Context) { index.CheckPeriodically(ctx, b.pauses.index) })
	b.background(ctx, "watch of the index", func(ctx context.Context) { index.Run(ctx, use, b.pauses.index) })
}

// watchMasters starts to watch the masters. It does nothing if m is nil.
func (b *builder) watchMasters(ctx context.Context, m *redisfailover.Watch, posts *posts, recorder *dedup.Recorder, e *engine.Engine) {
	if m == nil {
		return
	}
	withdraw := b.newWithdraw(m.Client())
	reclaim := func(ctx context.Context, since time.Time) error {
		if since.IsZero() && posts != nil && posts.dataCheck != nil { // the first time after a change
			posts.dataCheck.Check(ctx)
		}
		e.ForgetShown()
		return recorder.Reclaim(ctx, withdraw, since)
	}
	b.background(ctx, "reclaims after a failover", func(ctx context.Context) { m.Run(ctx, b.clock, reclaim) })
}

// newWithdraw returns the function that removes the items of the last pages that a new master
// lacks from its sessions, which may be outdated. It waits for no replicas: a new master may have
// none for a while.
func (b *builder) newWithdraw(client redis.UniversalClient) dedup.Withdraw {
	return redislist.New(client, connect.Sessions(b.cfg, client, rediskeys.Replicas{}, b.log)).Withdraw
}
