package experiment_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/signals/events"
	"github.com/freshet/freshet/signals/experiment"
)

var today = feed.DayOf(time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC))

// stored answers with counts as a store does.
func stored(days []events.DayCells) func([]string, []events.Column, feed.Day, feed.Day) ([]events.DayCells, error) {
	return func(runs []string, _ []events.Column, from, to feed.Day) (list []events.DayCells, err error) {
		for _, d := range days {
			if d.Day >= from && d.Day <= to && (runs == nil || slices.Contains(runs, d.Run)) {
				list = append(list, d)
			}
		}
		slices.SortStableFunc(list, func(a, b events.DayCells) int { return int(a.Day) - int(b.Day) })
		return list, nil
	}
}

// exact answers with numbers of readers.
func exact(n map[string]int64) func([]string) ([]int64, float64, error) {
	return func(runs []string) (list []int64, part float64, err error) {
		for _, run := range runs {
			list = append(list, n[run])
		}
		return list, 1, nil
	}
}

func report(t *testing.T, c experiment.Counts) api.Report {
	t.Helper()
	if c.Readers == nil {
		c.Readers = exact(nil)
	}
	if c.Cells == nil {
		c.Cells = stored(nil)
	}
	if c.Effect == 0 {
		c.Effect = 0.1
	}
	if c.Began == nil {
		c.Began = func(int) (*feed.Live, error) { return nil, feed.ErrNotFound }
	}
	c.From, c.To = today-6, today
	r, err := c.Report()
	require.NoError(t, err)
	return r
}

