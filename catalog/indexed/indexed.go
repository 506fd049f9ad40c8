// Package indexed keeps an in-process recall index in step with the catalog it is built from.
package indexed

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

// Catalog is a catalog with its index.
type Catalog struct {
	catalog.Catalog
	index Index
	live  popularity.Store
	mu    sync.Mutex // one order of writes for all of them
}

// Index is a recall index that ranks by live popularity.
type Index interface {
	recall.Indexer
	recall.Counter
}

// Source is a catalog an index can be built from.
type Source interface {
	catalog.Catalog
	catalog.Scanner
}

// Open fills the index from the catalog and the store of live popularity,
// and returns the catalog that keeps it up to date.
func Open(ctx context.Context, next Source, index Index, live popularity.Store) (*Catalog, error) {
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
	return &Catalog{Catalog: next, index: index, live: live}, nil
}

var _ popularity.Counter = (*Catalog)(nil)

// Count implements [popularity.Counter]: the next recall ranks by it.
func (c *Catalog) Count(ctx context.Context, acts []popularity.Act) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	changed, err := c.live.Add(ctx, acts)
	if err == nil {
		c.index.SetCounts(changed)
	}
	return err
}

// Forget implements [popularity.Counter].
func (c *Catalog) Forget(ctx context.Context, agent uint64) error { return c.live.Forget(ctx, agent) }

// Put stores the items and indexes those that are stored.
func (c *Catalog) Put(ctx context.Context, items []feed.Item) ([]error, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	errs, err := c.Catalog.Put(ctx, items)
	if err != nil {
		return errs, err
	}
	c.index.Upsert(catalog.Stored(items, errs))
	return errs, nil
}

// Update changes the items in both.
func (c *Catalog) Update(ctx context.Context, ids []string, change func(feed.Item) (feed.Item, error)) ([]catalog.Updated, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	all, err := c.Catalog.Update(ctx, ids, change)
	items, removed := catalog.Changes(ids, all)
	c.index.Upsert(items)
	for _, id := range removed {
		c.index.Delete(id)
	}
	return all, err
}

// Remove deletes the item from both.
func (c *Catalog) Remove(ctx context.Context, id string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	err := c.Catalog.Remove(ctx, id)
	if err == nil || errors.Is(err, feed.ErrNotFound) {
		c.index.Delete(id)
	}
	return err
}
