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
	"github.com/freshet/freshet/catalog/elastic"
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
	*elastic.Catalog
	counts Counts
}

// New returns a catalog over the items, which are stored with these counts
// ([elastic.Config.Counts], see [Of]).
func New(items *elastic.Catalog, counts Counts) Catalog { return Catalog{items, counts} }

// afterPut bounds what follows a put, whose caller may have given up.
const afterPut = 5 * time.Second

// Put stores items with the counts they have. What was counted while it did is
// written after it, also where it failed: some of them may be stored.
func (c Catalog) Put(ctx context.Context, items []feed.Item) ([]error, error) {
	errs, err := c.Catalog.Put(ctx, items)
	ids := make([]string, len(items))
	for i := range items {
		ids[i] = items[i].ID
	}
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

// Remove removes an item and what was counted of it.
func (c Catalog) Remove(ctx context.Context, id string) error {
	err := c.Catalog.Remove(ctx, id)
	if err != nil && !errors.Is(err, feed.ErrNotFound) {
		return err
	}
	return errors.Join(err, catalogError(c.counts.Drop(ctx, []string{id})))
}

// Update changes items. What was counted of those that it removes goes with them.
func (c Catalog) Update(ctx context.Context, ids []string, change func(feed.Item) (feed.Item, error)) ([]catalog.Updated, error) {
	all, err := c.Catalog.Update(ctx, ids, change)
	if _, removed := catalog.Changes(ids, all); len(removed) > 0 {
		err = errors.Join(err, catalogError(c.counts.Drop(ctx, removed)))
	}
	return all, err
}
