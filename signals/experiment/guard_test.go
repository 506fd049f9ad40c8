package experiment_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/signals/events"
	"github.com/freshet/freshet/signals/experiment"
)

// TestBreaches: a limit ends an experiment only if it is surely broken, and its readers suffice.
func TestBreaches(t *testing.T) {
	for name, c := range map[string]struct {
		limits   feed.Limits
		readers  int
		rejects  [2]int64 // of a reader a day, of the variant and of control
		short    [2]int64 // of ten pages
		millis   [2]int64
		buckets  int // of the variant; 0 means half of all
		few      int // readers of both with a short page besides
		breaches []string
	}{
		"no limit":          {readers: 1000, rejects: [2]int64{9, 1}},
		"equal":             {limits: feed.Limits{Rejects: 0.1, Short: 0.1, Latency: 0.1}, readers: 1000, rejects: [2]int64{2, 2}, short: [2]int64{1, 1}, millis: [2]int64{40, 40}},
		"more rejects":      {limits: feed.Limits{Rejects: 0.1}, readers: 1000, rejects: [2]int64{4, 2}, breaches: []string{"rejects"}},
		"too few buckets":   {limits: feed.Limits{Latency: 0.1}, readers: 1000, millis: [2]int64{90, 50}, buckets: 29},
		"enough buckets":    {limits: feed.Limits{Latency: 0.1}, readers: 1000, millis: [2]int64{90, 50}, buckets: 30, breaches: []string{"latency"}},
		"within the limit":  {limits: feed.Limits{Rejects: 3}, readers: 1000, rejects: [2]int64{4, 2}},
		"fewer rejects":     {limits: feed.Limits{Rejects: 0.1}, readers: 1000, rejects: [2]int64{1, 2}},
		"too few readers":   {limits: feed.Limits{Rejects: 0.1}, readers: 999, rejects: [2]int64{4, 2}},
		"another limit":     {limits: feed.Limits{Short: 0.1}, readers: 1000, rejects: [2]int64{4, 2}, short: [2]int64{1, 1}},
		"none of control":   {limits: feed.Limits{Rejects: 0.1, Short: 0.1}, readers: 1000, rejects: [2]int64{4, 0}, short: [2]int64{4, 0}, breaches: []string{"rejects", "short"}},
		"hardly any":        {limits: feed.Limits{Short: 0.1}, readers: 1000, short: [2]int64{0, 0}, few: 3},
		"few of control":    {limits: feed.Limits{Short: 0.1}, readers: 1000, short: [2]int64{4, 0}, few: 3, breaches: []string{"short"}},
		"short and latency": {limits: feed.Limits{Rejects: 0.1, Short: 0.5, Latency: 0.2}, readers: 1000, short: [2]int64{4, 2}, millis: [2]int64{90, 50}, breaches: []string{"short", "latency"}},
	} {
		counts := experimentOf(c.readers, 1, [2]func(int, int) int64{func(int, int) int64 { return 1 }, func(int, int) int64 { return 1 }})
		counts.Live.Variants[0].Limits = c.limits
		if c.buckets > 0 {
			counts.Live.Variants[0].Parts = []feed.Part{{0, c.buckets - 1}}
		}
		for _, day := range counts.days {
			arm, first := 0, 0
			if day.Run == "control@3" {
				arm, first = 1, feed.Buckets/2
			}
			for i := range c.readers {
				b, noise := first+i, int64(i%2)
				day.Cells.Add(b, events.Rejected, c.rejects[arm]*noise)
				day.Cells.Add(b, events.Pages, 10)
				day.Cells.Add(b, events.Short, c.short[arm]*noise)
				if i < c.few {
					day.Cells.Add(b, events.Short, 1)
				}
				day.Cells.Add(b, events.Millis, 10*c.millis[arm]+noise)
			}
		}
		cells, readers := map[string]events.Cells{}, map[string]int64{}
		for _, day := range counts.days {
			cells[day.Run], readers[day.Run] = day.Cells, int64(c.readers)
		}
		runs, _ := experiment.Guarded(counts.Live)
		assert.Equal(t, c.limits.On(), runs != nil, name)
		got := experiment.Breaches(counts.Live, cells, readers)
		var broken []string
		for _, b := range got {
			broken = append(broken, b.Limit.Name)
			assert.Equal(t, "slow", b.Variant)
			assert.Greater(t, b.Least, b.Limit.Most, name)
			assert.Contains(t, b.String(), "limit "+b.Limit.Name+": ")
		}
		assert.Equal(t, c.breaches, broken, name)
	}
}
