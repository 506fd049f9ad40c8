package app

import (
	"context"
	"errors"
	"sync"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
	"github.com/freshet/freshet/signals/popularity"
)

// rebuildBatch is how many items are handed to the index at once at start.
const rebuildBatch = 10_000

// indexed keeps an in-process recall index in step with the catalog it is
// built from.
type indexed struct {
	catalog.Catalog
	index index
	live  popularity.Store
	mu    sync.Mutex // one order of writes for all of them
}

// index is a recall index that ranks by live popularity.
type index interface {
	recall.Indexer
	recall.Counter
}

// scannable is a catalog an index can be built from.
type scannable interface {
	catalog.Catalog
	catalog.Scanner
}

// newIndexed fills the index from the catalog and the store of live popularity,
// and returns the catalog that keeps it up to date.
func newIndexed(ctx context.Context, next scannable, index index, live popularity.Store) (*indexed, error) {
	batch := make([]feed.Item, 0, rebuildBatch)
	err := next.Scan(ctx, func(it feed.Item) error {
		if batch = append(batch, it); len(batch) == rebuildBatch {
			index.Upsert(batch)
			batch = batch[:0]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	index.Upsert(batch)
	counts, err := live.Read(ctx)
	if err != nil {
		return nil, err
	}
	index.SetCounts(counts)
	return &indexed{Catalog: next, index: index, live: live}, nil
}

// Count implements [popularity.Counter]: the next recall ranks by it.
func (c *indexed) Count(ctx context.Context, acts []popularity.Act) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	changed, err := c.live.Add(ctx, acts)
	if err == nil {
		c.index.SetCounts(changed)
	}
	return err
}

// Forget implements [popularity.Counter].
func (c *indexed) Forget(ctx context.Context, agent uint64) error { return c.live.Forget(ctx, agent) }

// Put stores the items and indexes those that are stored.
func (c *indexed) Put(ctx context.Context, items []feed.Item) ([]error, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	errs, err := c.Catalog.Put(ctx, items)
	if err != nil {
		return errs, err
	}
	c.index.Upsert(stored(items, errs))
	return errs, nil
}

// Update changes the items in both.
func (c *indexed) Update(ctx context.Context, ids []string, change func(feed.Item) (feed.Item, error)) ([]catalog.Updated, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all, err := c.Catalog.Update(ctx, ids, change)
	items, removed := updated(ids, all)
	c.index.Upsert(items)
	for _, id := range removed {
		c.index.Delete(id)
	}
	return all, err
}

// updated are the items of an update that were changed, and the ids of those that were
// removed.
func updated(ids []string, all []catalog.Updated) (items []feed.Item, removed []string) {
	for i := range all {
		switch {
		case all[i].Removed:
			removed = append(removed, ids[i])
		case all[i].Err == nil:
			items = append(items, all[i].Item)
		}
	}
	return items, removed
}

// stored are the items of a Put that are stored.
func stored(items []feed.Item, errs []error) []feed.Item {
	if errs == nil {
		return items
	}
	out := make([]feed.Item, 0, len(items))
	for i, it := range items {
		if errs[i] == nil {
			out = append(out, it)
		}
	}
	return out
}

// Remove deletes the item from both.
func (c *indexed) Remove(ctx context.Context, id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.Catalog.Remove(ctx, id)
	if err == nil || errors.Is(err, catalog.ErrNotFound) {
		c.index.Delete(id)
	}
	return err
}
