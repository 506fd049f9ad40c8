package deduptest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/dedup"
)

// clocksApart runs two servers around midnight, one with a clock that is ahead. Each must find the
// other's writes at every moment, whatever day it is by either clock.
func clocksApart(t *testing.T, open Open) {
	for _, ahead := range []time.Duration{5 * time.Second, 2 * time.Minute} {
		t.Run(ahead.String(), func(t *testing.T) {
			s := open(t, config())
			midnight := days(1).Truncate(24 * time.Hour)
			agent := fmt.Sprintf("u_%s", ahead)
			var fast, slow []string
			seen := []dedup.Verdict{dedup.SeenDaysAgo(0)}
			step := max(time.Second, ahead/20)
			for now := midnight.Add(-ahead - 3*step); now.Before(midnight.Add(3 * step)); now = now.Add(step) {
				group := fmt.Sprintf("fast_%d", len(fast))
				record(t, s, now.Add(ahead), impressions(agent, group))
				fast = append(fast, group)
				assert.Equal(t, seen, check(t, s, now, agent, group), "written at %s, asked at %s",
					now.Add(ahead).Format(time.TimeOnly), now.Format(time.TimeOnly))

				group = fmt.Sprintf("slow_%d", len(slow))
				record(t, s, now, impressions(agent, group))
				slow = append(slow, group)
				assert.NotEqual(t, []dedup.Verdict{dedup.Unseen}, check(t, s, now.Add(ahead), agent, group), "written at %s, asked at %s",
					now.Format(time.TimeOnly), now.Add(ahead).Format(time.TimeOnly))
			}
			for _, now := range []time.Time{midnight.Add(-time.Second), midnight, midnight.Add(time.Hour), midnight.AddDate(0, 0, 5)} {
				assert.NotContains(t, check(t, s, now, agent, append(fast, slow...)...), dedup.Unseen, "asked at %s", now)
			}
		})
	}
}
