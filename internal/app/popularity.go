package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/freshet/freshet/catalog"
	elasticcatalog "github.com/freshet/freshet/catalog/elastic"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/signals/popularity"
	popularityredis "github.com/freshet/freshet/signals/popularity/redis"
)

// openPopularity lets clicks and likes count: in the recall index of this process,
// or in Redis, from where any server writes them to Elasticsearch.
func (a *App) openPopularity(ctx context.Context) {
	var counter popularity.Counter
	switch s := a.stores; {
	case s.indexed != nil:
		counter = s.indexed
	case s.live != nil:
		counter = s.live.Store
		a.publisher = popularity.NewPublisher(s.live.Store, s.live.index, popularity.PublisherConfig{Timeout: a.cfg.Server.RequestTimeout, Logger: a.log})
		a.background(ctx, a.publisher.Run)
	default:
		return
	}
	a.popular = popularity.NewBuffer(ctx, counter, popularity.BufferConfig{Timeout: a.cfg.Server.RequestTimeout, Logger: a.log})
	a.closers = append(a.closers, func(ctx context.Context) error { a.popular.Close(ctx); return nil })
}

// live is live popularity that is counted in Redis and ranked by in Elasticsearch.
type live struct {
	*popularityredis.Store
	index popularity.Index
}

// of answers the counts of items that are put, with an error of the catalog.
func (l *live) of(ctx context.Context, ids []string) (map[string]feed.Counts, error) {
	counts, err := l.Counts(ctx, ids)
	return counts, catalogError(err)
}

func catalogError(err error) error {
	if errors.Is(err, popularity.ErrUnavailable) {
		return fmt.Errorf("%w: %w", catalog.ErrUnavailable, err)
	}
	return err
}

// liveCatalog is a catalog whose items keep their live popularity when they are put
// again, and lose it when they are removed.
type liveCatalog struct {
	*elasticcatalog.Catalog
	live *live
}

// afterPut bounds what follows a put, whose caller may have given up.
const afterPut = 5 * time.Second

// Put stores items with the counts they have. What was counted while it did is
// written after it, also where it failed: some of them may be stored.
func (c liveCatalog) Put(ctx context.Context, items []feed.Item) ([]error, error) {
	errs, err := c.Catalog.Put(ctx, items)
	ids := make([]string, len(items))
	for i := range items {
		ids[i] = items[i].ID
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), afterPut)
	defer cancel()
	counts, countsErr := c.live.Counts(ctx, ids)
	if countsErr == nil && len(counts) > 0 {
		countsErr = c.live.Changed(ctx, slices.Collect(maps.Keys(counts)))
	}
	if err != nil {
		return errs, err
	}
	return errs, catalogError(countsErr)
}

// Remove removes an item and what was counted of it.
func (c liveCatalog) Remove(ctx context.Context, id string) error {
	err := c.Catalog.Remove(ctx, id)
	if err != nil && !errors.Is(err, catalog.ErrNotFound) {
		return err
	}
	return errors.Join(err, catalogError(c.live.Drop(ctx, []string{id})))
}

// Update changes items. What was counted of those that it removes goes with them.
func (c liveCatalog) Update(ctx context.Context, ids []string, change func(feed.Item) (feed.Item, error)) ([]catalog.Updated, error) {
	all, err := c.Catalog.Update(ctx, ids, change)
	if _, removed := updated(ids, all); len(removed) > 0 {
		err = errors.Join(err, catalogError(c.live.Drop(ctx, removed)))
	}
	return all, err
}
