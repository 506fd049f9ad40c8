package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/elastic/go-elasticsearch/v8"
	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/cache"
	memorysessions "github.com/freshet/freshet/cache/memory"
	"github.com/freshet/freshet/cache/redislist"
	"github.com/freshet/freshet/catalog"
	elasticcatalog "github.com/freshet/freshet/catalog/elastic"
	"github.com/freshet/freshet/catalog/lru"
	"github.com/freshet/freshet/catalog/rediscache"
	"github.com/freshet/freshet/catalog/sqlite"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/journal"
	memorydedup "github.com/freshet/freshet/dedup/memory"
	"github.com/freshet/freshet/dedup/redisbloom"
	"github.com/freshet/freshet/dedup/spool"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/recall"
	elasticrecall "github.com/freshet/freshet/recall/elastic"
	memoryrecall "github.com/freshet/freshet/recall/memory"
)

// day is the unit of dedup.window_days.
const day = 24 * time.Hour

// stores fills the engine's contracts.
type stores struct {
	sources  []recall.Source
	dedup    dedup.Store
	sessions cache.Sessions
	catalog  catalog.Catalog
	spool    *spool.Spool // nil: not failing open
	recovery *recovery    // nil: likewise
}

// clients are the connections the configured backends need; nil: not needed.
type clients struct {
	redis   redis.UniversalClient
	masters *masters     // nil: impressions are not in Redis
	breaker redisBreaker // of the client and of what goes past it
	elastic *elasticsearch.Client
	schema  esindex.Schema
}

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
	for i, source := range s.sources {
		source = recall.NewShared(recall.NewMetered(source), a.clock, recall.SharedConfig{TTL: a.cfg.Recall.CacheTTL, Timeout: a.cfg.Server.RequestTimeout})
		if usesElastic(a.cfg) && a.cfg.Recall.StaleTTL > 0 {
			source = recall.NewStale(source, a.clock, recall.StaleConfig{TTL: a.cfg.Recall.StaleTTL})
		}
		s.sources[i] = source
	}
	return s, a.openSpool(ctx, &s)
}

// connect makes the clients and, with elasticsearch.manage_index, the indices.
func (a *App) connect(ctx context.Context) (c clients, err error) {
	if usesRedis(a.cfg) {
		if c.redis, err = connectRedis(ctx, a.cfg); err != nil {
			return c, err
		}
		a.closers = append(a.closers, func(context.Context) error { return c.redis.Close() })
		if c.masters, err = a.openMasters(ctx); err != nil {
			return c, err
		}
		if c.masters != nil {
			c.masters.others = c.redis
		}
		c.breaker = newRedisBreaker(redisPatience(a.cfg), c.masters, a.log)
		c.redis.AddHook(c.breaker)
		clock := &redisClock{client: c.redis, clock: a.clock}
		a.checks["redis"] = check{ask: clock.ask, warning: clock.warning, optional: a.failsOpen()}
	}
	if !usesElastic(a.cfg) {
		return c, nil
	}
	if c.elastic, err = connectElastic(a.cfg, a.log); err != nil {
		return c, err
	}
	a.checks["elasticsearch"] = check{ask: func(ctx context.Context) error { return pingElastic(ctx, c.elastic) }, optional: true}
	index := a.cfg.Elasticsearch.Index
	if a.cfg.Elasticsearch.ManageIndex {
		created, err := esindex.Ensure(ctx, c.elastic, index, esindex.Definition{Fields: indexFields(a.cfg)})
		if err != nil {
			return c, fmt.Errorf("create the index %s: %w", index, err)
		}
		if len(created) > 0 {
			a.log.InfoContext(ctx, "created", "indices", created)
		}
	}
	report, err := esindex.Inspect(ctx, c.elastic, index, indexFields(a.cfg), timeUnit(a.cfg))
	if err != nil {
		return c, fmt.Errorf("%w; freshet doctor says more", err)
	}
	for _, p := range report.Problems {
		a.log.WarnContext(ctx, "elasticsearch index", "index", index, "problem", p.String())
	}
	c.schema = report.Schema
	return c, report.Err()
}

func usesRedis(cfg configs.Config) bool {
	return cfg.Dedup.Backend == configs.DedupRedisBloom || cfg.Sessions.Backend == configs.SessionsRedisList
}

// failsOpen reports whether the server answers while Redis is down.
func (a *App) failsOpen() bool {
	return usesRedis(a.cfg) && a.cfg.Dedup.OnFailure == configs.FailOpen
}

func usesElastic(cfg configs.Config) bool {
	return cfg.Catalog.Backend == configs.CatalogElastic || cfg.Recall.Backend == configs.RecallElastic
}

