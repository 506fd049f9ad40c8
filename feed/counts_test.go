package feed_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/internal/testenv"

	"github.com/freshet/freshet/feed"
)

// direct computes the counts by definition: each act counts 2^(−age/half-life).
func direct(acts []int64, moment int64, halfLife time.Duration) (n float64) {
	for _, at := range acts {
		n += math.Pow(2, -float64(moment-at)/halfLife.Seconds())
	}
	return n
}

// TestCountsOverMonths compares with the definition while time advances by years, over many epochs
// of both half-lives, with pauses of up to months.
func TestCountsOverMonths(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 7))
		now := int64(1_700_000_000) + r.Int64N(1e8)
		var c feed.Counts
		var acts []int64
		for range 300 {
			longest := []int64{10, 3600, 86_400, 40 * 86_400, 200 * 86_400}[r.IntN(5)]
			now += r.Int64N(longest)
			acts = append(acts, now)
			c = c.Add(now)
			for _, later := range []int64{0, 60, 7200, 86_400, 30 * 86_400} {
				n2h, n2d := c.At(now + later)
				require.InEpsilon(t, 1+direct(acts, now+later, feed.ShortHalfLife), 1+n2h, 1e-9)
				require.InEpsilon(t, 1+direct(acts, now+later, feed.LongHalfLife), 1+n2d, 1e-9)
			}
		}
	}
}

// TestCountsNeverUnderflow acts once a month for ten years: each act must still count a day later,
// which it would not if a factor had underflowed.
func TestCountsNeverUnderflow(t *testing.T) {
	t.Parallel()
	var c feed.Counts
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for range 120 {
		at = at.AddDate(0, 1, 0)
		c = c.Add(at.Unix())
		n2h, n2d := c.At(at.Unix())
		require.InDelta(t, 1, n2h, 1e-9)
		require.InDelta(t, 1, n2d, 1e-4)
		n2h, n2d = c.At(at.Unix() + 86_400)
		require.InEpsilon(t, math.Pow(2, -12), n2h, 1e-9)
		require.InEpsilon(t, math.Sqrt(0.5), n2d, 1e-4)
	}
}

func TestCountsEdgeCases(t *testing.T) {
	t.Parallel()
	n2h, n2d := feed.Counts{}.At(1e9)
	assert.Zero(t, n2h+n2d)
	assert.True(t, feed.Counts{}.Negligible(0))

	c := feed.Counts{}.Add(1_772_798_400)
	const tolerance = int64(feed.ActTolerance / time.Second)
	for _, before := range []int64{0, 1, tolerance} {
		n2h, n2d = c.At(c.Last - before)
		assert.InDelta(t, 1, n2h, 1e-12, "a little before the act it counts as at the act")
		assert.InDelta(t, 1, n2d, 1e-12)
	}
	for _, before := range []int64{tolerance + 1, 2 * 86_400, c.Last} {
		n2h, n2d = c.At(c.Last - before)
		assert.Zero(t, n2h+n2d, "nobody has clicked yet")
		assert.False(t, c.Negligible(c.Last-before), "it will count")
	}
	n2h, n2d = c.At(math.MaxInt64 / 2)
	assert.Zero(t, n2h+n2d)
	assert.False(t, c.Negligible(c.Last+19*86_400))
	assert.True(t, c.Negligible(c.Last+20*86_400))

	late := c.Add(c.Last - 7200)
	n2h, _ = late.At(c.Last)
	assert.InDelta(t, 1.5, n2h, 1e-12, "one that comes in late counts as what is left of it")
	assert.Equal(t, c.Last, late.Last)
}

// TestCountsClockAhead: an act recorded while a clock was months ahead must not keep later acts
// at the true time from counting, and earlier counts must be preserved.
func TestCountsClockAhead(t *testing.T) {
	t.Parallel()
	const now, day = 1_772_798_400, 86_400
	for name, ahead := range map[string]int64{"a week": 7 * day, "three weeks": 21 * day, "four months": 120 * day, "ten years": 3650 * day} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := feed.Counts{}.Add(now).Add(now + ahead)
			b2h, b2d := c.At(c.Last)
			c = c.Add(now + 60)
			n2h, n2d := c.At(now + 60)
			if ahead == 7*day {
				assert.Equal(t, int64(now+7*day), c.Last, "a late act")
				return
			}
			assert.Equal(t, int64(now+60), c.Last)
			assert.InDelta(t, b2h+1, n2h, 1e-9)
			assert.InDelta(t, b2d+1, n2d, 1e-9)
			later, _ := c.At(now + 60 + 7200)
			assert.InDelta(t, n2h/2, later, 1e-9, "it decays again")
		})
	}
}

// TestCountsProperties: counts are finite and not negative, fall with time from the latest act on,
// and rise with acts, for any times.
func TestCountsProperties(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	time := func() int64 { return r.Int64N([]int64{10, 1e6, 1e10, feed.MaxItemTime}[r.IntN(4)]) }
	for range 2000 {
		var c feed.Counts
		for range 1 + r.IntN(20) {
			c = c.Add(time())
		}
		moment := time()
		a2h, a2d := c.At(moment)
		if moment+int64(feed.ActTolerance/1e9) < c.Last {
			require.Zero(t, a2h+a2d)
			moment = c.Last
			a2h, a2d = c.Latest()
		}
		b2h, b2d := c.At(moment + r.Int64N(1e6))
		more := c.Add(r.Int64N(max(1, moment)))
		m2h, m2d := more.At(more.Last)
		s2h, s2d := c.At(more.Last)
		for _, n := range []float64{a2h, a2d, b2h, b2d, m2h, m2d} {
			require.False(t, math.IsNaN(n) || math.IsInf(n, 0) || n < 0, "%v at %d: %v", c, moment, n)
		}
		require.LessOrEqual(t, b2h, a2h)
		require.LessOrEqual(t, b2d, a2d)
		require.GreaterOrEqual(t, m2h, s2h)
		require.GreaterOrEqual(t, m2d, s2d)
	}
}