func TestRows(t *testing.T) {
	live := &feed.Live{Run: "control@4", Variants: []feed.Variant{{Name: "slow", Run: "slow@4", Share: 0.2}, {Name: "fast", Run: "fast@4", Share: 0.1}, {Name: "a_new_one", Share: 0.05}}}
	control := events.Totals{
		Variant: "control@4", Agents: 90, Authors: 40, Counts: map[string]int64{
			"impressions": 10_000, "click": 500, "like": 7, "dislike": 6, "hide": 5, "explored": 400, "explored_clicks": 8,
			"source:promoted": 50, "source_click:promoted": 1, "source:following": 700, "source_click:following": 70,
			"source_click:trending": 1, "source:newer": 9, "position:0": 500, "position_click:0": 50, "position:7": 10,
		},
	}
	for range 5 {
		control.Ages.Count(3600)
	}
	r := report(t, experiment.Counts{Live: live, Totals: []events.Totals{
		{Variant: "control", Counts: map[string]int64{"impressions": 7}},
		{Variant: "control@2", Counts: map[string]int64{"impressions": 8, "click": 4}},
		control,
		{Variant: "ended@2", Counts: map[string]int64{"impressions": 20, "click": 30, "promoted:p": 50, "promoted_like:p": 1}},
		{Variant: "ended@3", Counts: map[string]int64{"impressions": 5}},
		{Variant: "fast@4", Counts: map[string]int64{"impressions": 2000, "click": 105}},
		{Variant: "slow@9", Counts: map[string]int64{"impressions": 9}},
		{Variant: "slow@4", Counts: map[string]int64{"impressions": 4000, "click": 280, "promoted:p": 50, "promoted_click:p": 2, "promoted_click:b": 1}},
		{Variant: "slow", Counts: map[string]int64{"impressions": 1}},
	}})
	assert.Equal(t, []any{"20260228", "20260306", 7}, []any{r.From, r.To, r.Days})
	names := []string{}
	for _, v := range r.Variants {
		names = append(names, v.Name)
	}
	require.Equal(t, []string{"control", "a_new_one", "ended", "fast", "slow"}, names)

	c, unused, ended, slow := r.Variants[0], r.Variants[1], r.Variants[2], r.Variants[4]
	assert.Equal(t, []any{0.65, 4, 0.05, experiment.Wilson(500, 10_000)}, []any{c.Share, c.Version, c.CTR, c.CTRInterval})
	require.NotNil(t, c.MedianAge)
	assert.InEpsilon(t, 3600, *c.MedianAge, 0.091)
	assert.Nil(t, c.Difference)
	assert.Equal(t, []int64{7, 6, 5, 90, 40}, []int64{c.Likes, c.Dislikes, c.Hides, c.Agents, c.Authors})
	rate := func(k, n int64) api.Shown {
		ctr := 0.0
		if n > 0 {
			ctr = float64(min(k, n)) / float64(n)
		}
		return api.Shown{Impressions: n, Clicks: k, CTR: ctr, CTRInterval: experiment.Wilson(k, n)}
	}
	require.NotNil(t, c.Explored)
	assert.Equal(t, rate(8, 400), *c.Explored)
	assert.Equal(t, []api.ReportSource{{Source: "following", Shown: rate(70, 700)}, {Source: "promoted", Shown: rate(1, 50)}}, c.Sources, "in their order, and not what has shown nothing")
	assert.Equal(t, []api.ReportPosition{{From: 1, To: 1, Shown: rate(50, 500)}, {From: 51, Shown: rate(0, 10)}}, c.Positions)
	assert.Equal(t, []api.ReportRun{{Version: 2, Shown: rate(4, 8)}, {Version: 0, Shown: rate(0, 7)}}, c.Earlier)

	assert.Equal(t, []api.ReportPromotion{{ID: "b", Shown: rate(1, 0)}, {ID: "p", Shown: rate(2, 100), Likes: 1}}, r.Promotions)
	assert.True(t, unused.Live)
	assert.Zero(t, unused.Impressions)
	assert.Nil(t, unused.MedianAge)
	assert.False(t, ended.Live)
	assert.Equal(t, []any{3, int64(5), []api.ReportRun{{Version: 2, Shown: rate(30, 20)}}}, []any{ended.Version, ended.Impressions, ended.Earlier})
	assert.Equal(t, []any{4, int64(4000), []api.ReportRun{{Version: 0, Shown: rate(0, 1)}}}, []any{slow.Version, slow.Impressions, slow.Earlier})
	for _, v := range r.Variants[1:] {
		assert.Equal(t, &api.ReportDifference{Interval: api.Interval{Low: -1, High: 1}, Verdict: experiment.TooFew}, v.Difference, v.Name)
	}

	r = report(t, experiment.Counts{Live: &feed.Live{}})
	require.Len(t, r.Variants, 1)
	assert.Equal(t, 1.0, r.Variants[0].Share)
	assert.Nil(t, r.Size)
}

// experimentOf returns an experiment on half of the buckets, with one reader of each of n buckets a side.
// On each of some days each reader is shown 20 items, and clicks on those of the variant or of control.
func experimentOf(n, days int, clicks [2]func(reader, day int) int64) (c counted) {
	variant := feed.Variant{Name: "slow", Run: "slow@3", Share: 0.5, Parts: []feed.Part{{0, feed.Buckets/2 - 1}}}
	c.Live = &feed.Live{Run: "control@3", Variants: []feed.Variant{variant}}
	for day := range days {
		for arm, run := range []string{"control@3", "slow@3"} {
			cells := events.Cells{}
			for i := range n {
				b := i
				if run == "control@3" {
					b += feed.Buckets / 2
				}
				cells.Add(b, events.Shown, 20)
				cells.Add(b, events.Clicked, clicks[1-arm](i, day))
			}
			c.days = append(c.days, events.DayCells{Run: run, Day: today - feed.Day(days-1-day), Cells: cells})
		}
	}
	c.Readers = exact(map[string]int64{"slow@3": int64(n), "control@3": int64(n)})
	c.Totals = []events.Totals{{Variant: "slow@3"}}
	c.Cells = stored(c.days)
	return c
}

// counted is a report's counts with the days that its Cells returns.
type counted struct {
	experiment.Counts
	days []events.DayCells
}