func dedupConfig(cfg configs.Config) dedup.Config {
	d := dedup.Config{
		WindowDays: cfg.Dedup.WindowDays, FalsePositiveRate: cfg.Dedup.FalsePositiveRate,
		DailyCapacity: cfg.Dedup.DailyCapacity, Shards: cfg.Dedup.Shards,
		Served: cfg.Impressions.On == configs.OnServed, PendingTTL: cfg.Impressions.PendingTTL,
	}
	if d.Served { // pending stands for delivered: it counts as long as its filter would
		d.PendingTTL = time.Duration(d.WindowDays) * day
	}
	return d
}

func (a *App) openDedup(ctx context.Context, c clients) (dedup.Store, error) {
	cfg := dedupConfig(a.cfg)
	if a.cfg.Dedup.Backend == configs.DedupRedisBloom {
		tuning := redisbloom.Config{KeyPrefix: a.cfg.Redis.KeyPrefix, Logger: a.log, Replicas: replicas(a.cfg, c.breaker)}
		if mirror := a.cfg.Dedup.Mirror; mirror.Enabled {
			tuning.MirrorBytes = int64(mirror.MaxBytes)
		}
		store, err := redisbloom.New(c.redis, cfg, tuning)
		if err != nil {
			return nil, err
		}
		err = store.Verify(ctx)
		if errors.Is(err, dedup.ErrUnavailable) && a.failsOpen() {
			a.log.WarnContext(ctx, "Redis is down; serving without it (dedup.on_failure: open)", "error", err)
			err = nil
		}
		if err != nil {
			return nil, fmt.Errorf("redis: %w", err)
		}
		a.runMirror(ctx, store)
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
	a.checks["data_dir"] = check{ask: store.Writable}
	return store, nil
}

// runMirror keeps the past days' filters in this process until the system is
// closed, if dedup.mirror says so.
func (a *App) runMirror(ctx context.Context, store *redisbloom.Store) {
	if !a.cfg.Dedup.Mirror.Enabled {
		return
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		store.RunMirror(ctx, a.clock)
	}()
	a.closers = append(a.closers, func(context.Context) error { stop(); <-ended; return nil })
}

// openSpool opens the disk that impressions wait on while Redis is down.
func (a *App) openSpool(ctx context.Context, s *stores) error {
	if !a.failsOpen() {
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
	cfg := dedupConfig(a.cfg)
	s.spool, err = spool.Open(ctx, dir, s.dedup, a.clock, spool.Config{
		MaxAge: cfg.PendingTTL, OfferedOnly: !cfg.Served, Grace: a.cfg.Dedup.PendingGrace,
		Sessions: s.sessions, Notes: notes, Server: serverName(dir),
		Timeout: a.cfg.Server.RequestTimeout, Logger: a.log,
	})
	if err != nil {
		return err
	}
	a.closers = append(a.closers, s.spool.Close)
	if store, ok := s.dedup.(*redisbloom.Store); ok {
		s.recovery = a.watchRecovery(ctx, store, notes)
	}
	return nil
}

func (a *App) openSessions(c clients, claimer dedup.Claimer) cache.Sessions {
	if a.cfg.Sessions.Backend == configs.SessionsRedisList {
		return redislist.New(c.redis, redislist.Config{
			KeyPrefix: a.cfg.Redis.KeyPrefix, TTL: a.cfg.Sessions.TTL,
			PendingTTL: dedupConfig(a.cfg).PendingTTL, Grace: checkAge(a.cfg, c.redis),
			Replicas: replicas(a.cfg, c.breaker),
		})
	}
	return memorysessions.New(claimer, a.cfg.Sessions.TTL, a.clock)
}

// openCatalog opens the catalog, the recall source over it, and the caches in
// front of it.
func (a *App) openCatalog(ctx context.Context, c clients, s *stores) error {
	if a.cfg.Catalog.Backend == configs.CatalogElastic {
		where := elasticcatalog.Config{Index: a.cfg.Elasticsearch.Index, Schema: c.schema}
		s.catalog = elasticcatalog.New(c.elastic, where)
		s.sources = []recall.Source{elasticrecall.New(c.elastic, elasticrecall.Config{Index: where.Index, Schema: where.Schema})}
		if c.redis != nil {
			s.catalog = rediscache.New(s.catalog, c.redis, rediscache.Config{
				KeyPrefix: a.cfg.Redis.KeyPrefix,
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
	db, err := sqlite.Open(ctx, catalogFile(dir))
	if err != nil {
		return err
	}
	a.closers = append(a.closers, func(context.Context) error { return db.Close() })
	index := memoryrecall.New()
	synced, err := newIndexed(ctx, db, index)
	if err != nil {
		return fmt.Errorf("build the recall index from the catalog: %w", err)
	}
	s.sources = []recall.Source{index}
	s.catalog = lru.New(synced, lru.Config{})
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

func catalogFile(dir string) string { return filepath.Join(dir, "catalog.db") }
