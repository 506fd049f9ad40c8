package connect

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/cache/redislist"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/internal/ownmachine"
	"github.com/freshet/freshet/internal/periodic"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/social"
)

// day is the unit of dedup.window_days.
const day = 24 * time.Hour

// Dedup returns the configuration of the dedup window.
func Dedup(cfg configs.Config) dedup.Config {
	d := dedup.Config{
		WindowDays: cfg.Dedup.WindowDays, FalsePositiveRate: cfg.Dedup.FalsePositiveRate,
		DailyCapacity: cfg.Dedup.DailyCapacity, Shards: cfg.Dedup.Shards,
		Served: cfg.Impressions.On == configs.OnServed, PendingTTL: cfg.PendingTTL(),
	}
	if d.Served { // a pending entry means delivered: it counts for as long as its filter would
		d.PendingTTL = time.Duration(d.WindowDays) * day
	}
	return d
}

// Sessions returns the configuration of sessions in the Redis of a client.
func Sessions(cfg configs.Config, client redis.UniversalClient, replicas rediskeys.Replicas, log *slog.Logger) redislist.Config {
	return redislist.Config{
		KeyPrefix: cfg.Redis.KeyPrefix, TTL: cfg.Sessions.TTL,
		PendingTTL: Dedup(cfg).PendingTTL, Grace: checkAge(cfg, rediskeys.For(client, "").Cluster()),
		Replicas: replicas, Logger: log,
	}
}

// checkAge returns the maximum age of the dedup check that a page is chosen from. A single server
// reads the agent's pending set before the filters and returns the time of that read. On a cluster
// the filters are on other servers and may be read earlier, though within the same request.
func checkAge(cfg configs.Config, cluster bool) time.Duration {
	if cluster {
		return cfg.PendingGrace() - cfg.Server.RequestTimeout
	}
	return cfg.PendingGrace()
}

// migrateEvery is the pause between two attempts to migrate PostgreSQL.
const migrateEvery = time.Second

// Migrator brings the tables of a database up to date. Errors wrap [social.ErrUnavailable] while
// the database is down.
type Migrator interface {
	Migrate(ctx context.Context) error
}

// Migrate brings the tables up to date. If the database is down, it returns later, which retries
// until the migration has succeeded or ctx ends; otherwise later is nil.
func Migrate(ctx context.Context, store Migrator, log *slog.Logger) (later func(context.Context), err error) {
	err = store.Migrate(ctx)
	if !errors.Is(err, social.ErrUnavailable) {
		return nil, err
	}
	log.WarnContext(ctx, "PostgreSQL is down; serving without posts and timelines until it is back", ownmachine.Attrs(err, "postgres.url")...)
	return func(ctx context.Context) {
		for range periodic.Every(ctx, migrateEvery) {
			err := store.Migrate(ctx)
			switch {
			case err == nil:
				log.InfoContext(ctx, "PostgreSQL is in use")
				return
			case !errors.Is(err, social.ErrUnavailable) && ctx.Err() == nil:
				log.ErrorContext(ctx, "PostgreSQL cannot be used", "error", err)
			}
		}
	}, nil
}
