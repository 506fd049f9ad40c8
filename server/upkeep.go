package server

import (
	"context"
	"time"

	"github.com/freshet/freshet/catalog"
	catalogelastic "github.com/freshet/freshet/catalog/elastic"
	"github.com/freshet/freshet/handler"
	"github.com/freshet/freshet/internal/periodic"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/recall/replica"
	"github.com/freshet/freshet/server/clocks"
)

// startRetention removes items that are older than the retention. One of several servers makes
// each sweep.
func (b *builder) startRetention(ctx context.Context, c clients, s stores, items catalog.Catalog) {
	if b.cfg.Catalog.Retention == 0 {
		return
	}
	cfg := catalog.RetentionConfig{Keep: b.cfg.Catalog.Retention, Logger: b.log}
	cfg.Now = func(context.Context) (time.Time, error) { return b.clock(), nil }
	if c.redis != nil {
		cfg.Now = clocks.Earlier(b.clock, c.redis)
		if s.indexed == nil {
			cfg.Turn = rediskeys.Turn(c.redis, rediskeys.For(c.redis, b.cfg.Redis.KeyPrefix).RetentionLease(), catalog.SweepEvery)
		}
	}
	b.background(ctx, "retention", catalog.NewRetention(s.contents, items, cfg).Run)
}

// startCopy keeps the copy of the index that recall uses. It does nothing if it uses none.
func (b *builder) startCopy(ctx context.Context, copied *replica.Source) {
	if copied != nil {
		b.background(ctx, "copy of the index", copied.Run)
	}
}

// checkCopy lets readiness say why Elasticsearch recalls instead of the copy.
func (b *builder) checkCopy(copied *replica.Source) {
	if copied == nil {
		return
	}
	b.checks["recall"] = func(context.Context) handler.Dependency {
		_, why := copied.State()
		return handler.Dependency{Optional: true, Warning: why}
	}
}

// Pauses of the folding of documents.
const (
	foldPause = 200 * time.Millisecond // between two batches, to leave Elasticsearch to the readers
	foldAgain = 10 * time.Second       // after an error, and until the index is in use
	foldEvery = 10 * time.Minute       // before it checks for documents that an older server has written since
)

// startFolding adds the folded tags and languages, which are used for comparisons, to documents
// of an index managed by Freshet that an older version wrote.
func (b *builder) startFolding(ctx context.Context, items *catalogelastic.Catalog) {
	if items == nil || !b.cfg.Elasticsearch.ManageIndex {
		return
	}
	b.background(ctx, "folding of tags", func(ctx context.Context) {
		after, total := "", 0
		for pause := time.Duration(0); periodic.Pause(ctx, pause) == nil; {
			next, n, err := items.Fold(ctx, after)
			after, total, pause = next, total+n, foldPause
			switch {
			case err != nil: // start over
				pause = foldAgain
			case next == "":
				pause = foldEvery
				if total > 0 {
					b.log.InfoContext(ctx, "the tags of stored items were folded", "items", total)
				}
				total = 0
			}
		}
	})
}
