// Package indexsync synchronizes an in-process recall index with the catalog it is built from.
package indexsync

import (
	"context"
	"sync"
	"time"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
	"github.com/freshet/freshet/signals/popularity"
)

// rebuildBatch is the number of items per upsert into the index at startup.
const rebuildBatch = 10_000

// Catalog is a catalog that updates its index.
type Catalog struct {
	catalog.WriteHook
	index Index
	live  popularity.Store
	mu    sync.Mutex // serializes writes, so that catalog and index apply them in one order
}

// Index is a recall index that ranks by live popularity.
type Index interface {
	recall.Indexer
	recall.Counter
}

// Source is a catalog that an index can be built from.
type Source interface {
	catalog.Catalog
	catalog.Scanner
}

// Open fills the index from the catalog and the store of live popularity, and returns the
// catalog that keeps it up to date.
func Open(ctx context.Context, next Source, index Index, live popularity.Store) (*Catalog, error) {
	batch := make([]feed.Item, 0, rebuildBatch)
	for it, err := range next.Scan(ctx) {
		if err != nil {
			return nil, err
		}
		batch = append(batch, it)
		if len(batch) == rebuildBatch {
			index.Upsert(batch)
			batch = batch[:0]
		}
	}
	index.Upsert(batch)
	counts, err := live.Read(ctx)
	if err != nil {
		return nil, err
	}
	index.SetCounts(counts)
	c := &Catalog{index: index, live: live}
	c.WriteHook = catalog.WriteHook{Catalog: next, OnWrite: c.watch}
	return c, nil
}

// watch blocks other writers until a write is indexed.
func (c *Catalog) watch([]string) func(context.Context, catalog.Written) error {
	c.mu.Lock()
	return func(_ context.Context, w catalog.Written) error {
		defer c.mu.Unlock()
		c.index.Upsert(w.Stored)
		for _, id := range w.Removed {
			c.index.Delete(id)
		}
		return nil
	}
}

var _ popularity.Counter = (*Catalog)(nil)

// Count implements [popularity.Counter]. The next recall ranks by the new counts.
func (c *Catalog) Count(ctx context.Context, acts []popularity.Act) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	changed, err := c.live.Add(ctx, acts)
	if err == nil {
		c.index.SetCounts(changed)
	}
	return err
}

// purger is a store of live popularity from which expired acts are removed by a call.
type purger interface {
	Purge(ctx context.Context, now time.Time) (changed map[string]feed.Counts, removed int, err error)
}

// Purge removes the acts and counts that have expired by a moment, and returns how many acts.
func (c *Catalog) Purge(ctx context.Context, now time.Time) (removed int, err error) {
	store, ok := c.live.(purger)
	if !ok {
		return 0, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	changed, removed, err := store.Purge(ctx, now)
	if err == nil {
		c.index.SetCounts(changed)
	}
	return removed, err
}

// Forget implements [popularity.Counter].
func (c *Catalog) Forget(ctx context.Context, agent uint64) error { return c.live.Forget(ctx, agent) }

// ActsOf implements [popularity.ActList], if the store of live popularity does.
func (c *Catalog) ActsOf(ctx context.Context, agent uint64) (map[string]feed.Day, error) {
	list, ok := c.live.(popularity.ActList)
	if !ok {
		return nil, nil
	}
	return list.ActsOf(ctx, agent)
}
