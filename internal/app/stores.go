package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/cache"
	memorysessions "github.com/freshet/freshet/cache/memory"
	"github.com/freshet/freshet/cache/redislist"
	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/catalog/counted"
	elasticcatalog "github.com/freshet/freshet/catalog/elastic"
	"github.com/freshet/freshet/catalog/indexed"
	"github.com/freshet/freshet/catalog/lru"
	"github.com/freshet/freshet/catalog/rediscache"
	"github.com/freshet/freshet/catalog/sqlite"
	"github.com/freshet/freshet/catalog/standby"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/journal"
	memorydedup "github.com/freshet/freshet/dedup/memory"
	"github.com/freshet/freshet/dedup/redisbloom"
	"github.com/freshet/freshet/dedup/spool"
	"github.com/freshet/freshet/handler"
	"github.com/freshet/freshet/internal/breaker"
	"github.com/freshet/freshet/internal/clocks"
	"github.com/freshet/freshet/internal/connect"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/itemindex"
	"github.com/freshet/freshet/internal/masters"
	"github.com/freshet/freshet/internal/recovery"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/ranking"
	elasticranking "github.com/freshet/freshet/ranking/elastic"
	sqliteranking "github.com/freshet/freshet/ranking/sqlite"
	"github.com/freshet/freshet/recall"
	elasticrecall "github.com/freshet/freshet/recall/elastic"
	memoryrecall "github.com/freshet/freshet/recall/memory"
	"github.com/freshet/freshet/signals/popularity"
	popularityredis "github.com/freshet/freshet/signals/popularity/redis"
	popularitysqlite "github.com/freshet/freshet/signals/popularity/sqlite"
)

// stores fills the engine's contracts.
type stores struct {
	sources  []recall.Source
	popular  recall.Popular
	dedup    dedup.Store
	sessions cache.Sessions
	catalog  catalog.Catalog
	rankings ranking.Store
	agents   sampler
	indexed  *indexed.Catalog       // the catalog where recall is in this process, else nil
	live     *popularityredis.Store // live popularity where recall is in Elasticsearch; nil: off
	counted  popularity.Index       // what ranks by it; nil: likewise
	contents contents               // of items, past the caches
	fronts   []*recall.Front        // of the sources, in their order
	spool    *spool.Spool           // nil: not failing open
	recovery *recovery.Watch        // nil: likewise
}

// contents reads and lists items.
type contents interface {
	catalog.Reader
	catalog.Lister
}

// clients are the connections the configured backends need; nil: not needed.
type clients struct {
	redis   redis.UniversalClient
	masters *masters.Watch // nil: impressions are not in Redis
	breaker breaker.Redis  // of the client and of what goes past it
	elastic esindex.Client
	index   *itemindex.Watch // of elastic
}

// tells is whether the content of items tells whether a reader refuses them; nil: it
// does.
func (c *clients) tells() recall.Tells {
	if c.index == nil {
		return nil
	}
	return c.index.Tells
}

// What recall answers is shared by equal queries for sharedFor; the list for all readers
// stands in for staleFor while it is down.
const (
	sharedFor = time.Second
	staleFor  = 10 * time.Minute
)

func (a *App) openStores(ctx context.Context) (stores, error) {
	var s stores
	c, err := a.connect(ctx)
	if err != nil {
		return s, err
	}
	a.clients = c
	if s.dedup, err = a.openDedup(ctx, c); err != nil {
		return s, err
	}
	s.sessions = a.openSessions(c, s.dedup)
	if err := a.openCatalog(ctx, c, &s); err != nil {
		return s, err
	}
	front := recall.FrontConfig{Share: a.sharedFor, Timeout: a.cfg.Server.RequestTimeout}
	if a.cfg.UsesElasticsearch() {
		front.Standby = a.staleFor
	}
	for i, source := range s.sources {
		f := recall.NewFront(source, a.clock, front)
		s.sources[i], s.fronts = f, append(s.fronts, f)
	}
	if front.Standby > 0 {
		s.catalog = standby.New(s.catalog, s.fronts)
	}
	return s, a.openSpool(ctx, &s)
}