func TestDifference(t *testing.T) {
	none := func(int, int) int64 { return 0 }
	one := func(int, int) int64 { return 1 }
	heavy := func(every int) func(i, _ int) int64 { // all clicks are those of a few readers
		return func(i, _ int) int64 {
			if i%every == 0 {
				return 20
			}
			return 0
		}
	}
	all := func(int, int) int64 { return 20 }
	few := func(i, day int) int64 { return int64(max(0, 1-i-day)) }
	mixed := func(i, day int) int64 { return int64((i + day) % 3) }
	more := func(i, day int) int64 { return int64((i+day)%3) + 1 }
	for name, c := range map[string]struct {
		counts counted
		want   string
	}{
		"equal":                       {experimentOf(500, 4, [2]func(int, int) int64{mixed, mixed}), experiment.NotSignificant},
		"twice as many clicks":        {experimentOf(500, 4, [2]func(int, int) int64{more, mixed}), experiment.Significant},
		"no clicks of control":        {experimentOf(500, 4, [2]func(int, int) int64{mixed, none}), experiment.Significant},
		"a click of control":          {experimentOf(500, 4, [2]func(int, int) int64{mixed, few}), experiment.Significant},
		"no clicks of the variant":    {experimentOf(500, 4, [2]func(int, int) int64{none, mixed}), experiment.Significant},
		"all click, nobody clicks":    {experimentOf(500, 4, [2]func(int, int) int64{all, none}), experiment.Significant},
		"all click":                   {experimentOf(500, 4, [2]func(int, int) int64{all, all}), experiment.TooFew},
		"too few readers":             {experimentOf(99, 4, [2]func(int, int) int64{more, mixed}), experiment.TooFew},
		"too few clicks":              {experimentOf(500, 1, [2]func(int, int) int64{heavy(1000), none}), experiment.TooFew},
		"clicks of a few readers":     {experimentOf(500, 4, [2]func(int, int) int64{heavy(18), heavy(22)}), experiment.NotSignificant},
		"everybody clicks alike":      {experimentOf(500, 1, [2]func(int, int) int64{one, one}), experiment.NotSignificant},
		"the clicks of a few readers": {experimentOf(500, 28, [2]func(int, int) int64{heavy(18), heavy(22)}), experiment.NotSignificant},
	} {
		d := report(t, c.counts.Counts).Variants[1].Difference
		assert.Equal(t, c.want, d.Verdict, name)
		assert.Equal(t, c.want == experiment.TooFew, d.P == nil, name)
		assert.Len(t, d.Days, len(c.counts.days)/2, name)
		if name == "too few clicks" {
			assert.Nil(t, d.Size, "it would be a guess")
		}
		assert.LessOrEqual(t, d.Interval.Low, d.CTR, name)
		assert.GreaterOrEqual(t, d.Interval.High, d.CTR, name)
	}
	c := experimentOf(500, 4, [2]func(int, int) int64{mixed, mixed})
	d := report(t, c.Counts).Variants[1].Difference
	assert.Equal(t, api.ReportPair{Variant: 10_000, Control: 10_000}, d.Days[0].Impressions)
	assert.Equal(t, "20260303", d.Days[0].Day)
	require.NotNil(t, d.Size)
	require.NotNil(t, d.Size.Days)
	assert.InEpsilon(t, *d.Size.Days*10_000, float64(d.Size.Impressions), 0.001)

	for buckets, want := range map[int]string{29: experiment.TooFew, 30: experiment.Significant} {
		few := experimentOf(500, 4, [2]func(int, int) int64{more, mixed})
		few.Live.Variants[0].Parts, few.Live.Variants[0].Share = []feed.Part{{0, buckets - 1}}, float64(buckets)/feed.Buckets
		few.Readers = exact(map[string]int64{"slow@3": 500, "control@3": 500 / int64(buckets) * (feed.Buckets - int64(buckets))})
		assert.Equal(t, want, report(t, few.Counts).Variants[1].Difference.Verdict, buckets)
	}

	c.Readers = exact(map[string]int64{"slow@3": 500, "control@3": 800})
	d = report(t, c.Counts).Variants[1].Difference
	assert.Equal(t, experiment.Unbalanced, d.Verdict)
	assert.False(t, d.SampleRatio.OK)
	assert.Equal(t, 0.5, d.SampleRatio.Expected)

	c.Readers = func([]string) ([]int64, float64, error) { return nil, 0, errors.New("no connection") }
	c.From, c.To = today-6, today
	_, err := c.Report()
	require.ErrorContains(t, err, "no connection")
}

