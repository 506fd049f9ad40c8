package app

import (
	"context"
	"time"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/internal/clocks"
	"github.com/freshet/freshet/internal/rediskeys"
)

// sweepEvery is the pause between two sweeps of old items.
const sweepEvery = 10 * time.Minute

// startRetention removes items that are older than they are to be kept. Of several
// servers one does so each time.
func (b *builder) startRetention(ctx context.Context, c clients, s stores, items catalog.Catalog) {
	if b.cfg.Catalog.Retention == 0 {
		return
	}
	cfg := catalog.RetentionConfig{Keep: b.cfg.Catalog.Retention, Every: sweepEvery, Logger: b.log}
	cfg.Now = func(context.Context) (time.Time, error) { return b.clock(), nil }
	if c.redis != nil {
		cfg.Now = clocks.Earlier(b.clock, c.redis)
		if s.indexed == nil {
			cfg.Turn = rediskeys.Turn(c.redis, b.retentionLease(c), sweepEvery)
		}
	}
	b.background(ctx, "retention", catalog.NewRetention(s.contents, items, cfg).Run)
}

func (b *builder) retentionLease(c clients) string {
	return rediskeys.For(c.redis, b.cfg.Redis.KeyPrefix).RetentionLease()
}
