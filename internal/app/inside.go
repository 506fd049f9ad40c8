package app

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/elastic/go-elasticsearch/v8"
	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
)

// Inside is what a measurement needs of a system beside its API: the stores
// that requests go through, and the connections to put a stopwatch on.
type Inside struct {
	Dedup    dedup.Store
	Sessions cache.Sessions
	Redis    redis.UniversalClient // nil: not used
	Elastic  *elasticsearch.Client // nil: not used
}

// Inside lets a measurement in. What it returns is in use.
func (a *App) Inside() Inside {
	return Inside{Dedup: a.stores.dedup, Sessions: a.stores.sessions, Redis: a.clients.redis, Elastic: a.clients.elastic}
}

// OpenDedup opens the configured dedup store and nothing else. The function it
// returns closes it.
func OpenDedup(ctx context.Context, cfg configs.Config, options ...Option) (Inside, func(context.Context) error, error) {
	cfg.Catalog.Backend, cfg.Recall.Backend, cfg.Sessions.Backend = configs.CatalogSQLite, configs.RecallMemory, configs.SessionsMemory
	a := &App{cfg: cfg, clock: time.Now, log: slog.Default(), checks: checks{}}
	for _, o := range options {
		o(a)
	}
	c, err := a.connect(ctx)
	if err == nil {
		a.clients = c
		a.stores.dedup, err = a.openDedup(ctx, c)
	}
	if err != nil {
		return Inside{}, nil, errors.Join(err, a.closeAll(context.WithoutCancel(ctx)))
	}
	return a.Inside(), a.Close, nil
}

// ConnectRedis makes the client the configuration describes. The caller closes
// it.
func ConnectRedis(ctx context.Context, cfg configs.Config) (redis.UniversalClient, error) {
	return connectRedis(ctx, cfg)
}

// ConnectElastic makes the client the configuration describes; it does not
// dial yet.
func ConnectElastic(cfg configs.Config, log *slog.Logger) (*elasticsearch.Client, error) {
	return connectElastic(cfg, log)
}
