package eventstest

import (
	"slices"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/signals/events"
)

func cellsOf(t *testing.T, s events.Store, from, to feed.Day) []events.DayCells {
	t.Helper()
	got, err := s.Cells(t.Context(), nil, events.Counted, from, to)
	require.NoError(t, err)
	return got
}

func cells(t *testing.T, s events.Store) {
	assert.Empty(t, cellsOf(t, s, Today-1, Today))
	in := events.Cells{}
	in.Add(0, events.Shown, 20)
	in.Add(feed.Buckets-1, events.Shown, 7)
	in.Add(feed.Buckets-1, events.Short, 1)
	b := events.Batch{Variant: "slow@3", Day: Today, Sender: "s", Seq: 1, Cells: in}
	add(t, s, b)
	add(t, s, b) // again
	b.Sender = "other"
	add(t, s, b)
	b.Sender, b.Variant, b.Day = "s", "control@3", Today-1
	add(t, s, b)
	twice := events.Cells{}
	twice.Merge(in)
	twice.Merge(in)
	want := []events.DayCells{{Run: "control@3", Day: Today - 1, Cells: in}, {Run: "slow@3", Day: Today, Cells: twice}}
	assert.Equal(t, want, cellsOf(t, s, Today-1, Today))
	assert.Equal(t, want[1:], cellsOf(t, s, Today, Today+5))
	assert.Equal(t, int64(14), twice.At(feed.Buckets-1, events.Shown))

	one := events.Cells{}
	one.Add(feed.Buckets-1, events.Short, 1)
	for _, asked := range [][]string{{"control@3"}, {"other", "control@3"}} {
		got, err := s.Cells(t.Context(), asked, []events.Column{events.Short, events.Rejected}, Today-1, Today)
		require.NoError(t, err)
		assert.Equal(t, []events.DayCells{{Run: "control@3", Day: Today - 1, Cells: one}}, got)
	}
	got, err := s.Cells(t.Context(), []string{}, events.Counted, Today-1, Today)
	require.NoError(t, err)
	assert.Empty(t, got, "no runs")
}

// cellsOfEvents: an event counts once, in its cell as in its fields.
func cellsOfEvents(t *testing.T, s events.Store) {
	list := append(events.Acted(events.Click, "u_1", "a", feed.SourceTrending, 4), events.Acted(events.Hide, "u_1", "a", feed.SourceScore, 0)...)
	list = append(list, events.Seen("u_1", "a", feed.SourceTrending, 60), events.Seen("u_1", "b", feed.SourceScore, 1))
	for seq := range uint64(2) {
		add(t, s, events.Batch{Variant: "v", Day: Today, Sender: "s", Seq: seq + 1, Events: list})
	}
	want := events.Cells{events.CellOf("u_1", events.Clicked): 1, events.CellOf("u_1", events.Rejected): 1, events.CellOf("u_1", events.Shown): 2}
	assert.Equal(t, []events.DayCells{{Run: "v", Day: Today, Cells: want}}, cellsOf(t, s, Today, Today))
	assert.Equal(t, map[string]int64{
		"click": 1, "hide": 1, "impressions": 2, "source:trending": 1, "source_click:trending": 1,
		"position:7": 1, "position:0": 1, "position_click:3": 1,
	}, one(t, s, Today, Today).Counts)

	for seq := range uint64(2) { // loaded and then seen
		add(t, s, events.Batch{Variant: "w", Day: Today, Sender: "s", Seq: 2*seq + 1, Events: []events.Event{
			events.PromotedLoaded("p", "u_1", "a"), events.PromotedSeen("p", "u_1", "b"),
		}})
		add(t, s, events.Batch{Variant: "w", Day: Today, Sender: "s", Seq: 2*seq + 2, Events: []events.Event{
			events.PromotedSeen("p", "u_1", "a"), events.PromotedAct(events.Click, "p", "u_1", "a"),
		}})
	}
	for _, total := range read(t, s, Today, Today) {
		if total.Variant == "w" {
			assert.Equal(t, map[string]int64{"promoted:p": 1, "promoted_click:p": 1}, total.Counts)
		}
	}
}

func readers(t *testing.T, s events.Store) {
	number := func(runs ...string) ([]int64, float64) {
		n, part, err := s.Readers(t.Context(), runs)
		require.NoError(t, err)
		return n, part
	}
	n, part := number("a@1", "b@1")
	assert.Equal(t, []int64{0, 0}, n)
	assert.Equal(t, 1.0, part)
	seq := uint64(0)
	give := func(run string, agents []uint64, sampled bool) {
		for part := range slices.Chunk(agents, 5000) {
			seq++
			add(t, s, events.Batch{Variant: run, Day: Today, Sender: "s", Seq: seq, Agents: part, Sampled: sampled})
		}
	}
	give("a@1", members(0, 3), true)
	give("a@1", members(2, 5), true)
	give("a@1", members(5, 9), false)
	give("b@1", members(0, 1), true)
	n, part = number("a@1", "b@1")
	assert.Equal(t, []int64{5, 1}, n)
	assert.Equal(t, 1.0, part)

	// More than a sample: all runs are counted in the same part of the agents.
	const all = 2 * events.SampleSize
	give("c@1", members(0, all), true)
	give("c@1", members(0, 1000), true) // again
	give("d@1", members(all, all+10_000), true)
	n, part = number("c@1", "d@1")
	assert.Equal(t, int64(events.SampleSize), n[0])
	assert.InDelta(t, 0.5, part, 0.02)
	below := 0
	for _, m := range members(all, all+10_000) {
		if float64(m>>11) <= part*(1<<53) {
			below++
		}
	}
	assert.Equal(t, int64(below), n[1])
}

func pages(t *testing.T, s events.Store) {
	now := time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)
	page := func(i int) events.Page {
		return events.Page{Run: "slow@3", Feed: feed.HomeFeed, At: now.Add(time.Duration(i) * time.Second), Offset: 20 * i, Items: []events.PageItem{
			{Group: events.GroupHash("a"), Source: feed.SourceTrending}, {Group: uint32(i)},
		}}
	}
	ana, bob := xxhash.Sum64String("ana"), xxhash.Sum64String("bob")
	of := func() [][]events.Page {
		got, err := s.PagesOf(t.Context(), []uint64{bob, ana, bob})
		require.NoError(t, err)
		return got
	}
	assert.Equal(t, [][]events.Page{nil, nil, nil}, of())
	require.NoError(t, s.Remember(t.Context(), nil))
	require.NoError(t, s.Remember(t.Context(), []events.PageOf{{Agent: bob, Page: page(0)}, {Agent: ana, Page: page(1)}}))
	require.NoError(t, s.Remember(t.Context(), []events.PageOf{{Agent: bob, Page: page(2)}}))
	bobs := []events.Page{page(0), page(2)}
	assert.Equal(t, [][]events.Page{bobs, {page(1)}, bobs}, of())

	for i := range events.PagesMost {
		require.NoError(t, s.Remember(t.Context(), []events.PageOf{{Agent: bob, Page: page(i + 3)}}))
	}
	bobs = of()[0]
	require.Len(t, bobs, events.PagesMost)
	assert.Equal(t, page(3), bobs[0])

	require.NoError(t, s.Forget(t.Context(), bob))
	require.NoError(t, s.Forget(t.Context(), bob), "again")
	assert.Equal(t, [][]events.Page{nil, {page(1)}, nil}, of())
	empty, err := s.PagesOf(t.Context(), nil)
	require.NoError(t, err)
	assert.Empty(t, empty)
}
