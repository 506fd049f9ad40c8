package events_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/signals/events"
)

func TestReport(t *testing.T) {
	live := &feed.Live{Variants: []feed.Variant{{Name: "slow", Share: 0.2}, {Name: "fast", Share: 0.1}, {Name: "a_new_one", Share: 0.05}}}
	control := events.Totals{
		Variant: "control", Agents: 90, Authors: 40, Counts: map[string]int64{
			"impressions": 10_000, "click": 500, "like": 7, "dislike": 6, "hide": 5, "explored": 400, "explored_clicks": 8,
			"source:promoted": 50, "source_click:promoted": 1, "source:following": 700, "source_click:following": 70,
			"source_click:trending": 1, "source:newer": 9,
		},
	}
	for range 5 {
		control.Ages.Count(3600)
	}
	to := feed.DayOf(noon)
	r := events.NewReport(live, []events.Totals{
		control,
		{Variant: "ended", Counts: map[string]int64{"impressions": 20, "click": 30, "promoted:p": 50, "promoted_like:p": 1}},
		{Variant: "fast", Counts: map[string]int64{"impressions": 2000, "click": 105}},
		{Variant: "slow", Counts: map[string]int64{"impressions": 4000, "click": 280, "promoted:p": 50, "promoted_click:p": 2, "promoted_click:b": 1}},
	}, to-6, to)
	assert.Equal(t, "20260228", r.From)
	assert.Equal(t, "20260306", r.To)
	assert.Equal(t, 7, r.Days)
	names := []string{}
	for _, v := range r.Variants {
		names = append(names, v.Name)
	}
	require.Equal(t, []string{"control", "a_new_one", "ended", "fast", "slow"}, names)

	c, unused, ended, fast, slow := r.Variants[0], r.Variants[1], r.Variants[2], r.Variants[3], r.Variants[4]
	assert.Equal(t, 0.65, c.Share)
	assert.Equal(t, 0.05, c.CTR)
	assert.Equal(t, events.Wilson(500, 10_000), c.CTRInterval)
	require.NotNil(t, c.MedianAge)
	assert.InEpsilon(t, 3600, *c.MedianAge, 0.091)
	assert.Nil(t, c.Difference)
	assert.Equal(t, []int64{7, 6, 5, 90, 40}, []int64{c.Likes, c.Dislikes, c.Hides, c.Agents, c.Authors})

	require.NotNil(t, c.Explored)
	assert.Equal(t, api.Shown{Impressions: 400, Clicks: 8, CTR: 0.02, CTRInterval: events.Wilson(8, 400)}, *c.Explored)

	assert.Equal(t, []api.ReportSource{
		{Source: "following", Shown: api.Shown{Impressions: 700, Clicks: 70, CTR: 0.1, CTRInterval: events.Wilson(70, 700)}},
		{Source: "promoted", Shown: api.Shown{Impressions: 50, Clicks: 1, CTR: 0.02, CTRInterval: events.Wilson(1, 50)}},
	}, c.Sources, "in their order, and not what has shown nothing")

	assert.Nil(t, slow.Explored)
	assert.Nil(t, slow.Sources)
	assert.Equal(t, []api.ReportPromotion{
		{ID: "b", Shown: api.Shown{Clicks: 1, CTR: 0, CTRInterval: events.Wilson(1, 0)}},
		{ID: "p", Shown: api.Shown{Impressions: 100, Clicks: 2, CTR: 0.02, CTRInterval: events.Wilson(2, 100)}, Likes: 1},
	}, r.Promotions)
	assert.True(t, unused.Live)
	assert.Zero(t, unused.Impressions)
	assert.Nil(t, unused.MedianAge)
	assert.Equal(t, events.TooFew, unused.Difference.Verdict)
	assert.Nil(t, unused.Difference.P)

	assert.False(t, ended.Live)
	assert.Equal(t, 1.0, ended.CTR, "clicks of earlier impressions")
	assert.Equal(t, events.TooFew, ended.Difference.Verdict)

	assert.Equal(t, events.NotSignificant, fast.Difference.Verdict)
	require.NotNil(t, fast.Difference.P)
	assert.Greater(t, *fast.Difference.P, 0.05)
	assert.Less(t, fast.Difference.Interval.Low, 0.0)

	assert.Equal(t, events.Significant, slow.Difference.Verdict)
	assert.InDelta(t, 0.02, slow.Difference.CTR, 1e-12)
	assert.Greater(t, slow.Difference.Interval.Low, 0.0)

	text, err := json.Marshal(c)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"difference":null`)

	r = events.NewReport(&feed.Live{}, nil, to, to)
	require.Len(t, r.Variants, 1)
	assert.Equal(t, 1.0, r.Variants[0].Share)
}

// TestReportNameReused: counts from before a variant name was reused belong to other
// agents and perhaps other parameters, and must appear in no row.
func TestReportNameReused(t *testing.T) {
	live := &feed.Live{Variants: []feed.Variant{{Name: "slow", Run: "slow@9", Share: 0.2}, {Name: "old", Share: 0.1}, {Name: "new", Run: "new@12", Share: 0.1}}}
	to := feed.DayOf(noon)
	r := events.NewReport(live, []events.Totals{
		{Variant: "slow", Counts: map[string]int64{"impressions": 1}},
		{Variant: "slow@2", Counts: map[string]int64{"impressions": 2}},
		{Variant: "slow@9", Counts: map[string]int64{"impressions": 3}},
		{Variant: "old", Counts: map[string]int64{"impressions": 4}},
		{Variant: "new@3", Counts: map[string]int64{"impressions": 5}},
		{Variant: "gone@10", Counts: map[string]int64{"impressions": 6}},
		{Variant: "gone@4", Counts: map[string]int64{"impressions": 7}},
		{Variant: "gone", Counts: map[string]int64{"impressions": 8}},
	}, to, to)
	got := map[string]int64{}
	for _, row := range r.Variants {
		got[row.Name] = row.Impressions
	}
	assert.Equal(t, map[string]int64{"control": 0, "slow": 3, "old": 4, "new": 0, "gone": 6}, got)
}
