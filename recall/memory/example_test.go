package memory_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/freshet/freshet/feed"
	recallmemory "github.com/freshet/freshet/recall/memory"
)

// An interest against freshness: relevance × decay.
func Example() {
	now := time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)
	item := func(id, tag string, age time.Duration) feed.Item {
		return feed.Item{ID: id, Title: "-", Tags: []string{tag}, UpdateTime: now.Add(-age).Unix()}
	}
	index := recallmemory.New()
	index.Upsert([]feed.Item{
		item("cats-now", "cats", time.Minute),
		item("rust-yesterday", "rust", 25*time.Hour),
		item("rust-before", "rust", 49*time.Hour),
		item("rust-old", "rust", 73*time.Hour),
	})
	found, err := index.Recall(context.Background(), feed.Query{
		Profile: feed.Profile{Interests: map[string]float64{"rust": 2}},
		Ranking: feed.Ranking{
			Base:  0.1,
			Decay: feed.Decay{Scale: 24 * time.Hour, Offset: time.Hour, Decay: 0.5, Floor: 1e-6},
		},
		Origin: now,
		N:      10,
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, c := range found.Candidates {
		fmt.Printf("%-15s %.3f\n", c.ID, c.Score)
	}
	// Output:
	// rust-yesterday  1.050
	// rust-before     0.131
	// cats-now        0.100
	// rust-old        0.004
}
