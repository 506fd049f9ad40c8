// Package counted keeps what readers click and like with the items of a catalog whose
// recall index ranks by it, while it is counted elsewhere.
package counted

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/signals/popularity"
)

// Counts are where clicks and likes are counted. Errors wrap [popularity.ErrUnavailable].
type Counts interface {
	// Counts returns those of items that have any.
	Counts(ctx context.Context, items []string) (map[string]feed.Counts, error)
	// Changed has the counts of items written to the index.
	Changed(ctx context.Context, items []string) error
	// Drop forgets items.
	Drop(ctx context.Context, items []string) error
}

// Of returns what answers the counts of items that are put, with the errors of a catalog.
func Of(c Counts) func(ctx context.Context, ids []string) (map[string]feed.Counts, error) {
	return func(ctx context.Context, ids []string) (map[string]feed.Counts, error) {
		counts, err := c.Counts(ctx, ids)
		return counts, catalogError(err)
	}
}

func catalogError(err error) error {
	if errors.Is(err, popularity.ErrUnavailable) {
		return fmt.Errorf("%w: %w", catalog.ErrUnavailable, err)
	}
	return err
}

// Catalog is a catalog whose items keep their live popularity when they are put
// again, and lose it when they are removed.
type Catalog struct {
	catalog.Watched
	counts Counts
}

// New returns a catalog over items that are stored with these counts (see [Of]).
func New(items catalog.Catalog, counts Counts) Catalog {
	drop := func(ctx context.Context, w catalog.Written) error {
		if len(w.Removed) == 0 {
			return nil
		}
		return catalogError(counts.Drop(ctx, w.Removed))
	}
	watch := func([]string) func(context.Context, catalog.Written) error { return drop }
	return Catalog{catalog.Watched{Catalog: items, Watch: watch}, counts}
}

// afterPut bounds what follows a put, whose caller may have given up.
const afterPut = 5 * time.Second

// Put stores items with the counts they have. What was counted while it did is
// written after it, also where it failed: some of them may be stored.
func (c Catalog) Put(ctx context.Context, items []feed.Item) ([]error, error) {
	errs, err := c.Catalog.Put(ctx, items)
	ids := catalog.IDs(items)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterPut)
	defer cancel()
	counts, countsErr := c.counts.Counts(ctx, ids)
	if countsErr == nil && len(counts) > 0 {
		countsErr = c.counts.Changed(ctx, slices.Collect(maps.Keys(counts)))
	}
	if err != nil {
		return errs, err
	}
	return errs, catalogError(countsErr)
}
