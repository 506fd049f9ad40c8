package fit

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/server/history"
)

func TestMain(m *testing.M) {
	testenv.FilesInMemory()
	m.Run()
}

const (
	day  = 24 * time.Hour
	week = 7 * day
)

// simulation generates a community. choose returns the weight with which a reader opens an item: by its
// age, its readers of the last day and of all time, and its quality, which is 0 to 1.
type simulation struct {
	seed                      uint64
	days, items, readers, per int // items a day; clicks a reader and day
	weight                    func(age time.Duration, lastDay, all int, quality float64) float64
}

func (s simulation) community() *history.Community {
	random := rand.New(rand.NewPCG(s.seed, 1))
	begin := time.Date(2026, 1, 5, 0, 0, 0, 0, time.UTC).Unix()
	c := &history.Community{}
	quality := make([]float64, s.days*s.items)
	clicked := make([][]int64, len(quality))
	for i := range quality {
		quality[i] = random.Float64()
		at := begin + int64(i)*86_400/int64(s.items)
		c.Items = append(c.Items, feed.Item{ID: fmt.Sprintf("i%d", i), Title: fmt.Sprintf("title number %d", i), UpdateTime: at})
	}
	past := history.NewPast(c.Items, week)
	clicks := s.days * s.readers * s.per
	for n := range clicks {
		at := begin + int64(n)*int64(s.days)*86_400/int64(clicks) + 1
		reader := fmt.Sprintf("u_%d", random.IntN(s.readers))
		list := past.Candidates(reader, at, nil)
		weights, sum := make([]float64, len(list)), 0.0
		for k, i := range list {
			lastDay := 0
			for _, t := range clicked[i] {
				if t > at-86_400 {
					lastDay++
				}
			}
			weights[k] = s.weight(time.Duration(at-c.Items[i].UpdateTime)*time.Second, lastDay, len(clicked[i]), quality[i])
			sum += weights[k]
		}
		draw := random.Float64() * sum
		for k, i := range list {
			draw -= weights[k]
			if draw < 0 || k == len(list)-1 {
				c.Clicks = append(c.Clicks, history.Click{At: at, Reader: reader, Item: i})
				past.Add(reader, i)
				clicked[i] = append(clicked[i], at)
				break
			}
		}
	}
	return c
}

func momentsOf(t testing.TB, c *history.Community, most int) []history.Moment {
	t.Helper()
	moments, err := history.Replay(t.Context(), c, Choose(c, week, most), history.Options{Window: week, HalfLife: feed.DefaultLearnedHalfLife, Most: 500})
	require.NoError(t, err)
	return moments
}

// slow is a community in which people open what others have opened within a day or more, of items that
// stay good for days. There are some two clicks an hour.
func slow(seed uint64) simulation {
	return simulation{seed: seed, days: 60, items: 8, readers: 50, per: 1, weight: func(age time.Duration, lastDay, _ int, quality float64) float64 {
		return quality * quality * quality * (0.1 + float64(lastDay)) * math.Exp2(-age.Hours()/96)
	}}
}

func TestFitFindsASlowCommunity(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	moments, evaluations := momentsOf(t, slow(1).community(), testenv.Steps(500, 3000)), testenv.Steps(400, 2000)
	p, err := Propose(t.Context(), feed.DefaultRanking(), moments, Config{Evaluations: evaluations})
	require.NoError(t, err)
	t.Logf("nDCG@20 %.3f, gain %.3f ± %.3f by %s", p.NDCG, p.Gain, p.Margin, p.Changes)
	assert.Equal(t, Change, p.Verdict)
	assert.Greater(t, p.Gain, 0.02)
	assert.Greater(t, p.Gain, p.Margin)
	assert.Len(t, p.Folds, parts-1)
	changed, err := p.Ranking.With(p.Changes)
	require.NoError(t, err)
	assert.Equal(t, p.Fitted, changed)
	names := map[string]bool{}
	for _, c := range p.Parameters {
		assert.NotEqual(t, c.From, c.To)
		names[c.Parameter] = true
	}
	assert.True(t, names["weight_2h"] || names["weight_2d"], "the time scale of popularity is wrong for it: %s", p.Changes)

	again, err := Propose(t.Context(), feed.DefaultRanking(), moments, Config{Evaluations: evaluations})
	require.NoError(t, err)
	assert.Equal(t, p, again, "the same clicks, the same proposal")

	// What was fitted once leaves nothing to be gained.
	p, err = Propose(t.Context(), p.Fitted, moments, Config{Evaluations: evaluations})
	require.NoError(t, err)
	assert.Less(t, p.Gain, 0.01, p.Changes)
}

