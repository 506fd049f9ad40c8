package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A silent refresh reports what is new since the last refresh, and changes nothing.
func TestPeek(t *testing.T) {
	r := newRig(t, 30, nil)
	r.wants(t, refresh(5), run(0, 5), true)
	a := r.ask(t, silent(5))
	assert.Empty(t, a.Docs)
	assert.Zero(t, a.NewCount)
	assert.False(t, a.HasMore)

	r.advance(time.Hour)
	r.put(t, aged("new-1", "", -50*time.Minute), aged("new-2", "", -40*time.Minute), aged("new-3", "", -30*time.Minute), aged("late", "", time.Minute))
	before := r.calls()
	for range 2 {
		a = r.ask(t, silent(2))
		assert.Equal(t, []string{"new-1", "new-2"}, docIDs(a))
		assert.Equal(t, 3, a.NewCount)
		assert.True(t, a.HasMore)
	}
	assert.Equal(t, before, r.calls(), "no session was touched")
	assert.Equal(t, run(0, 5), r.recorder.groups())
	assert.Equal(t, run(0, 5), r.tally.delivered)

	r.removeBehind(t, "new-3")
	a = r.ask(t, silent(5))
	assert.Equal(t, 2, a.NewCount)
	assert.False(t, a.HasMore)
	require.NoError(t, r.Seen(t.Context(), "u_1", []string{"new-1"}))
	assert.Equal(t, []string{"new-2"}, docIDs(r.ask(t, silent(5))))
}

// For a reader who has never refreshed, items younger than a day count as new, and at most 99 of
// them.
func TestPeekNewReader(t *testing.T) {
	for name, c := range map[string]struct {
		young, old, limit int // numbers of items
		count, docs       int
		more              bool
	}{
		"nothing":                  {limit: 5},
		"nothing young":            {old: 5, limit: 5},
		"some":                     {young: 3, old: 5, limit: 5, count: 3, docs: 3},
		"more than a page":         {young: 30, old: 5, limit: 5, count: 30, docs: 5, more: true},
		"as many as are told":      {young: 99, limit: 100, count: 99, docs: 99},
		"more than are told":       {young: 300, old: 5, limit: 5, count: 99, docs: 5, more: true},
		"more, on the largest one": {young: 300, old: 5, limit: 100, count: 99, docs: 99, more: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, c.young, nil)
			for i := range c.old {
				r.put(t, aged(fmt.Sprintf("old-%d", i), "", 24*time.Hour+time.Duration(i)*time.Minute, "news"))
			}
			a := r.ask(t, silent(c.limit))
			assert.Equal(t, c.count, a.NewCount)
			assert.Len(t, docIDs(a), c.docs)
			assert.Equal(t, c.more, a.HasMore)
			r.ask(t, refresh(1))
			r.advance(time.Minute)
			assert.Zero(t, r.ask(t, silent(c.limit)).NewCount, "once they have refreshed, it is what is newer")
		})
	}
}

func (r *rig) calls() map[string]int {
	out := map[string]int{}
	for _, m := range []string{"Replace", "Pop", "Restore", "Discard", "Omit", "Delete", "Abandon"} {
		out[m] = r.sessions.count(m)
	}
	return out
}

// An item posted after the refresh but in the same second is new: items are dated in whole
// seconds, a refresh is not.
func TestPeekCountsSecondOfRefresh(t *testing.T) {
	t.Parallel()
	r := newRig(t, 5, nil)
	r.advance(300 * time.Millisecond)
	r.wants(t, refresh(5), run(0, 5), false)
	r.settled(t)
	r.advance(300 * time.Millisecond)
	r.put(t, aged("same-second", "", 0))
	a := r.ask(t, silent(5))
	assert.Equal(t, 1, a.NewCount)
	assert.Equal(t, []string{"same-second"}, docIDs(a))
}
