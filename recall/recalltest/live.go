package recalltest

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

// livePopularity checks what acts on items change. A source that is no
// [recall.Counter] ranks as if there were none, whatever their weights.
func livePopularity(t *testing.T, open Open) {
	items := library()
	s := open(t, items)
	lively := ranking()
	lively.Popularity2h, lively.Popularity2d, lively.PopularityWeight = 1.5, 0.2, 0.3
	q := feed.Query{Ranking: lively, Origin: origin, N: 50, Profile: feed.Profile{
		Interests: map[string]float64{"go": 2, "data": 0.5}, Keywords: feed.Keywords("streams", "go news"),
	}}
	counter, ok := recall.Direct(s).(recall.Counter)
	if !ok {
		assertRanking(t, items, q, recallAll(t, s, q).Candidates)
		return
	}
	indexer := recall.Direct(s).(recall.Indexer)
	r := rand.New(rand.NewPCG(1, 2))
	acts := map[string][]int64{}
	check := func(t *testing.T) {
		t.Helper()
		live := map[string]Live{}
		for id, at := range acts {
			live[id] = liveAt(at, q.Origin)
		}
		got := recallAll(t, s, q).Candidates
		assertLive(t, items, live, q, got)
		for i, f := range explained(t, s, q, ids(got)) {
			assertMakesScore(t, q, got[i], f)
			assert.InDelta(t, live[got[i].ID].In2h, f.Count2h, 1e-9*(1+f.Count2h), got[i].ID)
			assert.InDelta(t, live[got[i].ID].In2d, f.Count2d, 1e-9*(1+f.Count2d), got[i].ID)
		}
		n := q
		n.N = 3
		assertLive(t, items, live, n, recallAll(t, s, n).Candidates)
	}
	counts := map[string]feed.Counts{}
	act := func(id string, at time.Time) {
		acts[id] = append(acts[id], at.Unix())
		counts[id] = counts[id].Add(at.Unix())
		before := explained(t, s, q, []string{id})[0]
		counter.SetCounts(map[string]feed.Counts{id: counts[id]})
		after := explained(t, s, q, []string{id})[0]
		assert.GreaterOrEqual(t, after.Score, before.Score, "an act never lowers %s", id)
		assert.False(t, math.IsInf(after.PopularityFactor, 0) || math.IsNaN(after.PopularityFactor) || after.PopularityFactor < 1 && after.Known, id)
	}
	check(t)
	for range 40 {
		it := items[r.IntN(len(items))]
		act(it.ID, origin.Add(-time.Duration(r.Int64N(int64(4*feed.LongHalfLife)))))
	}
	act("no such item", origin)
	check(t)
	before := explained(t, s, q, []string{"plain"})[0]

	items[6].Title, items[6].Likes = "Something to see", 4
	require.Equal(t, "plain", items[6].ID)
	indexer.Upsert(items[6:7])
	check(t)
	assert.Equal(t, before.Count2d, explained(t, s, q, []string{"plain"})[0].Count2d, "a newer version keeps its counts")

	indexer.Delete("plain")
	indexer.Upsert(items[6:7])
	delete(acts, "plain")
	check(t)
	q.Origin = origin.AddDate(0, 3, 0)
	check(t)
	for id := range acts {
		counter.SetCounts(map[string]feed.Counts{id: {}})
	}
	clear(acts)
	q.Origin = origin
	check(t)
}

// liveAt is the definition: each act counts 2^(−age/half-life).
func liveAt(acts []int64, origin time.Time) (live Live) {
	for _, at := range acts {
		age := float64(origin.Unix() - at)
		live.In2h += math.Pow(2, -age/7200)
		live.In2d += math.Pow(2, -age/172800)
	}
	return live
}