// habit is how many of 20 items readers click each day.
func habit(i, _ int) int64 { return int64(i % 11) }

// before returns an experiment with what its readers did earlier, under one version.
func (c counted) before(version int, earlier counted) counted {
	for _, day := range earlier.days {
		name, _ := feed.VariantOf(day.Run)
		day.Run, day.Day = feed.RunName(name, version), day.Day-10
		c.days = append(c.days, day)
	}
	c.Cells = stored(c.days)
	return c
}

// inControl returns the counts as if nobody had been in an experiment.
func (c counted) inControl() counted {
	for i := range c.days {
		c.days[i].Run = feed.Control
	}
	return c
}

// TestEndedRunStays: what is counted after a run has ended, for control or for another run of the same name,
// does not change its figures, nor does its end.
func TestEndedRunStays(t *testing.T) {
	clicks := [2]func(int, int) int64{func(i, _ int) int64 { return int64(i % 2) }, func(i, _ int) int64 { return int64(i % 3) }}
	habits := [2]func(int, int) int64{habit, habit}
	balanced, unbalanced := map[string]int64{"slow@3": 500, "control@3": 500}, map[string]int64{"slow@3": 500, "control@3": 800}
	for name, c := range map[string]struct {
		counts  counted
		readers map[string]int64
		want    string
	}{
		"nothing known from before": {experimentOf(500, 4, clicks), balanced, experiment.Significant},
		"known from before":         {experimentOf(500, 4, [2]func(int, int) int64{more(habit), habit}).before(2, experimentOf(500, 4, habits).inControl()), balanced, experiment.Significant},
		"unbalanced":                {experimentOf(500, 4, clicks), unbalanced, experiment.Unbalanced},
	} {
		counts := c.counts
		counts.Readers = exact(c.readers)
		during := *report(t, counts.Counts).Variants[1].Difference
		require.Equal(t, c.want, during.Verdict, name)

		later := events.Cells{}
		for b := range feed.Buckets {
			later.Add(b, events.Shown, 100)
			later.Add(b, events.Clicked, 90)
		}
		begun := *counts.Live
		counts.Began = func(version int) (*feed.Live, error) {
			assert.Equal(t, 3, version)
			return &begun, nil
		}
		for _, live := range []*feed.Live{
			{Run: "control@4"},
			{Run: "control@5", Variants: []feed.Variant{{Name: "other", Run: "other@5", Share: 1, Parts: []feed.Part{{0, feed.Buckets - 1}}}}},
		} {
			counts.Live = live
			counts.Cells = stored(append(counts.days, events.DayCells{Run: live.Run, Day: today, Cells: later}, events.DayCells{Run: "slow@4", Day: today, Cells: later}))
			rows := report(t, counts.Counts).Variants
			assert.Equal(t, during, *rows[len(rows)-1].Difference, name)
		}
	}
}

// more clicks by every other reader.
func more(clicks func(int, int) int64) func(int, int) int64 {
	return func(i, day int) int64 { return clicks(i, day) + int64(i%2) }
}

