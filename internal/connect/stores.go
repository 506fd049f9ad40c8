package connect

import (
	"log/slog"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/cache/redislist"
	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/internal/rediskeys"
)

// day is the unit of dedup.window_days.
const day = 24 * time.Hour

// Dedup returns what the configuration says of the dedup window.
func Dedup(cfg configs.Config) dedup.Config {
	d := dedup.Config{
		WindowDays: cfg.Dedup.WindowDays, FalsePositiveRate: cfg.Dedup.FalsePositiveRate,
		DailyCapacity: cfg.Dedup.DailyCapacity, Shards: cfg.Dedup.Shards,
		Served: cfg.Impressions.On == configs.OnServed, PendingTTL: cfg.PendingTTL(),
	}
	if d.Served { // pending stands for delivered: it counts as long as its filter would
		d.PendingTTL = time.Duration(d.WindowDays) * day
	}
	return d
}

// Sessions returns what the configuration says of sessions in the Redis of a client.
func Sessions(cfg configs.Config, client redis.UniversalClient, replicas rediskeys.Replicas, log *slog.Logger) redislist.Config {
	return redislist.Config{
		KeyPrefix: cfg.Redis.KeyPrefix, TTL: cfg.Sessions.TTL,
		PendingTTL: Dedup(cfg).PendingTTL, Grace: checkAge(cfg, rediskeys.For(client, "").Cluster()),
		Replicas: replicas, Logger: log,
	}
}

// checkAge is how old the check may be that a page is chosen from. A single
// server reads the agent's pending set before the filters and tells the time
// of that. On a cluster the filters are on other servers and may be read
// earlier than that, though within the same request.
func checkAge(cfg configs.Config, cluster bool) time.Duration {
	if cluster {
		return cfg.PendingGrace() - cfg.Server.RequestTimeout
	}
	return cfg.PendingGrace()
}
