package catalog

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/periodic"
)

const (
	// SweepEvery is the pause between two sweeps.
	SweepEvery = 10 * time.Minute

	sweepStep = 200                    // items of a step
	stepPause = 100 * time.Millisecond // between two steps, for other writers
)

// RetentionConfig configures how long items are kept. A zero field means its default, except
// for Keep.
type RetentionConfig struct {
	Keep   time.Duration // since update_time
	Logger *slog.Logger
	// Now returns the time for computing an item's age. Removals are final, so it should not be
	// the clock of a single machine if other machines know the time too. Nil means time.Now.
	Now func(ctx context.Context) (time.Time, error)
	// Turn reports whether this server does the due sweep. Nil means always. Simultaneous
	// sweeps of two servers are correct, only more expensive.
	Turn func(ctx context.Context) (bool, error)
}

// Retention removes items with an update_time long ago. Posts are not removed; they belong to
// the social store.
type Retention struct {
	list  Lister
	items Writer
	cfg   RetentionConfig
}

// NewRetention returns a Retention that removes the items found by list through items.
func NewRetention(list Lister, items Writer, cfg RetentionConfig) *Retention {
	if cfg.Now == nil {
		cfg.Now = func(context.Context) (time.Time, error) { return time.Now(), nil }
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.Turn == nil {
		cfg.Turn = func(context.Context) (bool, error) { return true, nil }
	}
	return &Retention{list: list, items: items, cfg: cfg}
}

// Run sweeps immediately and then after each pause, until ctx ends.
func (r *Retention) Run(ctx context.Context) {
	for range periodic.Now(ctx, SweepEvery) {
		r.turn(ctx)
	}
}

// turn sweeps if it is this server's turn, and logs the result.
func (r *Retention) turn(ctx context.Context) {
	mine, err := r.cfg.Turn(ctx)
	removed := 0
	if err == nil && mine {
		removed, err = r.Sweep(ctx)
	}
	if removed > 0 {
		r.cfg.Logger.InfoContext(ctx, "items older than catalog.retention were removed", "items", removed, "retention", r.cfg.Keep.String())
	}
	if err != nil && ctx.Err() == nil {
		r.cfg.Logger.WarnContext(ctx, "not all items older than catalog.retention could be removed; the next sweep continues", "error", err)
	}
}

// Sweep removes all items that are too old, step by step. It returns the number of removed
// items, also if an error ends it early. An item that is stored again in the meantime, with a
// recent enough time, stays. So does one that cannot be removed; the error reports it after the
// others are removed.
func (r *Retention) Sweep(ctx context.Context) (removed int, err error) {
	now, err := r.cfg.Now(ctx)
	if err != nil {
		return 0, err
	}
	before := now.Add(-r.cfg.Keep).Unix()
	old := func(it feed.Item) bool { return it.UpdateTime < before } // its time may have changed since it was listed
	return removing{r.list, r.items, stepPause, old}.run(ctx, Selection{Before: before, Limit: sweepStep})
}
