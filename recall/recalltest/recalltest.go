// Package recalltest is the conformance suite for implementations of [recall.Source]. It also
// contains the reference implementation that sources are compared with.
package recalltest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Open returns a source that holds exactly these items.
type Open func(t *testing.T, items []feed.Item) recall.Source

// tolerance is the maximum relative error of a score: backends compute in float32.
const tolerance = 1e-5

// origin is the origin of most queries of the suite.
var origin = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) int64 { return origin.Add(-d).Unix() }

// ranking returns the product's default ranking.
func ranking() feed.Ranking {
	return feed.Ranking{
		Base: 0.1, KeywordsSummary: 0.5,
		Decay: feed.Decay{Scale: 24 * time.Hour, Offset: time.Hour, Decay: 0.5, Floor: 1e-6},
	}
}

func query(n int, p feed.Profile) feed.Query {
	return feed.Query{Profile: p, Ranking: ranking(), Origin: origin, N: n}
}

// Run tests the contract on sources made by open.
func Run(t *testing.T, open func(t *testing.T, items []feed.Item) recall.Source) {
	for name, test := range map[string]func(*testing.T, Open){
		"scores": scores, "hand": byHand, "order": order, "filters": filters, "conditions": conditions, "rounds": rounds, "groups": groups, "keywords": keywords, "learned": learned,
		"edges": edges, "curves": curves, "legal": legal, "strange profiles": strangeProfiles, "hostile texts": hostileTexts, "spellings": spellings, "raised": raised, "explain": explanations, "live popularity": livePopularity, "popular": popular, "concurrent": concurrent,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open)
		})
	}
}

func recallAll(t *testing.T, s recall.Source, q feed.Query) recall.Result {
	t.Helper()
	r, err := s.Recall(context.Background(), q)
	require.NoError(t, err)
	require.LessOrEqual(t, len(r.Candidates), q.N)
	for _, c := range r.Candidates {
		require.Equal(t, s.Name(), c.Source, "the source of %s", c.ID)
		require.NotEmpty(t, c.Group)
	}
	return r
}

func ids(candidates []feed.Candidate) []string {
	out := make([]string, len(candidates))
	for i, c := range candidates {
		out[i] = c.ID
	}
	return out
}

// assertRanking compares candidates with the reference: their number, the score at each place
// and of each item, and their order. Items whose scores differ only by rounding may have
// swapped places.
func assertRanking(t *testing.T, items []feed.Item, q feed.Query, got []feed.Candidate) {
	t.Helper()
	assertLive(t, items, nil, q, got)
}

// assertLive is assertRanking for items with live popularity.
func assertLive(t *testing.T, items []feed.Item, live map[string]Live, q feed.Query, got []feed.Candidate) {
	t.Helper()
	ranked := RankedLive(items, live, q)
	want := Best(ranked, q.N)
	byID := map[string]feed.Candidate{}
	for _, c := range ranked {
		byID[c.ID] = c
	}
	require.Len(t, got, len(want), "got %v, want %v", ids(got), ids(want))
	for i, c := range got {
		ref, ok := byID[c.ID]
		require.True(t, ok, "%s must not be recalled", c.ID)
		assert.Equal(t, ref.Group, c.Group, c.ID)
		assert.Equal(t, ref.UpdateTime, c.UpdateTime, c.ID)
		assert.Equal(t, ref.Traits, c.Traits, c.ID)
		assertScore(t, ref.Score, c.Score, "the score of "+c.ID)
		assertScore(t, want[i].Score, c.Score, fmt.Sprint("the score at place ", i))
		if i > 0 {
			assert.Negative(t, Order(got[i-1], c), "%s before %s", got[i-1].ID, c.ID)
		}
	}
}

// assertScore compares two scores. Scores near the smallest float32 have few significant
// digits.
func assertScore(t *testing.T, want, got float32, what string) {
	t.Helper()
	assert.InDelta(t, want, got, max(tolerance*float64(want), 1e-35), what)
}

// library returns a small catalog that exercises every part of the formula.
func library() []feed.Item {
	items := []feed.Item{
		{ID: "now", Title: "Go generics in practice", UpdateTime: ago(0), Tags: []string{"go"}, Likes: 3, URL: "https://www.Example.com/go"},
		{ID: "offset", Title: "Rust and Go compared", UpdateTime: ago(time.Hour), Tags: []string{"rust", "go"}, Lang: "en", URL: "http://b\u00fccher.example:8080/\"a\"?b"},
		{ID: "scale", Title: "Streams", Summary: "go go go and streams again", UpdateTime: ago(25 * time.Hour), Tags: []string{"data"}, Lang: "de"},
		{ID: "days", Title: "A long title about streams of data that go on and on", UpdateTime: ago(72 * time.Hour), Tags: []string{"data", "rust"}, AuthorID: "ann", Likes: 900, Comments: 50},
		{ID: "floor", Title: "Old go news", UpdateTime: ago(40 * 24 * time.Hour), Tags: []string{"go"}, AuthorID: "bob", Comments: 7},
		{ID: "older", Title: "Older news", Summary: "streams", UpdateTime: ago(90 * 24 * time.Hour), Tags: []string{"news"}},
		{ID: "plain", Title: "Nothing to see", UpdateTime: ago(2 * time.Hour)},
		{ID: "future", Title: "Go tomorrow", UpdateTime: origin.Add(time.Second).Unix(), Tags: []string{"go"}, Likes: 1e6},
	}
	long := feed.Item{ID: "long", Title: "Long read", UpdateTime: ago(5 * time.Hour), Tags: []string{"data", "data"}}
	for i := range 300 {
		long.Summary += fmt.Sprintf("word%d ", i%40)
	}
	return append(items, long)
}
