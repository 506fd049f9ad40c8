package history

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
)

func TestCandidates(t *testing.T) {
	t.Parallel()
	items := []feed.Item{{ID: "a"}, {ID: "b", UpdateTime: 10, GroupID: "story"}, {ID: "c", UpdateTime: 10}, {ID: "d", UpdateTime: 20, GroupID: "story"}, {ID: "e", UpdateTime: 30}}
	p := NewPast(items, 30*time.Second)
	assert.Equal(t, []int{3, 2, 0}, p.Candidates("u_1", 30, nil), "dated before the moment; as old as the window; of a group the newest")
	assert.Equal(t, []int{4, 3, 2}, p.Candidates("u_1", 31, nil), "older than the window")
	p.Add("u_1", 1)
	assert.False(t, p.IsFirst("u_1", 3))
	assert.Equal(t, []int{4, 2}, p.Candidates("u_1", 31, nil), "all of a group that was read")
	assert.Equal(t, []int{7, 4, 3, 2}, p.Candidates("u_2", 31, []int{7}), "but not by this one")
	assert.Equal(t, []int{0, 1, 1, 5}, []int{p.FirstAt(0), p.FirstAt(1), p.FirstAt(10), p.FirstAt(31)})
}

func TestReaders(t *testing.T) {
	t.Parallel()
	halfLives := []time.Duration{time.Hour, 24 * time.Hour}
	var r Readers
	assert.Zero(t, r.Decayed(0, 100, time.Hour))
	r.Add(0, halfLives)
	r.Add(3600, halfLives)
	assert.Equal(t, 2, r.Count)
	assert.InDelta(t, 0.75, r.Decayed(0, 7200, halfLives[0]), 1e-12)
	assert.InDelta(t, math.Exp2(-2.0/24)+math.Exp2(-1.0/24), r.Decayed(1, 7200, halfLives[1]), 1e-12)
}

// TestParameters: the parameters that moments have parts for are those of the ranking.
func TestParameters(t *testing.T) {
	t.Parallel()
	halfLives := map[string]time.Duration{}
	for _, w := range PopularityWeights() {
		halfLives[w.Name] = w.HalfLife
	}
	assert.Equal(t, []time.Duration{feed.ShortHalfLife, feed.LongHalfLife}, []time.Duration{halfLives["weight_2h"], halfLives["weight_2d"]})
	assert.NotContains(t, halfLives, "weight", "uploaded popularity is no live one")
	for _, name := range LearnedParameters() {
		_, known := feed.ParameterOf(name)
		assert.True(t, known, name)
	}
	for text, want := range map[string]time.Duration{"6h": 6 * time.Hour, "7d": 168 * time.Hour, "h": 0, "0h": 0, "-1d": 0, "2w": 0, "": 0} {
		got, ok := halfLifeOf(text)
		assert.Equal(t, want, got, text)
		assert.Equal(t, want > 0, ok, text)
	}
}

// TestSomeCandidates: of too many candidates, what is opened stays, the order stays, and the rank is
// estimated from the part.
func TestSomeCandidates(t *testing.T) {
	t.Parallel()
	var c Community
	for i := range 1000 {
		c.Items = append(c.Items, feed.Item{ID: string(rune('a'+i%26)) + time.Duration(i).String(), Title: "x", UpdateTime: int64(i)})
	}
	c.Clicks = []Click{{At: 2000, Reader: "u", Item: 960}}
	replayed := func(most int) Moment {
		all, err := Replay(t.Context(), &c, []int{0}, Options{Window: time.Hour, Most: most})
		require.NoError(t, err)
		require.Len(t, all, 1)
		return all[0]
	}
	m := replayed(250)
	assert.Len(t, m.Ages, 250)
	assert.Equal(t, []int{1000, 2000 - 960}, []int{m.Of, int(m.Ages[m.Clicked])})
	assert.True(t, slices.IsSorted(m.Ages), "newest first")
	assert.Equal(t, m, replayed(250), "the same for a click")

	var s Scorer
	byAge, err := feed.DefaultRanking().With("scale=24h,offset=0s,floor=0")
	require.NoError(t, err)
	s.Use(byAge)
	full := replayed(1000)
	assert.Equal(t, 39, full.Clicked)
	assert.Zero(t, s.NDCG(&full), "beyond the depth")
	c.Clicks[0].Item = 992 // the eighth
	full = replayed(1000)
	assert.InDelta(t, 1/math.Log2(9), s.NDCG(&full), 1e-12)
	m = replayed(250)
	assert.InDelta(t, s.NDCG(&full), s.NDCG(&m), 0.25)
	assert.Positive(t, s.NDCG(&m))

	c.Clicks[0] = Click{At: 2000, Reader: "u", Item: 3}
	none, err := Replay(t.Context(), &c, []int{0}, Options{Window: 100 * time.Second, Most: 100})
	require.NoError(t, err)
	assert.Empty(t, none, "no candidate")
}
