// Package popularitysync stores live popularity with the items of a catalog that has a recall index
// ranking by it, while clicks and likes are counted elsewhere.
package popularitysync

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

// Counts is the store that counts clicks and likes. Errors wrap [popularity.ErrUnavailable].
type Counts interface {
	// Counts returns the counts of those items that have any.
	Counts(ctx context.Context, items []string) (map[string]feed.Counts, error)
	// Changed schedules the counts of items to be written to the index.
	Changed(ctx context.Context, items []string) error
	// Drop deletes the counts of items.
	Drop(ctx context.Context, items []string) error
}

// Of returns a function that returns the counts of items being put, with the errors of a
// catalog.
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

// Catalog is a catalog whose items keep their live popularity when they are put again and lose
// it when they are removed.
type Catalog struct {
	catalog.WriteHook
	counts Counts
}

// New returns a catalog over items, which must store items with these counts (see [Of]).
func New(items catalog.Catalog, counts Counts) Catalog {
	drop := func(ctx context.Context, w catalog.Written) error {
		if len(w.Removed) == 0 {
			return nil
		}
		return catalogError(counts.Drop(ctx, w.Removed))
	}
	watch := func([]string) func(context.Context, catalog.Written) error { return drop }
	return Catalog{catalog.WriteHook{Catalog: items, OnWrite: watch}, counts}
}

// afterPut is the timeout of the work after a put, which continues if the caller gives up.
const afterPut = 5 * time.Second

// Put stores items with their current counts. Acts counted during the put are written after it,
// even if it failed, because some of the items may be stored.
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
