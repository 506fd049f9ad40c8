package events

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestActsWaitForWhatWasShown: an act is written one tick later than what another server
// has shown until then.
func TestActsWaitForWhatWasShown(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_772_798_400, 0)
	click := NewPromotedAct(Click, "p", "u", "g")
	acts := []entry{
		{variant: "control", promotedActs: []PromotedAct{click}, now: now},
		{variant: "control", acts: []Act{{Kind: Click, Hash: 1}}, now: now},
	}
	written := func(s *sums) (shown, done int) {
		for _, b := range s.take().batches {
			shown += len(b.Promoted)
			done += len(b.PromotedActs) + len(b.Acts)
		}
		return shown, done
	}
	for name, test := range map[string]func(*heldActs, *sums) int{
		"a tick": func(h *heldActs, s *sums) int { h.tick(s); return 0 },
		"the next tick": func(h *heldActs, s *sums) int {
			h.tick(s)
			h.tick(s)
			return 2
		},
		"a flush": func(h *heldActs, s *sums) int { h.add(s, entry{written: make(chan struct{})}); return 2 },
		"the end": func(h *heldActs, s *sums) int { h.all(s); return 2 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var held heldActs
			sums := newSums("s", 100)
			for _, e := range acts {
				held.add(sums, e)
			}
			held.add(sums, entry{variant: "control", promoted: []Promoted{click.Promoted}, now: now})
			want := test(&held, sums)
			shown, done := written(sums)
			require.Equal(t, 1, shown, "what was shown waits for nothing")
			assert.Equal(t, want, done)
			held.all(sums)
			_, left := written(sums)
			assert.Equal(t, 2, want+left, "each once")
		})
	}
}
