package engine_test

import (
	"context"
	"fmt"
	"log"
	"time"

	cachememory "github.com/freshet/freshet/cache/memory"
	"github.com/freshet/freshet/dedup"
	dedupmemory "github.com/freshet/freshet/dedup/memory"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
	recallmemory "github.com/freshet/freshet/recall/memory"
)

// campaigns chooses the items that are promoted to each agent. It replaces the source that reads
// promotions from the server's database; any [recall.Proposer] can.
type campaigns map[string][]feed.Item // by agent

// Propose returns the items promoted to q.Agent, in display order. The engine removes those already
// shown.
func (c campaigns) Propose(_ context.Context, q feed.Query) (recall.Proposals, error) {
	var out recall.Proposals
	for _, it := range c[q.Agent] {
		if it.UpdateTime > q.Origin.Unix() || q.Profile.Refuses(&it) || len(out.Proposals) == q.N {
			continue
		}
		out.Proposals = append(out.Proposals, recall.Proposal{Candidate: feed.Candidate{
			ID: it.ID, Group: it.Group(), UpdateTime: it.UpdateTime, Traits: it.Traits(),
		}})
	}
	return out, nil
}

// A program with its own source of promotions. The pattern of home gives it the second of every
// three positions.
func ExampleHome_promoted() {
	ctx := context.Background()
	now := time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)
	clock := func() time.Time { return now }
	seen, err := dedupmemory.Open("", dedup.Config{
		WindowDays: 7, FalsePositiveRate: 0.01, DailyCapacity: 1000, Shards: 1, PendingTTL: 7 * 24 * time.Hour, Served: true,
	}, clock)
	if err != nil {
		log.Fatal(err)
	}
	recorder, err := dedup.NewRecorder(ctx, seen, clock, dedup.RecorderConfig{})
	if err != nil {
		log.Fatal(err)
	}
	var posts, ads []feed.Item
	for i, title := range []string{"Go at scale", "Cats and clocks", "A year of Rust", "Owls at night"} {
		posts = append(posts, feed.Item{ID: fmt.Sprint("post-", i+1), Title: title, UpdateTime: now.Add(-time.Duration(i) * time.Hour).Unix()})
	}
	for _, title := range []string{"Bread", "Roses"} {
		ads = append(ads, feed.Item{ID: "ad-" + title, Title: title, UpdateTime: now.Unix()})
	}
	index, items := recallmemory.New(), newShelf()
	index.Upsert(posts)
	if _, err := items.Put(ctx, append(ads, posts...)); err != nil {
		log.Fatal(err)
	}
	pattern, err := feed.ParsePattern("CPC")
	if err != nil {
		log.Fatal(err)
	}
	e, err := engine.New(engine.Stores{
		Recall: index, Seen: seen, Recorder: recorder, Sessions: cachememory.New(seen, 30*time.Minute, clock), Catalog: items,
		Home: engine.Home{Promoted: campaigns{"u_1": ads}, Pattern: pattern},
	}, engine.Config{Clock: clock, RecordServed: true, Rankings: &feed.Live{Ranking: feed.DefaultRanking()}})
	if err != nil {
		log.Fatal(err)
	}
	for _, agent := range []string{"u_1", "u_2"} {
		page, err := e.Feed(ctx, engine.Request{Agent: agent, Feed: feed.HomeFeed, Action: engine.ActionRefresh, Limit: 6})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s:", agent)
		for i, doc := range page.Docs {
			fmt.Printf(" %s (%s)", doc.ID, page.Refs[i].Source)
		}
		fmt.Println()
	}
	recorder.Close(ctx)
	if err := seen.Close(ctx); err != nil {
		log.Fatal(err)
	}
	// Output:
	// u_1: post-1 (discovery) ad-Bread (promoted) post-2 (discovery) post-3 (discovery) ad-Roses (promoted) post-4 (discovery)
	// u_2: post-1 (discovery) post-2 (discovery) post-3 (discovery) post-4 (discovery)
}
