package catalog

import (
	"context"
	"time"

	"github.com/freshet/freshet/feed"
)

const (
	sweepStep = 200                    // items of a page
	sweepMost = 2000                   // items of a call of Sweep
	stepPause = 100 * time.Millisecond // between two pages, for other writers
)

// RetentionConfig configures how long items, and what was learned about readers, are kept.
type RetentionConfig struct {
	Keep time.Duration // items since update_time, what was learned since the reader's last act
	// Now returns the time for computing an age. Removals are final, so it should not be the clock of a
	// single machine if other machines know the time too. Nil means time.Now.
	Now func(ctx context.Context) (time.Time, error)
}

// now returns the time, or an error if it is not known.
func (c RetentionConfig) now(ctx context.Context) (time.Time, error) {
	if c.Now == nil {
		return time.Now(), nil
	}
	return c.Now(ctx)
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
	return &Retention{list: list, items: items, cfg: cfg}
}

// Sweep removes items that are too old, page by page, about 2,000 in a call; more reports that there may
// be others. It returns the number of removed items, also if an error ends it early. An item that is
// stored again in the meantime, with a recent enough time, stays. So does one that cannot be removed; the
// error reports it after the others are removed.
func (r *Retention) Sweep(ctx context.Context) (removed int, more bool, err error) {
	now, err := r.cfg.now(ctx)
	if err != nil {
		return 0, false, err
	}
	before := now.Add(-r.cfg.Keep).Unix()
	old := func(it feed.Item) bool { return it.UpdateTime < before } // its time may have changed since it was listed
	return removing{r.list, r.items, stepPause, sweepMost, old}.run(ctx, Selection{Before: before, Limit: sweepStep})
}
