package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	recallmemory "github.com/freshet/freshet/recall/memory"
)

// benchmarked returns an engine over 2,000 items with in-process stores.
func benchmarked(b *testing.B, change func(*engine.Stores, *engine.Config)) *engine.Engine {
	b.Helper()
	clock := func() time.Time { return rankedAt }
	index := recallmemory.New()
	stores := storesOf(b, clock, index)
	all := make([]feed.Item, 2000)
	for i := range all {
		all[i] = feed.Item{
			ID: fmt.Sprintf("i%04d", i), Title: fmt.Sprintf("An item about v%d w%d x%d y%d z%d", i*7919%997, i*104729%1009, i*1299709%1013, i%401, i*31%499),
			UpdateTime: rankedAt.Add(-time.Duration(60+i) * time.Minute).Unix(),
			AuthorID:   fmt.Sprint("author ", i*31%300), URL: fmt.Sprintf("https://www.site%d.example/%d", i*17%120, i), Tags: []string{fmt.Sprint("tag ", i%25)},
		}
	}
	_, err := stores.Catalog.Put(b.Context(), all)
	require.NoError(b, err)
	index.Upsert(all)
	cfg := engine.Config{Clock: clock, N: 500, RoundsFor: time.Second, Rankings: &feed.Live{Ranking: dayLong()}, RecordServed: true}
	if change != nil {
		change(&stores, &cfg)
	}
	e, err := engine.New(stores, cfg)
	require.NoError(b, err)
	return e
}

// diverse enables every kind of diversity.
func diverse(_ *engine.Stores, cfg *engine.Config) {
	r := dayLong()
	r.Diversity = varied()
	cfg.Rankings = &feed.Live{Ranking: r}
}

func ask(b *testing.B, e *engine.Engine, agent string, action engine.Action, silent bool) {
	if _, err := e.Feed(b.Context(), engine.Request{Agent: agent, Action: action, Silent: silent, Limit: 20}); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkRefresh(b *testing.B) {
	for name, change := range map[string]func(*engine.Stores, *engine.Config){
		"closed": nil, "closed, diverse": diverse, "open": func(s *engine.Stores, _ *engine.Config) { s.Fallback = nowhere{} },
	} {
		b.Run(name, func(b *testing.B) {
			e := benchmarked(b, change)
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				ask(b, e, fmt.Sprint("u_", n), engine.ActionRefresh, false)
			}
		})
	}
}

func BenchmarkLoadMore(b *testing.B) {
	e := benchmarked(b, func(s *engine.Stores, _ *engine.Config) { s.Fallback = nowhere{} })
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		if n%20 == 0 {
			b.StopTimer()
			ask(b, e, fmt.Sprint("u_", n/20), engine.ActionRefresh, false)
			b.StartTimer()
		}
		ask(b, e, fmt.Sprint("u_", n/20), engine.ActionLoadMore, false)
	}
}

func BenchmarkPeek(b *testing.B) {
	e := benchmarked(b, nil)
	b.ReportAllocs()
	for b.Loop() {
		ask(b, e, "u_1", engine.ActionRefresh, true)
	}
}

func BenchmarkExplain(b *testing.B) {
	e := benchmarked(b, nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Explain(b.Context(), engine.ExplainRequest{Agent: "u_1", Limit: 20}); err != nil {
			b.Fatal(err)
		}
	}
}
