package recalltest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

// livePopularity checks the effect of acts on items. A source that is not a [recall.Counter]
// must rank as if there were no acts, whatever their weights.
func livePopularity(t *testing.T, open Open) {
	t.Run("2 h and 2 d", func(t *testing.T) { checkLive(t, open, feed.PerHalfLife{}) })
	t.Run("further half-lives", func(t *testing.T) { checkLive(t, open, feed.PerHalfLife{1.5, 0, 0.7, 3}) })
	t.Run("one further half-life", func(t *testing.T) { checkLive(t, open, feed.PerHalfLife{0, 2}) })
}

func checkLive(t *testing.T, open Open, more feed.PerHalfLife) {
	items := library()
	s := open(t, items)
	lively := ranking()
	lively.Popularity2h, lively.Popularity2d, lively.PopularityWeight, lively.PopularityMore = 1.5, 0.2, 0.3, more
	q := feed.Query{Ranking: lively, Origin: origin, N: 50, Profile: feed.Profile{
		Interests: map[string]float64{"go": 2, "data": 0.5}, Keywords: feed.Keywords("streams", "go news"),
	}}
	counter, ok := recall.Direct(s).(recall.Counter)
	if !ok {
		assertRanking(t, items, q, recallAll(t, s, q).Candidates)
		return
	}
	l := &liveCheck{source: s, counter: counter, items: items, q: q, acts: map[string][]int64{}, counts: map[string]feed.Counts{}}
	l.assert(t)
	r := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		l.act(t, items[r.IntN(len(items))].ID, origin.Add(-time.Duration(r.Int64N(int64(4*feed.LongHalfLife)))))
	}
	l.act(t, "no such item", origin)
	l.assert(t)
	l.newVersion(t)
	l.origins(t)

	l.q.Origin = origin.AddDate(0, 3, 0)
	l.assert(t)
	for id := range l.acts {
		counter.SetCounts(map[string]feed.Counts{id: {}})
	}
	clear(l.acts)
	l.q.Origin = origin
	l.assert(t)
}

// liveCheck compares a source with the acts on its items.
type liveCheck struct {
	source  recall.Source
	counter recall.Counter
	items   []feed.Item
	q       feed.Query
	acts    map[string][]int64
	counts  map[string]feed.Counts
}

// assert checks the ranking by the acts so far, in full and for the first three candidates.
func (l *liveCheck) assert(t *testing.T) {
	t.Helper()
	live := map[string]Live{}
	for id, at := range l.acts {
		live[id] = liveAt(at, l.q.Origin)
	}
	got := recallAll(t, l.source, l.q).Candidates
	assertLive(t, l.items, live, l.q, got)
	for i, f := range explained(t, l.source, l.q, ids(got)) {
		assertMakesScore(t, l.q, got[i], f)
		assert.InDelta(t, live[got[i].ID].In2h, f.Count2h, 1e-9*(1+f.Count2h), got[i].ID)
		assert.InDelta(t, live[got[i].ID].In2d, f.Count2d, 1e-9*(1+f.Count2d), got[i].ID)
		for k, want := range live[got[i].ID].More {
			if l.q.Ranking.PopularityMore[k] > 0 {
				assert.InDelta(t, want, f.CountMore[k], 1e-9*(1+want), got[i].ID)
			}
		}
	}
	first := l.q
	first.N = 3
	assertLive(t, l.items, live, first, recallAll(t, l.source, first).Candidates)
}

// act counts an act on an item, which must not lower its score.
func (l *liveCheck) act(t *testing.T, id string, at time.Time) {
	t.Helper()
	l.acts[id] = append(l.acts[id], at.Unix())
	l.counts[id] = feed.AllHalfLives.Add(l.counts[id], at.Unix())
	before := l.explain(t, id)
	l.counter.SetCounts(map[string]feed.Counts{id: l.counts[id]})
	after := l.explain(t, id)
	assert.GreaterOrEqual(t, after.Score, before.Score, "an act never lowers %s", id)
	assert.False(t, math.IsInf(after.PopularityFactor, 0) || math.IsNaN(after.PopularityFactor) || after.PopularityFactor < 1 && after.Known, id)
}

// origins checks the ranking before, at and after the latest act of three items, one of which has
// its own some minutes later.
func (l *liveCheck) origins(t *testing.T) {
	t.Helper()
	last := origin.Add(time.Hour)
	l.q.Origin = last
	for id, ages := range map[string][]time.Duration{"scale": {0}, "days": {0, time.Minute, 40 * time.Hour}, "older": {-4 * time.Minute, 0}} {
		for _, age := range ages {
			l.act(t, id, last.Add(-age))
		}
	}
	for _, after := range []time.Duration{
		-48 * time.Hour, -2 * time.Hour, -feed.ActTolerance - time.Second, -feed.ActTolerance, -5 * time.Minute, -time.Second, 0, time.Second, 4 * time.Minute, 3 * time.Hour,
	} {
		l.q.Origin = last.Add(after)
		l.assert(t)
		one := l.explain(t, "scale")
		assert.Equal(t, after < -feed.ActTolerance, one.Count2h == 0, "%v after the act", after)
		assert.LessOrEqual(t, one.Count2d, float64(len(l.acts["scale"])), "no act counts for more than one")
	}
	l.q.Origin = origin
}

func (l *liveCheck) explain(t *testing.T, id string) recall.Factors {
	t.Helper()
	return explained(t, l.source, l.q, []string{id})[0]
}

// newVersion checks that a newer version of an item keeps its counts, and that an item that is
// added again after a deletion has none.
func (l *liveCheck) newVersion(t *testing.T) {
	t.Helper()
	indexer := recall.Direct(l.source).(recall.Indexer)
	before := l.explain(t, "plain")
	l.items[6].Title, l.items[6].Likes = "Something to see", 4
	require.Equal(t, "plain", l.items[6].ID)
	indexer.Upsert(l.items[6:7])
	l.assert(t)
	assert.Equal(t, before.Count2d, l.explain(t, "plain").Count2d, "a newer version keeps its counts")

	indexer.Delete("plain")
	indexer.Upsert(l.items[6:7])
	delete(l.acts, "plain")
	l.assert(t)
}

// liveAt implements the definition: each act counts 2^(−age/half-life). If the latest one is after
// the origin, all count as at that act, or not at all if it is more than the tolerance later.
func liveAt(acts []int64, origin time.Time) (live Live) {
	moment := max(origin.Unix(), slices.Max(acts))
	if moment > origin.Add(feed.ActTolerance).Unix() {
		return live
	}
	for _, at := range acts {
		age := float64(moment - at)
		live.In2h += math.Pow(2, -age/7200)
		live.In2d += math.Pow(2, -age/172800)
		for i, hours := range []float64{1, 6, 24, 168} {
			live.More[i] += math.Pow(2, -age/3600/hours)
		}
	}
	return live
}
