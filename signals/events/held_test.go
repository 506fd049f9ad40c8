package events

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

// TestActsWrittenAfterImpressions checks that acts are written one tick later, after the
// impressions of other servers, and that impressions come first in a batch.
func TestActsWrittenAfterImpressions(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_772_798_400, 0)
	docs := []feed.Doc{{ID: "g"}}
	for ticks, want := range []int{0, 0, 2} {
		s := newSums("s", 100)
		s.hold(entry{variant: "control", events: []Event{PromotedAct(Click, "p", "u", "g")}, now: now})
		s.hold(entry{variant: "control", events: []Event{{Hash: 1, Field: "click"}}, now: now})
		s.add(entry{variant: "control", docs: docs, events: []Event{Promoted("p", "u", "g")}, now: now})
		for range ticks {
			s.tick()
		}
		batches := s.take()
		require.Len(t, batches, 1)
		assert.Len(t, batches[0].Events, 1+want, "what was shown waits for nothing")
		assert.Zero(t, batches[0].Events[0].After)
		s.tick()
		s.tick()
		left := 0
		for _, b := range s.take() {
			left += len(b.Events)
		}
		assert.Equal(t, 2, want+left, "each once")
	}
}
