// Package eventstest is the conformance suite of [events.Store].
package eventstest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/signals/events"
)

// Today is the day of most batches in the suite.
var Today = feed.DayOf(time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC))

// Open returns a separate empty store for a test.
type Open func(t *testing.T) events.Store

// Run runs the suite.
func Run(t *testing.T, open Open) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, s events.Store)
	}{
		{"nothing counted", nothing},
		{"every figure", everyFigure},
		{"days add up", days},
		{"variants are apart", variants},
		{"a batch counts once", batchOnce},
		{"senders add up", senders},
		{"an act counts once a day", actOnce},
		{"clicks on what was explored", explored},
		{"promoted", promoted},
		{"sources of home", sources},
		{"distinct over days and servers", distinct},
		{"large batches", large},
		{"concurrent servers", concurrent},
		{"cells of buckets", cells},
		{"cells of events", cellsOfEvents},
		{"readers", readers},
		{"pages", pages},
		{"cancelled context", cancelled},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, open(t)) })
	}
}

func add(t *testing.T, s events.Store, b events.Batch) {
	t.Helper()
	require.NoError(t, s.Add(t.Context(), &b))
}

func read(t *testing.T, s events.Store, from, to feed.Day) []events.Totals {
	t.Helper()
	got, err := s.Read(t.Context(), from, to)
	require.NoError(t, err)
	return got
}

// one reads the totals of the only variant.
func one(t *testing.T, s events.Store, from, to feed.Day) events.Totals {
	t.Helper()
	got := read(t, s, from, to)
	require.Len(t, got, 1)
	return got[0]
}

// act returns an act without the event for a click on an explored group.
func act(kind events.Kind, agent, group string) events.Event {
	return events.Acted(kind, agent, group, feed.SourceScore, 0)[0]
}

// members returns hashes of the numbers from … to−1.
func members(from, to int) []uint64 {
	list := make([]uint64, 0, to-from)
	for i := from; i < to; i++ {
		list = append(list, xxhash.Sum64String(fmt.Sprint("member ", i)))
	}
	return list
}

func nothing(t *testing.T, s events.Store) {
	assert.Empty(t, read(t, s, Today-10, Today))
	assert.Empty(t, read(t, s, Today, Today-1), "no days")
	add(t, s, events.Batch{Variant: "control", Day: Today, Sender: "s", Seq: 1, Impressions: 1})
	assert.Empty(t, read(t, s, Today-10, Today-1))
	assert.Empty(t, read(t, s, Today+1, Today+9))
}

func everyFigure(t *testing.T, s events.Store) {
	b := events.Batch{
		Variant: "control", Day: Today, Sender: "s", Seq: 7, Impressions: 5,
		Agents: members(0, 3), Authors: members(10, 12),
		Events: []events.Event{
			act(events.Click, "u_1", "a"), act(events.Click, "u_1", "b"), act(events.Click, "u_2", "a"),
			act(events.Like, "u_1", "a"), act(events.Like, "u_2", "a"), act(events.Dislike, "u_1", "a"), act(events.Hide, "u_3", "c"),
		},
	}
	want := events.Totals{
		Variant: "control", Agents: 3, Authors: 2,
		Counts: map[string]int64{"impressions": 5, "click": 3, "like": 2, "dislike": 1, "hide": 1},
	}
	for _, age := range []int64{0, 60, 3600, 3600, 1 << 40} {
		b.Ages.Count(age)
		want.Ages.Count(age)
	}
	add(t, s, b)
	assert.Equal(t, want, one(t, s, Today, Today))
	assert.Equal(t, want, one(t, s, Today-89, Today+3))
}

func days(t *testing.T, s events.Store) {
	for back := range feed.Day(4) {
		b := events.Batch{
			Variant: "control", Day: Today - back, Sender: "s", Seq: 1, Impressions: 10 + int64(back),
			Events: []events.Event{act(events.Click, "u_1", "a")},
		}
		b.Ages.Count(int64(back) * 1000)
		add(t, s, b)
	}
	got := one(t, s, Today-2, Today-1)
	assert.EqualValues(t, 11+12, got.Counts["impressions"])
	assert.EqualValues(t, 2, got.Counts["click"], "once each day")
	assert.EqualValues(t, 2, got.Ages.N())
	got = one(t, s, Today-9, Today)
	assert.EqualValues(t, 10+11+12+13, got.Counts["impressions"])
	assert.EqualValues(t, 4, got.Ages.N())
}

