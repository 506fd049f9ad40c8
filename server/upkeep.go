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
	"github.com/freshet/freshet/server/retention"
	"github.com/freshet/freshet/social"
)

// purgeRows is about how many rows of each kind the store of posts removes at a time.
const purgeRows = 10_000

// startPurger removes, in one loop, what has expired in all stores. What servers share, one of them removes.
func (b *builder) startPurger(ctx context.Context, c clients, s stores, n *network, items catalog.Catalog) {
	now := func(context.Context) (time.Time, error) { return b.clock(), nil }
	var turn func(context.Context) (bool, error)
	if c.redis != nil {
		now = clocks.Earlier(b.clock, c.redis)
		turn = rediskeys.Turn(c.redis, rediskeys.For(c.redis, b.cfg.Redis.KeyPrefix).RetentionLease(), retention.Every)
	}
	tasks := b.purges
	if n != nil {
		tasks = append(tasks, retention.Task{Name: "posts", Step: purgeSocial(n.store), Own: !b.cfg.UsesPostgres()})
		tasks = append(tasks, retention.Task{Name: "exports", Step: counting("exports", n.exports.Expire), Own: !b.cfg.UsesPostgres()})
	}
	ownCatalog := s.indexed != nil
	if b.cfg.Catalog.Retention > 0 {
		old := catalog.NewRetention(s.contents, items, catalog.RetentionConfig{Keep: b.cfg.Catalog.Retention, Now: now})
		tasks = append(tasks, retention.Task{Name: "items", Step: counting("items", old.Sweep), Own: ownCatalog})
	}
	learned := catalog.NewLearnedRetention(s.learned, items, catalog.RetentionConfig{Keep: b.cfg.Learning.Retention, Now: now})
	tasks = append(tasks, retention.Task{Name: "learned data", Kinds: []string{"learned"}, Step: counting("learned", learned.Step), Own: ownCatalog})
	b.purger = retention.New(turn, b.log, tasks...)
	b.background(ctx, "purges", b.purger.Run)
}

// purgeSocial removes what has expired in the store of posts.
func purgeSocial(store social.Upkeep) func(context.Context) (map[string]int, bool, error) {
	return func(ctx context.Context) (map[string]int, bool, error) {
		removed, err := store.Purge(ctx, purgeRows)
		return removed, removed.Total() >= purgeRows || removed["reports"] >= social.ReportsPurgedAtOnce, err
	}
}

// counting names what a step removes.
func counting(what string, step func(context.Context) (int, bool, error)) func(context.Context) (map[string]int, bool, error) {
	return func(ctx context.Context) (map[string]int, bool, error) {
		n, more, err := step(ctx)
		return map[string]int{what: n}, more, err
	}
}

// purgeFile adds a file of this process to what the purger looks at.
func (b *builder) purgeFile(what string, purge func(context.Context, time.Time) (int, error)) {
	b.purges = append(b.purges, retention.Task{Name: what, Own: true, Step: counting(what, func(ctx context.Context) (int, bool, error) {
		n, err := purge(ctx, b.clock())
		return n, false, err
	})})
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