// TestNoChangeForNoise: where readers open items at random, at most five of a hundred proposals change
// anything.
func TestNoChangeForNoise(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	runs, changes := testenv.Steps(2, 100), 0
	for seed := range uint64(runs) {
		s := simulation{seed: 100 + seed, days: 16, items: 6, readers: 60, per: 1, weight: func(time.Duration, int, int, float64) float64 { return 1 }}
		p, err := Propose(t.Context(), feed.DefaultRanking(), momentsOf(t, s.community(), 1000), Config{Evaluations: 400})
		require.NoError(t, err)
		if p.Verdict == Change {
			changes++
			t.Logf("seed %d: %.3f ± %.3f, %s", seed, p.Gain, p.Margin, p.Changes)
		}
	}
	t.Logf("changes for noise: %d of %d", changes, runs)
	assert.LessOrEqual(t, float64(changes), 0.05*float64(runs))
}

// flat has one candidate list after the other in which nothing tells items apart.
func flat(readers, n int) (list []history.Moment) {
	for i := range n {
		list = append(list, history.Moment{At: int64(1000 * (i + 1)), Reader: fmt.Sprint("u_", i%readers), Clicked: i % 3, Of: 3, Ages: []int32{10, 20, 30}})
	}
	return list
}

func TestTooLittle(t *testing.T) {
	t.Parallel()
	_, err := Propose(t.Context(), feed.DefaultRanking(), nil, Config{Evaluations: 40})
	require.ErrorContains(t, err, "too few clicks")
	same := flat(30, 100)
	for i := range same {
		same[i].At = 5
	}
	_, err = Propose(t.Context(), feed.DefaultRanking(), same, Config{Evaluations: 40})
	require.ErrorContains(t, err, "too few clicks at different times")
	_, err = Propose(t.Context(), feed.DefaultRanking(), flat(Fewest-1, 400), Config{Evaluations: 40})
	require.ErrorContains(t, err, "is 19, but at least 20 are needed")
	p, err := Propose(t.Context(), feed.DefaultRanking(), flat(Fewest, 400), Config{Evaluations: 40})
	require.NoError(t, err)
	assert.Equal(t, NoChange, p.Verdict)
}

func TestBounds(t *testing.T) {
	t.Parallel()
	moments := momentsOf(t, slow(2).community(), 300)
	calls := 0
	p, err := Propose(t.Context(), feed.DefaultRanking(), moments, Config{Evaluations: 100, Keep: []string{"curves", "co_read.weight"}, Progress: func(n int) {
		calls++
		assert.Equal(t, calls, n)
	}})
	require.NoError(t, err)
	assert.True(t, p.Exhausted)
	assert.Equal(t, calls, p.Evaluations)
	assert.LessOrEqual(t, calls, 100+parts*20, "besides those of the search, one for each start and each dial that goes home")
	assert.NotContains(t, p.Changes, "curves")
	assert.NotContains(t, p.Changes, "co_read")

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Propose(ended, feed.DefaultRanking(), moments, Config{Evaluations: 100})
	require.ErrorIs(t, err, context.Canceled)

	require.NoError(t, CheckKeep([]string{"curves", "weight_2h"}))
	require.ErrorContains(t, CheckKeep([]string{"wieght"}), `"wieght" is no parameter`)
}