// TestEarlierExperiment: what the same readers did in an earlier experiment, of the same name or another,
// makes no difference of equal rankings.
func TestEarlierExperiment(t *testing.T) {
	equal := [2]func(int, int) int64{habit, habit}
	twice := [2]func(int, int) int64{func(i, day int) int64 { return min(20, 2*habit(i, day)+1) }, habit}
	plain := report(t, experimentOf(500, 4, equal).Counts).Variants[1].Difference
	for name, earlier := range map[string]counted{"the same name": experimentOf(500, 4, twice), "another": renamed(experimentOf(500, 4, twice), "other@3")} {
		c := experimentOf(500, 4, equal).before(2, earlier)
		d := report(t, c.Counts).Variants[1].Difference
		assert.Equal(t, experiment.NotSignificant, d.Verdict, name)
		assert.Equal(t, plain.Interval, d.Interval, name)

		// What they did before that is still of use.
		for _, day := range experimentOf(500, 4, equal).inControl().days {
			day.Day -= 40
			c.days = append(c.days, day)
		}
		c.Cells = stored(c.days)
		d = report(t, c.Counts).Variants[1].Difference
		assert.Less(t, d.Interval.High-d.Interval.Low, (plain.Interval.High-plain.Interval.Low)/2, name)
	}
}

// TestBeforeBesideHoldout: a holdout has other readers than an experiment's arms, so what those did while
// it ran is of use.
func TestBeforeBesideHoldout(t *testing.T) {
	equal := [2]func(int, int) int64{habit, habit}
	c := experimentOf(500, 4, equal).before(2, experimentOf(500, 4, equal).inControl())
	plain := report(t, experimentOf(500, 4, equal).Counts).Variants[1].Difference
	c.Live.Variants = append(c.Live.Variants, feed.Variant{Name: "holdout", Run: "holdout@3", Share: 0.02, Parts: []feed.Part{{9800, 9999}}})
	for _, day := range experimentOf(500, 4, equal).inControl().days {
		held := events.Cells{}
		held.Add(9900, events.Shown, 20)
		c.days = append(c.days, events.DayCells{Run: "holdout@2", Day: day.Day - 10, Cells: held})
	}
	c.Cells = stored(c.days)
	rows := report(t, c.Counts).Variants
	d := rows[slices.IndexFunc(rows, func(v api.ReportRow) bool { return v.Name == "slow" })].Difference
	assert.Less(t, d.Interval.High-d.Interval.Low, (plain.Interval.High-plain.Interval.Low)/2)
}

func renamed(c counted, run string) counted {
	for i := range c.days {
		if c.days[i].Run != "control@3" {
			c.days[i].Run = run
		}
	}
	return c
}

// TestPriorNarrows: what readers did before an experiment explains most of how they differ.
func TestPriorNarrows(t *testing.T) {
	c := experimentOf(500, 4, [2]func(int, int) int64{more(habit), habit})
	plain := report(t, c.Counts).Variants[1].Difference
	prior := experimentOf(500, 4, [2]func(int, int) int64{habit, habit})
	for _, day := range prior.days {
		day.Run, day.Day = "control@2", day.Day-4
		c.days = append(c.days, day)
	}
	c.Cells = stored(c.days)
	adjusted := report(t, c.Counts).Variants[1].Difference
	width := func(d *api.ReportDifference) float64 { return d.Interval.High - d.Interval.Low }
	assert.Less(t, width(adjusted), width(plain)/2, fmt.Sprint(plain.Interval, adjusted.Interval))
	assert.Equal(t, experiment.NotSignificant, plain.Verdict)
	assert.Equal(t, experiment.Significant, adjusted.Verdict)
}

func TestPlan(t *testing.T) {
	c := experimentOf(500, 8, [2]func(int, int) int64{func(i, day int) int64 { return int64((i + day) % 3) }, func(i, day int) int64 { return int64((i + day) % 3) }})
	c.Live = &feed.Live{Run: "control@9"}
	size := report(t, c.Counts).Size
	require.NotNil(t, size)
	assert.Equal(t, 0.1, size.Relative)
	require.NotNil(t, size.Days)
	c.Effect = 0.2
	assert.Less(t, *report(t, c.Counts).Size.Days, *size.Days)
	c.Effect = 0.001
	assert.Equal(t, &api.ReportSize{Relative: 0.001}, report(t, c.Counts).Size, "counts are not stored for so long")
}
