package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/catalog/rss"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/internal/periodic"
	"github.com/freshet/freshet/internal/version"
	"github.com/freshet/freshet/server/demo"
	"github.com/freshet/freshet/social/jobs"
)

const (
	demoSeed  = 20260306
	demoItems = 5000
	demoEvery = 8 * time.Second
	demoPages = time.Second // between two pages of the simulated readers

	feedsEvery  = 10 * time.Minute
	feedTimeout = 30 * time.Second // of one read
)

// startDemo stores the generated catalog and its readers and keeps adding items.
func (a *App) startDemo(ctx context.Context) error {
	if err := a.startDemoItems(ctx); err != nil {
		return err
	}
	profiles := demo.Profiles()
	for agent, p := range profiles {
		if err := a.Engine.PutProfile(ctx, agent, p); err != nil {
			return fmt.Errorf("demo profiles: %w", err)
		}
	}
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
	a.log.InfoContext(ctx, "demo loaded", "agents", len(profiles), "simulated_readers", len(demo.Tastes()))
	return nil
}

// startDemoItems stores the generated catalog and keeps adding items, or starts to read the feeds.
func (a *App) startDemoItems(ctx context.Context) error {
	if len(a.feeds) > 0 {
		return a.startDemoFeeds(ctx)
	}
	for batch := range slices.Chunk(demo.Generate(demoSeed, demoItems, a.clock()), 1000) {
		errs, err := a.Catalog.Put(ctx, batch)
		if err := errors.Join(append(errs, err)...); err != nil {
			return fmt.Errorf("demo items: %w", err)
		}
	}
	a.background(ctx, "demo items", func(ctx context.Context) { demo.Run(ctx, a.Catalog, demoEvery, a.clock, a.log) })
	a.log.InfoContext(ctx, "demo catalog loaded", "items", demoItems, "new_item_every", demoEvery.String())
	return nil
}

// startDemoFeeds reads the feeds now and every ten minutes.
func (a *App) startDemoFeeds(ctx context.Context) error {
	store := feedStore{catalog.NewIngest(a.Catalog, catalog.IngestConfig{GroupByURL: true}), a.Catalog}
	p, err := rss.New(a.feeds, store, &http.Client{Timeout: feedTimeout}, "freshet/"+version.String(), a.clock)
	if err != nil {
		return err
	}
	a.background(ctx, "demo feeds", func(ctx context.Context) {
		p.Run(ctx, feedsEvery, func(o rss.Outcome) {
			if o.Err != nil {
				a.log.WarnContext(ctx, "a feed could not be read", "feed", o.Source, "error", o.Err, "next_try_in", o.Next.String())
			} else if !o.Same {
				a.log.InfoContext(ctx, "a feed was read", "feed", o.Source, "stored", o.Stored, "rejected", o.Rejected, "reason", o.Reason)
			}
		})
	})
	return nil
}

// feedStore stores the entries of feeds in the catalog.
type feedStore struct {
	ingest *catalog.Ingest
	reader catalog.Reader
}

// Put implements [rss.Store].
func (s feedStore) Put(ctx context.Context, items []feed.Item, newer bool) (rss.Written, error) {
	lines, err := rss.Lines(items)
	if err != nil {
		return rss.Written{}, err
	}
	read := s.ingest.Read
	if newer {
		read = s.ingest.ReadNewer
	}
	up, err := read(ctx, bytes.NewReader(lines))
	w := rss.Written{Stored: up.Accepted - up.Kept, Rejected: up.Rejected}
	if len(up.Errors) > 0 {
		w.Reason = up.Errors[0].Reason
	}
	return w, err
}

// Dates implements [rss.Store].
func (s feedStore) Dates(ctx context.Context, ids []string) (map[string]int64, error) {
	docs, err := s.reader.Docs(ctx, ids)
	if err != nil {
		return nil, err
	}
	dates := map[string]int64{}
	for _, d := range docs {
		if d.Missing() {
			continue
		}
		it, err := d.Item()
		if err != nil {
			return nil, err
		}
		dates[d.ID] = it.UpdateTime
	}
	return dates, nil
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
