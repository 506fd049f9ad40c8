package catalog

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/repeat"
)

// SweepEvery is the pause between two sweeps, and stepPause that between two steps, for others
// who write.
const (
	SweepEvery = 10 * time.Minute
	stepPause  = 100 * time.Millisecond
)

// RetentionConfig says how long items are kept. A zero field stands for its default,
// but for Keep.
type RetentionConfig struct {
	Keep   time.Duration // since update_time
	Step   int           // items looked at at once; default 200
	Logger *slog.Logger
	// Now is the moment from which an item's age counts. What it removes is gone, so it is
	// not to be the clock of one machine where others know the time too. nil: time.Now.
	Now func(ctx context.Context) (time.Time, error)
	// Turn says whether this server does the sweep that is due; nil: always. Sweeps of
	// two servers at once are right too, and only cost more.
	Turn func(ctx context.Context) (bool, error)
}

// Retention removes items whose update_time is long ago. Posts stay: they belong to the
// social store.
type Retention struct {
	list  Lister
	items Writer
	cfg   RetentionConfig
}

// NewRetention removes through items what list finds.
func NewRetention(list Lister, items Writer, cfg RetentionConfig) *Retention {
	cfg.Step = cmp.Or(cfg.Step, 200)
	if cfg.Now == nil {
		cfg.Now = func(context.Context) (time.Time, error) { return time.Now(), nil }
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.New(slog.DiscardHandler))
	if cfg.Turn == nil {
		cfg.Turn = func(context.Context) (bool, error) { return true, nil }
	}
	return &Retention{list: list, items: items, cfg: cfg}
}

// Run sweeps at once and then after each pause, until ctx ends.
func (r *Retention) Run(ctx context.Context) { repeat.Now(ctx, SweepEvery, r.turn) }

// turn sweeps where it is this server's turn, and logs what came of it.
func (r *Retention) turn(ctx context.Context) {
	mine, err := r.cfg.Turn(ctx)
	removed := 0
	if err == nil && mine {
		removed, err = r.Sweep(ctx)
	}
	if removed > 0 {
		r.cfg.Logger.InfoContext(ctx, "items were removed that are older than catalog.retention", "items", removed, "retention", r.cfg.Keep.String())
	}
	if err != nil && ctx.Err() == nil {
		r.cfg.Logger.WarnContext(ctx, "items that are older than catalog.retention could not all be removed; the next sweep goes on", "error", err)
	}
}

// Sweep removes all items that are too old now, step by step, and counts them, also
// where an error ends it early. An item that is put again meanwhile, with a time that is
// young enough, stays. So does one that cannot be removed, and the error tells of it after
// the others are.
func (r *Retention) Sweep(ctx context.Context) (removed int, err error) {
	now, err := r.cfg.Now(ctx)
	if err != nil {
		return 0, err
	}
	before := now.Add(-r.cfg.Keep).Unix()
	old := func(it feed.Item) bool { return it.UpdateTime < before } // it may be young enough by now
	return removing{r.list, r.items, stepPause, old}.run(ctx, Selection{Before: before, Limit: r.cfg.Step})
}