// TestWeightsThatServersKeep: a weight of popularity that is 0 by default and in force is fitted only if it
// is named.
func TestWeightsThatServersKeep(t *testing.T) {
	t.Parallel()
	other := *history.PopularityWeights()[0].Parameter
	other.Default = 0
	w := history.PopularityWeight{Parameter: &other, HalfLife: time.Hour}
	without, err := feed.DefaultRanking().With(other.Name + "=0")
	require.NoError(t, err)
	assert.False(t, (&fitter{inForce: without}).fits(w))
	assert.True(t, (&fitter{inForce: feed.DefaultRanking()}).fits(w), "the ranking in force has it")
	assert.True(t, (&fitter{inForce: without, also: []string{other.Name}}).fits(w))
	assert.False(t, (&fitter{inForce: without, also: []string{other.Name}, keep: []string{other.Name}}).fits(w))
	require.NoError(t, CheckAlso([]string{other.Name}))
	require.ErrorContains(t, CheckAlso([]string{"base"}), `"base" is no weight of live popularity`)
}

// TestDials sets each dial of several rankings to both ends: the result is valid. Set to where it is, a
// dial changes nothing beyond rounding.
func TestDials(t *testing.T) {
	t.Parallel()
	all := history.Moment{Of: 1, Ages: []int32{1}, Declared: []float32{1}, Summaries: []float32{1}}
	for range history.PopularityWeights() {
		all.Readers = append(all.Readers, []float32{1})
	}
	for k := range history.LearnedParameters() {
		all.Learned[k] = []float32{1}
	}
	for _, changes := range []string{
		"", "curves=single", "scale=1h,offset=0s,weight_2h=300,base=900,summary=0", "co_read.weight=200,learned.tags=100",
		`curves=[{"shape":"exp","scale":"1s","weight":1000},{"shape":"linear","scale":"9h","weight":0.001},{"shape":"constant","weight":3}]`,
	} {
		r, err := feed.DefaultRanking().With(changes)
		require.NoError(t, err)
		f := &fitter{inForce: r, left: 1000}
		for _, start := range f.starts() {
			require.NoError(t, start.Validate(), start)
			s := f.newSearch(start, []history.Moment{all}, []float64{1})
			require.NotEmpty(t, s.dials)
			home := s.ranking(s.home)
			assert.Equal(t, s.base, home, "nothing changes at home")
			home.Decay = r.Decay
			assert.Equal(t, r, home)
			for i, d := range s.dials {
				for _, to := range []float64{d.least, d.most} {
					at := append([]float64{}, s.home...)
					at[i] = to
					got := s.ranking(at)
					require.NoError(t, got.Validate(), "%s at %v of %s", d.name, to, start)
					assert.InDelta(t, to, d.at(&got), 0.11*max(1, math.Abs(to)), "%s at %v of %s", d.name, to, start)
				}
			}
		}
	}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	c := &history.Community{Items: []feed.Item{{ID: "old", UpdateTime: 1}, {ID: "own", UpdateTime: 700_000, AuthorID: "u_1"}}}
	for i := range 20 {
		c.Items = append(c.Items, feed.Item{ID: fmt.Sprint("i", i), UpdateTime: 800_000})
	}
	add := func(at int64, reader string, item int) {
		c.Clicks = append(c.Clicks, history.Click{At: at, Reader: reader, Item: item})
	}
	add(800_000, "u_0", 2) // the first tenth, which warms up
	add(864_001, "u_1", 0) // older than the window
	add(864_002, "u_1", 1) // the reader's own
	add(864_003, "u_1", 2)
	add(864_004, "u_1", 2) // again
	add(864_005, "u_1", 3)
	add(864_006, "u_1", 4) // a third on that day
	add(864_007, "u_2", 2)
	add(950_401, "u_1", 5) // the next day
	add(950_402, "u_3", 5)
	got := Choose(c, week, 100)
	var texts []string
	for _, i := range got {
		texts = append(texts, fmt.Sprintf("%s %d", c.Clicks[i].Reader, c.Clicks[i].At))
	}
	text := strings.Join(texts, ", ")
	assert.Equal(t, 2, strings.Count(text, "u_1 86400"), "two of three first clicks: %s", text)
	assert.NotContains(t, text, "864001")
	assert.NotContains(t, text, "864002")
	assert.NotContains(t, text, "864004")
	assert.Contains(t, text, "u_2 864007, u_1 950401, u_3 950402")
	assert.Len(t, got, 5)
	few := Choose(c, week, 3)
	assert.Len(t, few, 3)
	assert.IsIncreasing(t, few)
	assert.Subset(t, got, few)
}