// connect makes the clients of the services that are configured.
func (a *App) connect(ctx context.Context) (c clients, err error) {
	if a.cfg.UsesRedis() {
		connect.LogRedis(a.log)
		if c.redis, err = connect.Redis(ctx, a.cfg); err != nil {
			return c, fmt.Errorf("redis.url: %w", err)
		}
		a.closers = append(a.closers, func(context.Context) error { return c.redis.Close() })
		if c.masters, err = masters.Open(ctx, a.cfg, c.redis, a.log); err != nil {
			return c, err
		}
		a.closers = append(a.closers, c.masters.Close)
		c.breaker = breaker.NewRedis("redis", connect.RedisPatience(a.cfg), c.masters, a.log)
		c.redis.AddHook(c.breaker)
		if a.hooks.Redis != nil {
			c.redis.AddHook(a.hooks.Redis)
		}
		clock := clocks.OfRedis(c.redis, a.clock)
		a.checks["redis"] = func(ctx context.Context) handler.Dependency {
			return handler.Dependency{Err: clock.Ask(ctx), Warning: clock.Warning(), Optional: a.cfg.FailsOpen()}
		}
	}
	if !a.cfg.UsesElasticsearch() {
		return c, nil
	}
	err = a.openElastic(ctx, &c)
	return c, err
}

// OpenDedup opens the configured dedup store and nothing else, for
// measurements. The function it returns closes it.
func OpenDedup(ctx context.Context, cfg configs.Config, options ...Option) (dedup.Store, func(context.Context) error, error) {
	cfg.Elasticsearch.Addresses = nil
	a := newApp(cfg, options)
	c, err := a.connect(ctx)
	if err == nil {
		a.clients = c
		a.stores.dedup, err = a.openDedup(ctx, c)
	}
	if err != nil {
		return nil, nil, errors.Join(err, a.closeAll(context.WithoutCancel(ctx)))
	}
	return a.stores.dedup, a.Close, nil
}

func (a *App) openDedup(ctx context.Context, c clients) (dedup.Store, error) {
	cfg := connect.Dedup(a.cfg)
	if a.cfg.UsesRedis() {
		tuning := redisbloom.Config{KeyPrefix: a.cfg.Redis.KeyPrefix, Logger: a.log, Replicas: connect.Replicas(a.cfg, c.breaker)}
		store, err := redisbloom.New(c.redis, cfg, tuning)
		if err != nil {
			return nil, err
		}
		err = store.Verify(ctx)
		if errors.Is(err, dedup.ErrUnavailable) && a.cfg.FailsOpen() {
			a.log.WarnContext(ctx, "Redis is down; serving without it (dedup.on_failure: open)", "error", err)
			err = nil
		}
		if err != nil {
			return nil, fmt.Errorf("redis: %w", err)
		}
		return store, nil
	}
	dir, err := a.dataDir("impressions")
	if err != nil {
		return nil, err
	}
	store, err := memorydedup.Open(dir, cfg, a.clock, memorydedup.WithLogger(a.log))
	if err != nil {
		return nil, err
	}
	a.closers = append(a.closers, store.Close)
	a.checks["data_dir"] = func(ctx context.Context) handler.Dependency { return handler.Dependency{Err: store.Writable(ctx)} }
	return store, nil
}

// openSpool opens the disk that impressions wait on while Redis is down.
func (a *App) openSpool(ctx context.Context, s *stores) error {
	if !a.cfg.FailsOpen() {
		return nil
	}
	dir, err := a.dataDir("spool")
	if err != nil {
		return err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return fmt.Errorf("data_dir: %w", err)
	}
	notes := redisbloom.NewNotes(a.clients.redis, a.cfg.Redis.KeyPrefix)
	cfg := connect.Dedup(a.cfg)
	s.spool, err = spool.Open(ctx, dir, s.dedup, a.clock, spool.Config{
		MaxAge: cfg.PendingTTL, OfferedOnly: !cfg.Served, Grace: a.pauses.settle, Every: a.pauses.spool,
		Sessions: s.sessions, Notes: notes, Server: recovery.ServerName(dir),
		Timeout: a.cfg.Server.RequestTimeout, Logger: a.log,
	})
	if err != nil {
		return err
	}
	a.closers = append(a.closers, s.spool.Close)
	if store, ok := s.dedup.(*redisbloom.Store); ok {
		s.recovery = recovery.Open(ctx, store, notes, recovery.Config{
			After: a.pauses.settle, Every: a.pauses.notes, Timeout: a.cfg.Server.RequestTimeout, Logger: a.log,
		})
		a.background(ctx, s.recovery.Run)
	}
	return nil
}