func variants(t *testing.T, s events.Store) {
	for i, v := range []string{"slow-decay", "control", "b_2"} {
		add(t, s, events.Batch{
			Variant: v, Day: Today - feed.Day(i), Sender: "s", Seq: 1, Impressions: int64(i + 1),
			Events: []events.Event{act(events.Click, "u_1", "a")}, Agents: members(0, i+1),
		})
	}
	got := read(t, s, Today-2, Today)
	require.Len(t, got, 3)
	for i, want := range []struct {
		variant string
		n       int64
	}{{"b_2", 3}, {"control", 2}, {"slow-decay", 1}} {
		assert.Equal(t, want.variant, got[i].Variant)
		assert.Equal(t, want.n, got[i].Counts["impressions"])
		assert.Equal(t, want.n, got[i].Agents)
		assert.EqualValues(t, 1, got[i].Counts["click"])
	}
	assert.Equal(t, "control", one(t, s, Today-1, Today-1).Variant, "one that was not shown is not listed")
}

func batchOnce(t *testing.T, s events.Store) {
	b := events.Batch{Variant: "control", Day: Today, Sender: "s", Seq: 5, Impressions: 3, Events: []events.Event{act(events.Like, "u_1", "a")}}
	for range 3 {
		add(t, s, b)
	}
	assert.EqualValues(t, 3, one(t, s, Today, Today).Counts["impressions"])
	b.Seq = 4
	add(t, s, b)
	assert.EqualValues(t, 3, one(t, s, Today, Today).Counts["impressions"], "an older one")
	b.Seq = 6
	add(t, s, b)
	assert.EqualValues(t, 6, one(t, s, Today, Today).Counts["impressions"])
	b.Day--
	add(t, s, b)
	assert.EqualValues(t, 3, one(t, s, Today-1, Today-1).Counts["impressions"], "another day")
	b.Day, b.Variant = Today, "other"
	add(t, s, b)
	assert.EqualValues(t, 3, read(t, s, Today, Today)[1].Counts["impressions"], "another variant")
}

func senders(t *testing.T, s events.Store) {
	for i := range 5 {
		for seq := range uint64(4) {
			add(t, s, events.Batch{Variant: "control", Day: Today, Sender: fmt.Sprint("server", i), Seq: seq + 1, Impressions: 2})
		}
	}
	assert.EqualValues(t, 5*4*2, one(t, s, Today, Today).Counts["impressions"])
}

func actOnce(t *testing.T, s events.Store) {
	for i, sender := range []string{"s", "s", "t"} {
		add(t, s, events.Batch{Variant: "control", Day: Today, Sender: sender, Seq: uint64(i + 1), Events: []events.Event{
			act(events.Click, "u_1", "a"), act(events.Like, "u_1", "a"), act(events.Click, "u_1", fmt.Sprint("other", i)),
		}})
	}
	got := one(t, s, Today, Today)
	assert.EqualValues(t, 4, got.Counts["click"])
	assert.EqualValues(t, 1, got.Counts["like"])
	add(t, s, events.Batch{Variant: "control", Day: Today + 1, Sender: "s", Seq: 9, Events: []events.Event{act(events.Click, "u_1", "a")}})
	assert.EqualValues(t, 5, one(t, s, Today, Today+1).Counts["click"], "once a day")
}

