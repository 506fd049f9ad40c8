package engine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/recall"
	recallmemory "github.com/freshet/freshet/recall/memory"
)

// slowly is a source with rounds that take time on a clock that tests set.
type slowly struct {
	*recallmemory.Source
	takes time.Duration
	now   *time.Time
	sizes []int // of the requested rounds
}

func (s *slowly) Recall(ctx context.Context, q feed.Query) (recall.Result, error) {
	s.sizes = append(s.sizes, q.N)
	*s.now = s.now.Add(s.takes)
	return s.Source.Recall(ctx, q)
}

// longRead returns an engine with rounds of 10 over n items, newest first, the first of which u_1
// has seen.
func longRead(t *testing.T, n, seen int, takes, roundsFor time.Duration) (*engine.Engine, *slowly) {
	t.Helper()
	now := rankedAt
	clock := func() time.Time { return now }
	index := recallmemory.New()
	source := &slowly{Source: index, takes: takes, now: &now}
	stores := storesOf(t, clock, source)
	items := make([]feed.Item, n)
	impressions := make([]dedup.Impression, seen)
	for i := range items {
		items[i] = aged(fmt.Sprintf("i%04d", i), "", time.Hour+time.Duration(i)*time.Minute)
		if i < seen {
			impressions[i] = dedup.Impression{Agent: "u_1", Group: items[i].ID}
		}
	}
	_, err := stores.Catalog.Put(t.Context(), items)
	require.NoError(t, err)
	_, err = stores.Seen.(dedup.Writer).Record(t.Context(), impressions, now)
	require.NoError(t, err)
	index.Upsert(items)
	e, err := engine.New(stores, engine.Config{Clock: clock, N: 10, RoundsFor: roundsFor, Rankings: &feed.Live{Ranking: dayLong()}})
	require.NoError(t, err)
	return e, source
}

func TestRoundsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		seen             int
		takes, roundsFor time.Duration
		sizes            []int
		first            string // first item of the page; "" means the page is empty
	}{
		"with a full page":                   {seen: 0, roundsFor: time.Second, sizes: []int{10}, first: "i0000"},
		"with a page that a later one fills": {seen: 69, roundsFor: time.Second, sizes: []int{10, 40, 160}, first: "i0069"},
		"with all there is":                  {seen: 300, roundsFor: time.Second, sizes: []int{10, 40, 160, 640}},
		"when the time is up":                {seen: 300, takes: time.Second, roundsFor: 2500 * time.Millisecond, sizes: []int{10, 40, 160}},
		"after one that takes all the time":  {seen: 300, takes: time.Hour, roundsFor: time.Second, sizes: []int{10}},
		"after one where none may follow":    {seen: 5, sizes: []int{10}, first: "i0005"},
		"when the clock is set back":         {seen: 300, takes: -time.Hour, roundsFor: time.Second, sizes: []int{10, 40, 160, 640}},
	} {
		t.Run(name, func(t *testing.T) {
			e, source := longRead(t, 300, c.seen, c.takes, c.roundsFor)
			x, err := e.Explain(t.Context(), engine.ExplainRequest{Agent: "u_1", Limit: 5, At: rankedAt})
			require.NoError(t, err)
			require.Len(t, c.sizes, x.Counts.Rounds)
			assert.Equal(t, c.sizes, source.sizes, "an explanation")
			source.sizes, *source.now = nil, rankedAt
			a, err := e.Feed(t.Context(), engine.Request{Agent: "u_1", Action: engine.ActionRefresh, Limit: 5})
			require.NoError(t, err)
			assert.Equal(t, c.sizes, source.sizes)
			if c.first == "" {
				assert.Empty(t, a.Docs)
				assert.Equal(t, c.takes > 0, x.OutOfTime)
			} else {
				assert.Equal(t, c.first, a.Docs[0].ID)
				assert.False(t, x.OutOfTime)
			}
		})
	}
}

// The result of a large round is checked in portions, and a session gets no more than one portion.
func TestLargeRoundCheckedInPortions(t *testing.T) {
	e, source := longRead(t, 6000, 900, 0, time.Second)
	x, err := e.Explain(t.Context(), engine.ExplainRequest{Agent: "u_1", Limit: 5})
	require.NoError(t, err)
	assert.Equal(t, []int{10, 40, 160, 640, 2560}, source.sizes)
	assert.Equal(t, api.ExplainCounts{Rounds: 5, Recalled: 850 + 2000, Seen: 900, Paged: 5, Kept: 1945}, x.Counts)
}

// A silent refresh makes one round: its query is limited to new items.
func TestPeekOneRound(t *testing.T) {
	e, source := longRead(t, 300, 50, 0, time.Second)
	_, err := e.Feed(t.Context(), engine.Request{Agent: "u_1", Action: engine.ActionRefresh, Silent: true, Limit: 5})
	require.NoError(t, err)
	assert.Equal(t, []int{10}, source.sizes)
}

// For a reader with thousands of seen items, an explanation lists only a part of them.
func TestExplainBounded(t *testing.T) {
	e, _ := longRead(t, 6000, 2900, 0, time.Second)
	ask := engine.ExplainRequest{Agent: "u_1", Limit: 5, Item: "i2800"}
	x, err := e.Explain(t.Context(), ask)
	require.NoError(t, err)
	require.Equal(t, 2900, x.Counts.Seen)
	require.Equal(t, 5, x.Counts.Paged)
	require.Equal(t, x.Counts.Recalled, x.Counts.Seen+x.Counts.Paged+x.Counts.Kept)
	assert.Equal(t, 899, x.Unlisted, "all seen ones behind the first 2,000 but the item asked for")
	assert.Len(t, x.Candidates, x.Counts.Recalled-x.Unlisted)
	assert.Equal(t, "It ranks 2801 of 3410, but it is in the filter of 20260306", x.Item.Reason[:len("It ranks 2801 of 3410, but it is in the filter of 20260306")])
	page := x.Page()
	assert.Equal(t, "i2900", page[0].ID)
	assert.Equal(t, 2901, page[0].Rank)

	for id, want := range map[string]string{
		"i2901": "It ranks 2902 of 3410 and is at position 2 of the page.",
		"i2906": "It ranks 2907 of 3410. The page of 5 is full before it; it is at position 2 of the session after the page.",
		"i4000": "of the last of the 3410 candidates, which were recalled in 5 rounds; recall continues only while the page is not full.",
	} {
		ask.Item = id
		x, err = e.Explain(t.Context(), ask)
		require.NoError(t, err)
		assert.Contains(t, x.Item.Reason, want)
	}
}