func (a *App) openSessions(c clients, claimer dedup.Claimer) cache.Sessions {
	if a.cfg.UsesRedis() {
		return redislist.New(c.redis, a.sessionsConfig(c.redis, connect.Replicas(a.cfg, c.breaker)))
	}
	return memorysessions.New(claimer, a.cfg.Sessions.TTL, a.clock)
}

// sessionsConfig tunes sessions in Redis.
func (a *App) sessionsConfig(client redis.UniversalClient, replicas rediskeys.Replicas) redislist.Config {
	return redislist.Config{
		KeyPrefix: a.cfg.Redis.KeyPrefix, TTL: a.cfg.Sessions.TTL,
		PendingTTL: connect.Dedup(a.cfg).PendingTTL, Grace: checkAge(a.cfg, client),
		Replicas: replicas, Logger: a.log,
	}
}

// checkAge is how old the check may be that a page is chosen from. A single
// server reads the agent's pending set before the filters and tells the time
// of that. On a cluster the filters are on other servers and may be read
// earlier than that, though within the same request.
func checkAge(cfg configs.Config, client redis.UniversalClient) time.Duration {
	if rediskeys.For(client, "").Cluster() {
		return cfg.PendingGrace() - cfg.Server.RequestTimeout
	}
	return cfg.PendingGrace()
}

// openCatalog opens the catalog, the recall source over it, and the caches in
// front of it.
func (a *App) openCatalog(ctx context.Context, c clients, s *stores) error {
	if a.cfg.UsesElasticsearch() {
		where := elasticcatalog.Config{Index: a.cfg.Elasticsearch.Index, Schema: c.index.Schema()}
		if a.cfg.Elasticsearch.ManageIndex {
			where.Own = &esindex.Definition{Fields: itemindex.Fields(a.cfg)}
		}
		if a.cfg.PopularityOff() == "" {
			s.live = popularityredis.New(c.redis, a.cfg.Redis.KeyPrefix)
			where.Counts = counted.Of(s.live)
		}
		items := elasticcatalog.New(c.elastic, where)
		s.catalog, s.contents, s.agents, s.rankings = items, items, items, elasticranking.New(c.elastic, where.Index)
		source := elasticrecall.New(c.elastic, elasticrecall.Config{Index: where.Index, Schema: where.Schema, Logger: a.log})
		s.sources, s.popular = []recall.Source{source}, source
		if s.live != nil {
			s.counted = items
			s.catalog = counted.New(items, s.live)
		}
		if c.redis != nil {
			s.catalog = rediscache.New(s.catalog, c.redis, rediscache.Config{
				KeyPrefix: a.cfg.Redis.KeyPrefix,
				Logger:    a.log,
				Tombstone: 2 * a.cfg.Server.RequestTimeout, // longer than any request, however long those may be
			})
		}
		return nil
	}
	dir, err := a.dataDir("")
	if err != nil {
		return err
	}
	// A second process would not see in its index what this one is given.
	lock, err := journal.LockDir(dir)
	if err != nil {
		return err
	}
	a.closers = append(a.closers, func(context.Context) error { return lock.Close() })
	db, err := sqlite.Open(ctx, filepath.Join(dir, sqlite.FileName))
	if err != nil {
		return err
	}
	a.closers = append(a.closers, func(context.Context) error { return db.Close() })
	index := memoryrecall.New()
	synced, err := indexed.Open(ctx, db, index, popularitysqlite.New(db.File()))
	if err != nil {
		return fmt.Errorf("build the recall index from the catalog: %w", err)
	}
	s.sources, s.popular = []recall.Source{index}, index
	s.indexed, s.contents = synced, db
	s.catalog, s.agents, s.rankings = lru.New(synced, lru.Config{}), db, sqliteranking.New(db.File())
	return nil
}

// dataDir makes and returns a directory below the data directory.
func (a *App) dataDir(name string) (string, error) {
	dir := filepath.Join(a.cfg.DataDir, name)
	if a.demo {
		dir = filepath.Join(a.cfg.DataDir, "demo", name)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("data_dir: %w", err)
	}
	return dir, nil
}
