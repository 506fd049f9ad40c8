package app

import (
	"context"
	"time"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/catalog/elastic"
	"github.com/freshet/freshet/internal/clocks"
	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/internal/repeat"
)

// startRetention removes items that are older than they are to be kept. Of several
// servers one does so each time.
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

// How long the folding of documents waits.
const (
	foldPause = 200 * time.Millisecond // between two pieces, to leave Elasticsearch to the readers
	foldAgain = 10 * time.Second       // after an error, and until the index is in use
	foldEvery = 10 * time.Minute       // before it looks for documents that an older server has written since
)

// startFolding gives the documents of an index of Freshet's own that were written by an older
// version what tags and languages are compared by.
func (b *builder) startFolding(ctx context.Context, items *elastic.Catalog) {
	if items == nil || !b.cfg.Elasticsearch.ManageIndex {
		return
	}
	b.background(ctx, "folding of tags", func(ctx context.Context) {
		after, total := "", 0
		for pause := time.Duration(0); repeat.Pause(ctx, pause) == nil; {
			next, n, err := items.Fold(ctx, after)
			after, total, pause = next, total+n, foldPause
			switch {
			case err != nil: // it begins again
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
