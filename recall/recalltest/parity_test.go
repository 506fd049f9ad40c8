package recalltest_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	catalogelastic "github.com/freshet/freshet/catalog/elastic"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/esindex"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/recall"
	recallelastic "github.com/freshet/freshet/recall/elastic"
	recallmemory "github.com/freshet/freshet/recall/memory"
	"github.com/freshet/freshet/recall/recalltest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// both writes the items to a new index with one shard and to memory.
func both(t *testing.T, items []feed.Item) (inElastic, inMemory recall.Source) {
	t.Helper()
	inElastic, inMemory, _ = bothCounting(t, items)
	return inElastic, inMemory
}

// bothCounting also returns a function that sets the counts of items in both.
func bothCounting(t *testing.T, items []feed.Item) (inElastic, inMemory recall.Source, set func(map[string]feed.Counts)) {
	t.Helper()
	address, index := testenv.Elastic(t)
	client, err := esindex.Connect(esindex.ClientConfig{Addresses: []string{address}})
	require.NoError(t, err)
	ctx := context.Background()
	_, err = esindex.Ensure(ctx, client, index, esindex.Fields{})
	require.NoError(t, err)
	require.NoError(t, esindex.AddFields(ctx, client, index, esindex.Fields{}, feed.AllHalfLives))
	own := esindex.OwnSchema(esindex.Fields{})
	own.More = feed.AllHalfLives
	schema := esindex.Known(own)
	c := catalogelastic.New(client, catalogelastic.Config{Index: index, Schema: schema})
	for part := range slices.Chunk(items, 5000) {
		refused, err := c.Put(ctx, part)
		require.NoError(t, err)
		require.Nil(t, refused)
	}
	require.NoError(t, c.Refresh(ctx))
	m := recallmemory.New()
	m.Upsert(items)
	return recallelastic.New(client, recallelastic.Config{Index: index, Schema: schema}), m, func(counts map[string]feed.Counts) {
		unknown, again, err := c.SetCounts(ctx, counts)
		require.NoError(t, err)
		require.Empty(t, append(unknown, again...))
		require.NoError(t, c.Refresh(ctx))
		m.SetCounts(counts)
	}
}

func TestParity(t *testing.T) {
	testenv.WithoutRace(t)
	posts := testenv.Posts(t)
	inElastic, inMemory := both(t, posts)
	now := time.Date(2016, 7, 15, 18, 30, 0, 0, time.UTC)
	recalltest.Parity(t, inElastic, inMemory, now)
	t.Run("explained", func(t *testing.T) {
		recalltest.ExplainParity(t, inElastic, inMemory, now)
		recalltest.ExplainParity(t, inMemory, inElastic, now.AddDate(0, 0, -10))
	})

	// A sparse profile long after the posts: everything is on the floor.
	t.Run("years later", func(t *testing.T) {
		recalltest.Parity(t, inElastic, inMemory, now.AddDate(2, 0, 0))
	})
	t.Run("one score by hand", func(t *testing.T) {
		byHand(t, []recall.Source{inElastic, inMemory})
	})
}

// TestLiveParity lets many readers act on real posts of the preceding days, and compares the
// sources at that time, at and after the end of an epoch of the short count, and months later.
func TestLiveParity(t *testing.T) {
	testenv.WithoutRace(t)
	t.Parallel()
	posts := testenv.Posts(t)
	now := time.Date(2016, 7, 15, 18, 30, 0, 0, time.UTC)
	posts = slices.DeleteFunc(posts, func(it feed.Item) bool {
		return it.UpdateTime > now.Unix() || it.UpdateTime < now.AddDate(0, 0, -60).Unix()
	})
	inElastic, inMemory, set := bothCounting(t, posts)
	r := rand.New(rand.NewPCG(7, 11))
	counts := map[string]feed.Counts{}
	for range 3000 {
		it := posts[int(float64(len(posts))*math.Pow(r.Float64(), 3))]
		age := now.Unix() - it.UpdateTime
		counts[it.ID] = feed.AllHalfLives.Add(counts[it.ID], it.UpdateTime+int64(float64(age)*r.Float64()))
	}
	set(counts)
	for _, after := range []time.Duration{0, time.Hour, 100 * time.Hour, 200 * time.Hour, 60 * 24 * time.Hour, 500 * 24 * time.Hour} {
		t.Run(after.String(), func(t *testing.T) { recalltest.LiveParity(t, inElastic, inMemory, now.Add(after)) })
	}
}

// byHand checks one post's score in both sources against a calculation by hand.
func byHand(t *testing.T, sources []recall.Source) {
	// {"id":"hn_10248191","title":"Memspector: Inspect memory usage of Python functions",
	//  "tags":["github.com"],"update_time":1442782980,"likes":27,"comments":1}
	const (
		id, updated = "hn_10248191", 1442782980
		popularity  = 27 + 2*1
	)
	// 13 hours old: 12 beyond the offset, which is half the scale, so the exponent of 0.5 is
	// (1/2)².
	want := (0.1 + 2 + 1 + 0.75) * math.Pow(0.5, 0.25) * (1 + 0.5*math.Log10(1+popularity))

	q := feed.Query{
		Profile: feed.Profile{Interests: map[string]float64{"github.com": 2}, Keywords: []feed.Keyword{
			{Term: "Python", Weight: 1}, {Term: "memory usage of python", Weight: 0.75}, {Term: "usage memory", Weight: 50},
		}},
		Ranking: feed.Ranking{
			Base: 0.1, PopularityWeight: 0.5,
			Decay: feed.Decay{Scale: 24 * time.Hour, Offset: time.Hour, Decay: 0.5, Floor: 1e-6},
		},
		Origin: time.Unix(updated+13*3600, 0), N: 100,
	}
	for _, s := range sources {
		r, err := s.Recall(context.Background(), q)
		require.NoError(t, err)
		i := slices.IndexFunc(r.Candidates, func(c feed.Candidate) bool { return c.ID == id })
		require.GreaterOrEqual(t, i, 0, "%s does not recall %s", s.Name(), id)
		assert.InEpsilon(t, want, r.Candidates[i].Score, 1e-5, s.Name())
	}
}