func explored(t *testing.T, s events.Store) {
	click := func(agent, group string) []events.Event {
		return events.Acted(events.Click, agent, group, feed.SourceExplore, 0)
	}
	shown := []events.Event{events.Explored("u_1", "a"), events.Explored("u_1", "b"), events.Explored("u_2", "a")}
	add(t, s, events.Batch{
		Variant: "control", Day: Today, Sender: "s", Seq: 1, Impressions: 20,
		Events: slices.Concat(shown, click("u_1", "a"), click("u_1", "other"), click("u_3", "a")),
	})
	for i := range 2 { // a second server, which sends the same twice
		add(t, s, events.Batch{
			Variant: "control", Day: Today, Sender: "t", Seq: uint64(i + 1), Impressions: 10,
			Events: slices.Concat(shown[:1], click("u_1", "a"), click("u_2", "a"), []events.Event{act(events.Like, "u_1", "b"), act(events.Click, "u_1", "b")}),
		})
	}
	got := one(t, s, Today, Today)
	assert.EqualValues(t, 40, got.Counts["impressions"])
	assert.EqualValues(t, 3, got.Counts["explored"], "each once a day")
	assert.EqualValues(t, 5, got.Counts["click"])
	assert.EqualValues(t, 2, got.Counts["explored_clicks"])
	assert.EqualValues(t, 1, got.Counts["like"])

	for i, day := range []feed.Day{Today + events.OnceDays - 1, Today + events.OnceDays} {
		add(t, s, events.Batch{Variant: "control", Day: day, Sender: "s", Seq: 1, Events: click("u_1", "b")})
		assert.EqualValues(t, 1-i, one(t, s, day, day).Counts["explored_clicks"], "remembered for %d days", events.OnceDays)
	}
	add(t, s, events.Batch{Variant: "other", Day: Today, Sender: "s", Seq: 1, Impressions: 1, Events: click("u_1", "a")})
	all := read(t, s, Today, Today)
	require.Len(t, all, 2)
	assert.Zero(t, all[1].Counts["explored_clicks"], "another variant has not shown it")
}

func promoted(t *testing.T, s events.Store) {
	one, two := events.Promoted("p:x", "u_1", "a"), events.Promoted("q", "u_2", "a")
	clicked := events.PromotedAct(events.Click, "p:x", "u_1", "a")
	add(t, s, events.Batch{
		Variant: "control", Day: Today, Sender: "s", Seq: 1, Impressions: 20,
		Events: []events.Event{
			one, events.Promoted("p:x", "u_1", "b"), two,
			clicked, events.PromotedAct(events.Like, "p:x", "u_1", "a"), events.PromotedAct(events.Click, "q", "u_1", "a"),
		},
	})
	for i := range 2 { // a second server, which sends the same twice
		add(t, s, events.Batch{
			Variant: "control", Day: Today, Sender: "t", Seq: uint64(i + 1),
			Events: []events.Event{one, two, clicked, events.PromotedAct(events.Click, "q", "u_2", "a"), events.PromotedAct(events.Click, "q", "u_3", "a")},
		})
	}
	want := map[string]int64{
		"impressions": 20, "promoted:p:x": 2, "promoted_click:p:x": 1, "promoted_like:p:x": 1, "promoted:q": 1, "promoted_click:q": 1,
	}
	got := read(t, s, Today, Today)
	require.Len(t, got, 1)
	assert.Equal(t, want, got[0].Counts, "acts are counted by themselves")

	late := events.PromotedAct(events.Click, "p:x", "u_1", "b")
	for i, day := range []feed.Day{Today + events.OnceDays - 1, Today + events.OnceDays} {
		add(t, s, events.Batch{Variant: "control", Day: day, Sender: "s", Seq: 1, Impressions: 1, Events: []events.Event{late}})
		got := read(t, s, day, day)[0]
		assert.EqualValues(t, 1-i, got.Counts["promoted_click:p:x"], "remembered for %d days", events.OnceDays)
	}
	add(t, s, events.Batch{Variant: "other", Day: Today, Sender: "s", Seq: 1, Impressions: 1, Events: []events.Event{clicked}})
	assert.Equal(t, map[string]int64{"impressions": 1}, read(t, s, Today, Today)[1].Counts, "another variant has not shown it")
}

