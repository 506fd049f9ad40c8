package app

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/rediskeys"
)

// sweepEvery is the pause between two sweeps of old items.
const sweepEvery = 10 * time.Minute

// startRetention removes items that are older than they are to be kept. Of several
// servers one does so each time.
func (a *App) startRetention(ctx context.Context) {
	if a.cfg.Catalog.Retention == 0 {
		return
	}
	cfg := catalog.RetentionConfig{Keep: a.cfg.Catalog.Retention, Every: sweepEvery, Logger: a.log}
	cfg.Now = func(context.Context) (time.Time, error) { return a.clock(), nil }
	if a.clients.redis != nil {
		cfg.Now = earlier(a.clock, a.clients.redis)
		if a.stores.indexed == nil {
			cfg.Turn = lease(a.clients.redis, a.retentionLease(), sweepEvery)
		}
	}
	a.background(ctx, catalog.NewRetention(a.stores.contents, a.Catalog, cfg).Run)
}

func (a *App) retentionLease() string {
	return rediskeys.For(a.clients.redis, a.cfg.Redis.KeyPrefix).RetentionLease()
}

// earlier is the time by a server's clock or by that of Redis, whichever is less: one clock
// that is far ahead must not remove what is young.
func earlier(clock feed.Clock, client redis.UniversalClient) func(ctx context.Context) (time.Time, error) {
	return func(ctx context.Context) (time.Time, error) {
		theirs, err := client.Time(ctx).Result()
		if err != nil {
			return time.Time{}, err
		}
		if ours := clock(); ours.Before(theirs) {
			return ours, nil
		}
		return theirs, nil
	}
}

// lease gives a turn to the first that asks, once in each span of time.
func lease(client redis.UniversalClient, key string, d time.Duration) func(ctx context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		// A little less, so that who has had it finds it ended the next time.
		err := client.SetArgs(ctx, key, 1, redis.SetArgs{Mode: "NX", TTL: d - d/20}).Err()
		if errors.Is(err, redis.Nil) {
			return false, nil
		}
		return err == nil, err
	}
}
