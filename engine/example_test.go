package engine_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	cachememory "github.com/freshet/freshet/cache/memory"
	catalogsqlite "github.com/freshet/freshet/catalog/sqlite"
	"github.com/freshet/freshet/dedup"
	dedupmemory "github.com/freshet/freshet/dedup/memory"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	recallmemory "github.com/freshet/freshet/recall/memory"
)

// An engine embedded in a program, with the backends that need no service: answered items are not
// repeated, and the client stores no cursor.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "freshet")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	now := time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }

	items, err := catalogsqlite.Open(ctx, filepath.Join(dir, "catalog.db"))
	if err != nil {
		log.Fatal(err)
	}
	seen, err := dedupmemory.Open(filepath.Join(dir, "impressions"), dedup.Config{
		WindowDays: 7, FalsePositiveRate: 0.01, DailyCapacity: 1_000_000, Shards: 1, PendingTTL: 7 * 24 * time.Hour, Served: true,
	}, clock)
	if err != nil {
		log.Fatal(err)
	}
	recorder, err := dedup.NewRecorder(ctx, seen, clock, dedup.RecorderConfig{})
	if err != nil {
		log.Fatal(err)
	}
	index := recallmemory.New()
	e, err := engine.New(engine.Stores{
		Recall:   index,
		Seen:     seen,
		Recorder: recorder,
		Sessions: cachememory.New(seen, 30*time.Minute, clock),
		Catalog:  items,
	}, engine.Config{
		Clock: clock, N: 500, RoundsFor: 500 * time.Millisecond, RecordServed: true,
		Rankings: &feed.Live{Ranking: feed.Ranking{Base: 0.1, Decay: feed.Decay{Scale: 24 * time.Hour, Offset: time.Hour, Decay: 0.5}}},
	})
	if err != nil {
		log.Fatal(err)
	}

	posts := []feed.Item{
		{ID: "old-rust", Title: "A year of Rust", Tags: []string{"rust"}, UpdateTime: now.Add(-24 * time.Hour).Unix()},
		{ID: "new-cats", Title: "Cats and clocks", Tags: []string{"cats"}, UpdateTime: now.Add(-time.Minute).Unix()},
		{ID: "new-go", Title: "Go at scale", Tags: []string{"go"}, UpdateTime: now.Add(-time.Hour).Unix()},
	}
	if _, err := items.Put(ctx, posts); err != nil {
		log.Fatal(err)
	}
	index.Upsert(posts)
	if err := e.PutProfile(ctx, "u_1", feed.Profile{Interests: map[string]float64{"rust": 2}}); err != nil {
		log.Fatal(err)
	}

	for _, action := range []engine.Action{engine.ActionRefresh, engine.ActionLoadMore, engine.ActionRefresh} {
		page, err := e.Feed(ctx, engine.Request{Agent: "u_1", Action: action, Limit: 2})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s:", action)
		for _, doc := range page.Docs {
			fmt.Printf(" %s", doc.ID)
		}
		fmt.Printf(", more: %t\n", page.HasMore)
	}

	recorder.Close(ctx)
	if err := seen.Close(ctx); err != nil {
		log.Fatal(err)
	}
	if err := items.Close(); err != nil {
		log.Fatal(err)
	}
	// Output:
	// refresh: old-rust new-cats, more: true
	// load_more: new-go, more: false
	// refresh:, more: false
}