func sources(t *testing.T, s events.Store) {
	from := func(source feed.Source, kind events.Kind, agent, group string) events.Event {
		return events.Acted(kind, agent, group, source, 0)[0]
	}
	first := from(feed.SourceFollowing, events.Click, "u_1", "a")
	add(t, s, events.Batch{
		Variant: "control", Day: Today, Sender: "s", Seq: 1, Impressions: 20,
		Sources: map[feed.Source]int64{feed.SourceFollowing: 14, feed.SourceTrending: 3, feed.SourceDiscovery: 2, feed.SourcePromoted: 1},
		Events: []events.Event{
			first, from(feed.SourceFollowing, events.Click, "u_2", "a"), from(feed.SourcePromoted, events.Click, "u_1", "b"),
			act(events.Click, "u_1", "other"), from(feed.SourceTrending, events.Like, "u_1", "c"),
		},
	})
	for i := range 2 { // a second server, which sends the same twice
		add(t, s, events.Batch{
			Variant: "control", Day: Today, Sender: "t", Seq: uint64(i + 1), Impressions: 5,
			Sources: map[feed.Source]int64{feed.SourceFollowing: 5}, Events: []events.Event{first, from(feed.SourceDiscovery, events.Click, "u_1", "d")},
		})
	}
	got := one(t, s, Today, Today)
	assert.Equal(t, map[string]int64{
		"impressions": 30, "click": 5, "like": 1, "source:following": 24, "source_click:following": 2, "source:trending": 3,
		"source:discovery": 2, "source_click:discovery": 1, "source:promoted": 1, "source_click:promoted": 1,
	}, got.Counts, "clicks count once a day, likes not at all")
}

func distinct(t *testing.T, s events.Store) {
	for i := range 6 { // two servers, three days, half of the members again each time
		add(t, s, events.Batch{
			Variant: "control", Day: Today - feed.Day(i%3), Sender: fmt.Sprint("s", i%2), Seq: uint64(i + 1), Impressions: 1,
			Agents: members(i*1000, i*1000+2000), Authors: members(0, 50),
		})
	}
	got := one(t, s, Today-2, Today)
	assert.InEpsilon(t, 7000, got.Agents, 0.03)
	assert.InDelta(t, 50, got.Authors, 1)
	got = one(t, s, Today, Today) // members 0 to 2,000 and 3,000 to 5,000
	assert.InEpsilon(t, 4000, got.Agents, 0.03)
}

func large(t *testing.T, s events.Store) {
	b := events.Batch{Variant: "control", Day: Today, Sender: "s", Seq: 1, Impressions: 12_000, Agents: members(0, 5000), Authors: members(0, 5000)}
	for i := range 5000 {
		b.Events = append(b.Events, act(events.Kinds[i%4], "u_1", fmt.Sprint("item", i)))
	}
	for i := range b.Ages {
		b.Ages[i] = 100
	}
	add(t, s, b)
	got := one(t, s, Today, Today)
	assert.Equal(t, b.Ages, got.Ages)
	assert.Equal(t, []int64{1250, 1250, 1250, 1250}, []int64{got.Counts["click"], got.Counts["like"], got.Counts["dislike"], got.Counts["hide"]})
	assert.InEpsilon(t, 5000, got.Agents, 0.03)
}

func concurrent(t *testing.T, s events.Store) {
	const servers, each = 6, 15
	var all sync.WaitGroup
	for i := range servers {
		all.Go(func() {
			for seq := range each {
				b := events.Batch{
					Variant: fmt.Sprint("v", seq%2), Day: Today, Sender: fmt.Sprint("s", i), Seq: uint64(seq + 1), Impressions: 1,
					Events: []events.Event{act(events.Click, "u_1", fmt.Sprint("item", seq))}, Agents: members(i, i+1),
				}
				b.Ages.Count(100)
				assert.NoError(t, s.Add(t.Context(), &b))
			}
			_, err := s.Read(t.Context(), Today, Today)
			assert.NoError(t, err)
		})
	}
	all.Wait()
	got := read(t, s, Today, Today)
	require.Len(t, got, 2)
	assert.EqualValues(t, servers*each, got[0].Counts["impressions"]+got[1].Counts["impressions"])
	assert.EqualValues(t, servers*each, got[0].Ages.N()+got[1].Ages.N())
	assert.EqualValues(t, each, got[0].Counts["click"]+got[1].Counts["click"])
	assert.EqualValues(t, servers, got[0].Agents)
}

func cancelled(t *testing.T, s events.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := events.Batch{Variant: "control", Day: Today, Sender: "s", Seq: 1, Impressions: 1}
	require.ErrorIs(t, s.Add(ctx, &b), context.Canceled)
	_, err := s.Read(ctx, Today, Today)
	require.ErrorIs(t, err, context.Canceled)
	add(t, s, b)
	assert.EqualValues(t, 1, one(t, s, Today, Today).Counts["impressions"])
}
