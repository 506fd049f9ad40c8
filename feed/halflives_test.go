package feed_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

var furtherHalfLives = [...]time.Duration{time.Hour, 6 * time.Hour, 24 * time.Hour, 7 * 24 * time.Hour}

// TestMoreCountsOverMonths compares the counts of further half-lives with the definition while time
// advances by years, over many epochs, with pauses of up to months.
func TestMoreCountsOverMonths(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 7))
	now := int64(1_700_000_000)
	var c feed.Counts
	var acts []int64
	for range 300 {
		now += r.Int64N([]int64{10, 3600, 86_400, 40 * 86_400, 200 * 86_400}[r.IntN(5)])
		at := now - r.Int64N(3600)
		acts = append(acts, at)
		c = feed.AllHalfLives.Add(c, at)
		for _, later := range []int64{3600, 86_400, 30 * 86_400} {
			got := c.MoreAt(now + later)
			for i, halfLife := range furtherHalfLives {
				require.InEpsilon(t, 1+direct(acts, now+later, halfLife), 1+got[i], 1e-9, halfLife)
			}
		}
	}
	last := acts[len(acts)-1]
	c = feed.AllHalfLives.Subtract(c, last)
	got := c.MoreAt(now)
	for i, halfLife := range furtherHalfLives {
		require.InDelta(t, direct(acts[:len(acts)-1], now, halfLife), got[i], 1e-6, halfLife)
	}
}

// listed returns the counts of further half-lives at noon.
func listed(c feed.Counts) []float64 {
	all := c.MoreAt(1_772_798_400)
	return all[:]
}

func TestHalfLivesKeptAlone(t *testing.T) {
	t.Parallel()
	const noon = int64(1_772_798_400)
	hour, err := feed.HalfLivesOf([]string{"2d", "1h", "2h"})
	require.NoError(t, err)
	both, err := feed.HalfLivesOf([]string{"1h", "2h", "2d", "7d"})
	require.NoError(t, err)

	c := hour.Add(feed.Counts{}, noon)
	assert.InDeltaSlice(t, []float64{1, 0, 0, 0}, listed(c), 1e-9)
	c = both.Add(c, noon)
	assert.InDeltaSlice(t, []float64{2, 0, 0, 1}, listed(c), 1e-9, "one that is added begins at zero")
	c = hour.Add(c, noon)
	assert.InDeltaSlice(t, []float64{3, 0, 0, 0}, listed(c), 1e-9, "one that is removed is dropped")
	c = feed.HalfLives(0).Add(c, noon)
	assert.Nil(t, c.More)
	short, long := c.At(noon)
	assert.InDeltaSlice(t, []float64{4, 4}, []float64{short, long}, 1e-9, "the two of all counts never stop")

	assert.Equal(t, feed.PerHalfLife{}, both.Add(c, noon).MoreAt(noon-int64(feed.ActTolerance/time.Second)-1), "before the latest act nothing is known")
}

// TestMoreCountsBesideOthers changes the time of the latest act as a server does that does not keep the
// further sums.
func TestMoreCountsBesideOthers(t *testing.T) {
	t.Parallel()
	const noon = int64(1_772_798_400)
	for _, days := range []int64{1, 5, 30, 300} {
		c := feed.AllHalfLives.Add(feed.Counts{}, noon)
		later := noon + days*86_400
		c = c.Add(later)
		got := c.MoreAt(later)
		for i, halfLife := range furtherHalfLives {
			assert.InDelta(t, direct([]int64{noon}, later, halfLife), got[i], 1e-12, "%d days, %s", days, halfLife)
		}
		c = feed.AllHalfLives.Add(c, later)
		got = c.MoreAt(later)
		for i, halfLife := range furtherHalfLives {
			assert.InDelta(t, direct([]int64{noon, later}, later, halfLife), got[i], 1e-12, "%d days, %s", days, halfLife)
		}
	}
	ahead := feed.AllHalfLives.Add(feed.Counts{}, noon+400*86_400) // its clock was ahead
	back := ahead.Add(noon)                                        // the other server dates it back
	got := feed.AllHalfLives.Add(back, noon).MoreAt(noon)
	for i := range got {
		assert.InDelta(t, 1, got[i], 1e-12)
	}
	got = feed.AllHalfLives.Add(ahead, noon).MoreAt(noon)
	for i := range got {
		assert.InDelta(t, 2, got[i], 1e-12, "dated back by the server itself, both acts count")
	}
}

func TestHalfLivesOf(t *testing.T) {
	t.Parallel()
	all, err := feed.HalfLivesOf(feed.HalfLifeNames)
	require.NoError(t, err)
	assert.Equal(t, feed.AllHalfLives, all)
	none, err := feed.HalfLivesOf([]string{"2h", "2d"})
	require.NoError(t, err)
	assert.Zero(t, none)
	for _, bad := range [][]string{nil, {"2h"}, {"1h", "2d"}, {"2h", "2d", "3h"}, {"2h", "2d", "24h"}} {
		_, err := feed.HalfLivesOf(bad)
		require.ErrorIs(t, err, feed.ErrInvalid, "%v", bad)
	}
}

func TestWeightOfSumThatIsNotKept(t *testing.T) {
	t.Parallel()
	for i, name := range []string{"1h", "6h", "1d", "7d"} {
		r := feed.DefaultRanking()
		require.NoError(t, feed.HalfLives(0).Check(r))
		r, err := r.With("weight_" + name + "=1.5")
		require.NoError(t, err)
		assert.Equal(t, 1.5, r.PopularityMore[i])
		err = feed.HalfLives(0).Check(r)
		require.ErrorIs(t, err, feed.ErrInvalid)
		require.ErrorContains(t, err, "popularity.weight_"+name+" must be 0 unless the setting popularity.half_lives has "+name)
		require.NoError(t, feed.HalfLives(1<<i).Check(r))
		require.NoError(t, feed.HalfLives(0).Check(r.WithoutLive()))
	}
}

func TestMorePopularity(t *testing.T) {
	t.Parallel()
	r := feed.Ranking{PopularityMore: feed.PerHalfLife{2, 0, 1, 0.5}}
	assert.InDelta(t, 2*1+1*2+0.5*3, r.MorePopularity(feed.PerHalfLife{9, 1e6, 99, 999}), 1e-12)
	assert.True(t, r.LivePopularity())
	r = r.WithoutLive()
	assert.False(t, r.LivePopularity())
	assert.Zero(t, r.MorePopularity(feed.PerHalfLife{9, 9, 9, 9}))
}
