package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/demo"
)

const (
	demoSeed  = 20260306
	demoItems = 5000
	demoEvery = 8 * time.Second
	demoPages = time.Second // between two pages of the simulated readers
)

// startDemo stores the made-up catalog and its readers and keeps adding items.
func (a *App) startDemo(ctx context.Context) error {
	put := func(ctx context.Context, items []feed.Item) error {
		errs, err := a.Catalog.Put(ctx, items)
		return errors.Join(append(errs, err)...)
	}
	for batch := range slices.Chunk(demo.Generate(demoSeed, demoItems, a.clock()), 1000) {
		if err := put(ctx, batch); err != nil {
			return fmt.Errorf("demo items: %w", err)
		}
	}
	profiles := demo.Profiles()
	for agent, p := range profiles {
		if err := a.Engine.PutProfile(ctx, agent, p); err != nil {
			return fmt.Errorf("demo profiles: %w", err)
		}
	}
	a.background(ctx, "demo items", func(ctx context.Context) { demo.Run(ctx, put, demoEvery, a.clock, a.log) })
	a.background(ctx, "demo readers", func(ctx context.Context) { demo.Read(ctx, a.Engine, demoPages, a.log) })
	if a.network != nil {
		n := demo.NewNetwork(demoSeed)
		store := a.network.fanout.Store()
		if err := n.Fill(ctx, store, a.pictures(), a.clock()); err != nil {
			return fmt.Errorf("demo network: %w", err)
		}
		a.background(ctx, "demo network", func(ctx context.Context) { n.Run(ctx, store, demoEvery, a.clock, a.log) })
	}
	a.log.InfoContext(ctx, "demo catalog loaded", "items", demoItems, "agents", len(profiles), "simulated_readers", len(demo.Tastes()), "new_item_every", demoEvery.String())
	return nil
}

// pictures returns the demo's maker of pictures; nil where there are none.
func (a *App) pictures() demo.Pictures {
	if images := a.images(); images != nil {
		return images
	}
	return nil
}
