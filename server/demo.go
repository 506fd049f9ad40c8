package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/internal/periodic"
	"github.com/freshet/freshet/server/demo"
	"github.com/freshet/freshet/social/jobs"
)

const (
	demoSeed  = 20260306
	demoItems = 5000
	demoEvery = 8 * time.Second
	demoPages = time.Second // between two pages of the simulated readers
)

// startDemo stores the generated catalog and its readers and keeps adding items.
func (a *App) startDemo(ctx context.Context) error {
	for batch := range slices.Chunk(demo.Generate(demoSeed, demoItems, a.clock()), 1000) {
		errs, err := a.Catalog.Put(ctx, batch)
		if err := errors.Join(append(errs, err)...); err != nil {
			return fmt.Errorf("demo items: %w", err)
		}
	}
	profiles := demo.Profiles()
	for agent, p := range profiles {
		if err := a.Engine.PutProfile(ctx, agent, p); err != nil {
			return fmt.Errorf("demo profiles: %w", err)
		}
	}
	a.background(ctx, "demo items", func(ctx context.Context) { demo.Run(ctx, a.Catalog, demoEvery, a.clock, a.log) })
	a.background(ctx, "demo readers", func(ctx context.Context) { demo.Read(ctx, a.Engine, demoPages, a.log) })
	if a.network != nil {
		n := demo.NewNetwork(demoSeed)
		store := a.network.fanout.Store()
		if err := n.Fill(ctx, store, a.images(), a.clock()); err != nil {
			return fmt.Errorf("demo network: %w", err)
		}
		a.awaitItems(ctx)
		a.background(ctx, "demo network", func(ctx context.Context) { n.Run(ctx, store, demoEvery, a.clock, a.log) })
	}
	a.log.InfoContext(ctx, "demo catalog loaded", "items", demoItems, "agents", len(profiles), "simulated_readers", len(demo.Tastes()), "new_item_every", demoEvery.String())
	return nil
}

// awaitItems waits, for a minute at most, until the demo's posts are indexed as items with their
// likes, which otherwise takes half a minute, so that the first set of trending items includes them:
// the next one is computed minutes later.
func (a *App) awaitItems(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	store := a.network.store
	counts, err := store.List(ctx, jobs.Filter{Kind: jobs.Count, State: jobs.Pending, Limit: 10_000})
	if err == nil {
		now := convert.Each(counts, func(j jobs.Job) jobs.Spec { return jobs.Spec{Kind: j.Kind, Key: j.Key, Priority: j.Priority} })
		err = store.Enqueue(ctx, now...)
	}
	for err == nil {
		var indexed, counted []jobs.Job
		indexed, err = store.List(ctx, jobs.Filter{Kind: jobs.Index, Limit: 1})
		if err == nil {
			counted, err = store.List(ctx, jobs.Filter{Kind: jobs.Count, Limit: 1})
		}
		if len(indexed)+len(counted) == 0 || periodic.Pause(ctx, 20*time.Millisecond) != nil {
			return
		}
	}
}
