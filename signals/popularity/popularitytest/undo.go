// Package popularitytest checks implementations of [popularity.Counter].
package popularitytest

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/signals/popularity"
)

const (
	noon = int64(1_772_798_400) // 2026-03-06 12:00
	hour = 3600
	day  = 86_400
)

// Undo checks what an unlike leaves of the counts of an item. count counts acts on one item, each
// list in one batch; counts returns the item's counts.
func Undo(t *testing.T, open func(t *testing.T) (count func(acts []popularity.Act), counts func() feed.Counts)) {
	does := func(agent string, kind popularity.Kind, at int64) popularity.Act {
		return popularity.Act{Agent: popularity.Agent(agent), Kind: kind, At: at}
	}
	click := func(agent string, at int64) popularity.Act { return does(agent, popularity.Click, at) }
	like := func(agent string, at int64) popularity.Act { return does(agent, popularity.Like, at) }
	unlike := func(agent string, at int64) popularity.Act { return does(agent, popularity.Unlike, at) }
	for name, c := range map[string]struct {
		acts []popularity.Act
		want []int64 // when acts that still count happened
	}{
		"at once":                          {[]popularity.Act{like("u", noon), unlike("u", noon)}, nil},
		"twice":                            {[]popularity.Act{like("u", noon), unlike("u", noon+1), unlike("u", noon+2)}, nil},
		"of a like that was sent twice":    {[]popularity.Act{like("u", noon), like("u", noon+1), unlike("u", noon+2)}, nil},
		"without a like":                   {[]popularity.Act{unlike("u", noon), like("v", noon)}, []int64{noon}},
		"by another":                       {[]popularity.Act{like("u", noon), unlike("v", noon)}, []int64{noon}},
		"of one among others":              {[]popularity.Act{like("v", noon-hour), like("u", noon), click("w", noon+hour), unlike("u", noon+hour)}, []int64{noon - hour, noon + hour}},
		"after days":                       {[]popularity.Act{like("u", noon), like("v", noon+6*day), unlike("u", noon+7*day)}, []int64{noon + 6*day}},
		"after two epochs":                 {[]popularity.Act{like("u", noon), like("v", noon+20*day), unlike("u", noon+20*day)}, []int64{noon + 20*day}},
		"and liked again":                  {[]popularity.Act{like("u", noon), unlike("u", noon), like("u", noon), like("u", noon+1)}, []int64{noon}},
		"a click before it remains":        {[]popularity.Act{click("u", noon), like("u", noon+1), unlike("u", noon+2)}, []int64{noon}},
		"a click after it remains":         {[]popularity.Act{like("u", noon), click("u", noon+1), unlike("u", noon+2), unlike("u", noon+3)}, []int64{noon}},
		"a click alone remains":            {[]popularity.Act{click("u", noon), unlike("u", noon+1)}, []int64{noon}},
		"a click after all":                {[]popularity.Act{like("u", noon), unlike("u", noon+1), click("u", noon+2)}, []int64{noon + 2}},
		"that overtakes the like":          {[]popularity.Act{unlike("u", noon+9), like("u", noon), like("v", noon)}, []int64{noon}},
		"that overtakes it, and a new one": {[]popularity.Act{unlike("u", noon+9), like("u", noon), like("u", noon+10)}, []int64{noon + 10}},
		"a day is remembered from the act": {[]popularity.Act{click("u", noon), like("u", noon+50*day), click("u", noon+90*day)}, []int64{noon, noon + 90*day}},
	} {
		for batches, together := range map[string]bool{"one by one": false, "in one batch": true} {
			t.Run(name+", "+batches, func(t *testing.T) {
				count, counts := open(t)
				if together {
					count(c.acts)
				}
				for i := range c.acts {
					if !together {
						count(c.acts[i : i+1])
					}
				}
				want, last := feed.Counts{}, c.acts[len(c.acts)-1].At
				for _, at := range c.want {
					want = want.Add(at)
				}
				wantShort, wantLong := want.At(last)
				short, long := counts().At(last)
				assert.InDelta(t, wantShort, short, 1e-9)
				assert.InDelta(t, wantLong, long, 1e-9)
			})
		}
	}
}
