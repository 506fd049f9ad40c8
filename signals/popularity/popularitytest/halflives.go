package popularitytest

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/signals/popularity"
)

// Keeping is a store of the counts of one item, for [HalfLives].
type Keeping interface {
	// Count counts acts on the item as a server that keeps the sums of these half-lives.
	Count(t *testing.T, keep feed.HalfLives, acts []popularity.Act)
	// CountEarlier counts an act as a version does that knows no further half-lives.
	CountEarlier(t *testing.T, act popularity.Act)
	// Counts returns the counts that a server reads that keeps these half-lives.
	Counts(t *testing.T, keep feed.HalfLives) feed.Counts
	// More returns what is stored about further half-lives, "" for nothing.
	More(t *testing.T) string
}

var halfLives = [...]float64{hour, 6 * hour, day, 7 * day}

// HalfLives checks the sums of further half-lives in a store, which open opens empty.
func HalfLives(t *testing.T, open func(t *testing.T) Keeping) {
	t.Run("by definition", func(t *testing.T) { byDefinition(t, open(t)) })
	t.Run("added and removed", func(t *testing.T) { addedAndRemoved(t, open(t)) })
	t.Run("beside an earlier version", func(t *testing.T) { besideEarlier(t, open(t)) })
	t.Run("taken back", func(t *testing.T) { takenBack(t, open(t)) })
}

func actOf(agent int, at int64, kind popularity.Kind) popularity.Act {
	return popularity.Act{Agent: uint64(agent) + 1, Kind: kind, At: at}
}

// assertMore compares the counts at a moment with acts.
func assertMore(t *testing.T, c feed.Counts, moment int64, acts []int64, keep feed.HalfLives) {
	t.Helper()
	got := c.MoreAt(moment)
	for h := range feed.AllHalfLives.All() {
		want := 0.0
		for _, at := range acts {
			want += math.Pow(2, -float64(moment-at)/halfLives[h.Index])
		}
		if keep&(1<<h.Index) == 0 {
			want = 0
		}
		assert.InEpsilon(t, 1+want, 1+got[h.Index], 1e-9, h.Name)
	}
}

// byDefinition adds acts of years, in and out of order, in batches.
func byDefinition(t *testing.T, s Keeping) {
	r := rand.New(rand.NewPCG(5, 3))
	const keep = feed.HalfLives(1 | 1<<2)
	at, agent := noon, 0
	var acts []int64
	for range 20 {
		var batch []popularity.Act
		for range 5 {
			when := at - r.Int64N(day)
			agent++
			batch, acts = append(batch, actOf(agent, when, popularity.Click)), append(acts, when)
		}
		s.Count(t, keep, batch)
		assertMore(t, s.Counts(t, keep), at, acts, keep)
		at += r.Int64N(50 * day)
	}
}

func addedAndRemoved(t *testing.T, s Keeping) {
	s.Count(t, 0, []popularity.Act{actOf(1, noon, popularity.Click)})
	assert.Empty(t, s.More(t), "without the setting not a byte is stored")
	assert.Nil(t, s.Counts(t, feed.AllHalfLives).More)
	s.Count(t, 1, []popularity.Act{actOf(2, noon, popularity.Click)})
	assertMore(t, s.Counts(t, 1), noon, []int64{noon}, 1) // one that is added begins at zero
	assertMore(t, s.Counts(t, 2), noon, nil, 2)
	s.Count(t, 3, []popularity.Act{actOf(3, noon+hour, popularity.Click)})
	assertMore(t, s.Counts(t, 1), noon+hour, []int64{noon, noon + hour}, 1)
	assertMore(t, s.Counts(t, 2), noon+hour, []int64{noon + hour}, 2)
	s.Count(t, 2, []popularity.Act{actOf(4, noon+hour, popularity.Click)})
	assert.NotContains(t, s.More(t), "1h", "what is removed frees its bytes")
	s.Count(t, 0, []popularity.Act{actOf(5, noon+hour, popularity.Click)})
	assert.Empty(t, s.More(t))
	short, _ := s.Counts(t, 0).At(noon + hour)
	require.InDelta(t, 3+2*math.Sqrt(0.5), short, 1e-9)
}

// besideEarlier lets an earlier version count in between: its acts are missing in the further sums, and
// nothing else is wrong.
func besideEarlier(t *testing.T, s Keeping) {
	acts, agent := []int64{}, 100
	at := noon
	for _, pause := range []int64{0, hour, 3 * day, 9 * day, 40 * day} {
		at += pause
		agent += 2
		s.CountEarlier(t, actOf(agent, at, popularity.Click))
		assertMore(t, s.Counts(t, feed.AllHalfLives), at, acts, feed.AllHalfLives)
		s.Count(t, feed.AllHalfLives, []popularity.Act{actOf(agent+1, at, popularity.Click)})
		acts = append(acts, at)
		assertMore(t, s.Counts(t, feed.AllHalfLives), at, acts, feed.AllHalfLives)
	}
}

func takenBack(t *testing.T, s Keeping) {
	s.Count(t, feed.AllHalfLives, []popularity.Act{
		actOf(1, noon, popularity.Like), actOf(2, noon+6*day, popularity.Like), actOf(1, noon+7*day, popularity.Unlike),
	})
	assertMore(t, s.Counts(t, feed.AllHalfLives), noon+7*day, []int64{noon + 6*day}, feed.AllHalfLives)
	s.Count(t, feed.AllHalfLives, []popularity.Act{actOf(2, noon+8*day, popularity.Unlike)})
	assertMore(t, s.Counts(t, feed.AllHalfLives), noon+8*day, nil, feed.AllHalfLives)
	assert.Empty(t, s.More(t))
}
