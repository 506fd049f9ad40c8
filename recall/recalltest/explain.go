package recalltest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

// explained returns the factors of items from the source behind s.
func explained(t *testing.T, s recall.Source, q feed.Query, ids []string) []recall.Factors {
	t.Helper()
	e, ok := recall.Direct(s).(recall.Explainer)
	require.True(t, ok, "%s must implement recall.Explainer", s.Name())
	factors, err := e.Explain(context.Background(), q, ids)
	require.NoError(t, err)
	require.Len(t, factors, len(ids))
	return factors
}

// assertMakesScore checks the candidate's factors and that their product is its score.
func assertMakesScore(t *testing.T, q feed.Query, c feed.Candidate, f recall.Factors) {
	t.Helper()
	require.True(t, f.Known, c.ID)
	assert.Equal(t, c.Group, f.Group, c.ID)
	assert.Equal(t, c.UpdateTime, f.UpdateTime, c.ID)
	assert.InEpsilon(t, c.Score, f.Relevance*f.Decay*f.PopularityFactor, tolerance, "the product of %s", c.ID)
	assert.InEpsilon(t, c.Score, f.Score, tolerance, "the score of %s", c.ID)
	assert.InEpsilon(t, popularityFactor(q.Ranking, Live{f.Count2h, f.Count2d, f.CountMore}, f.Popularity), f.PopularityFactor, 1e-12, c.ID)
	sum := q.Ranking.Base
	for _, gains := range [][]feed.Gain{f.Tags, f.Keywords} {
		for i, g := range gains {
			sum += g.Score
			assert.Positive(t, g.Score, "%s of %s", g.Name, c.ID)
			assert.True(t, i == 0 || gains[i-1].Score >= g.Score, "the highest comes first")
		}
	}
	for i, g := range f.Learned {
		sum += g.Score
		assert.True(t, g.Score > 0 && g.Factor == 0 || g.Score == 0 && g.Factor > 0 && g.Factor < 1, "%s of %s: %+v", g.Value, c.ID, g)
		assert.True(t, i == 0 || f.Learned[i-1].Score >= g.Score, "the highest comes first")
	}
	assert.InEpsilon(t, sum*f.LearnedFactor(), f.Relevance, 1e-9, c.ID)
}

func explanations(t *testing.T, open Open) {
	t.Run("by hand", func(t *testing.T) { explainedByHand(t, open) })
	t.Run("product", func(t *testing.T) { explainedProducts(t, open) })
	t.Run("what is not recalled", func(t *testing.T) { explainedAnyway(t, open) })
}

// explainedByHand compares with values calculated by hand, those of byHand.
func explainedByHand(t *testing.T, open Open) {
	s := open(t, []feed.Item{
		{ID: "fresh", Title: "alpha beta", Summary: "Gamma, beta", UpdateTime: ago(30 * time.Minute), Tags: []string{"x"}},
		{ID: "half", Title: "alpha", UpdateTime: ago(25 * time.Hour), Tags: []string{"x", "y"}, Likes: 5, Comments: 2, GroupID: "story"},
		{ID: "floor", Title: "gamma delta epsilon", UpdateTime: ago(1000 * time.Hour), Tags: []string{"y"}},
	})
	q := query(10, feed.Profile{
		Interests: map[string]float64{"x": 2, "y": 3, "z": 4, "none": 0}, Keywords: []feed.Keyword{
			{Term: "Alpha", Weight: 2}, {Term: "gamma beta", Weight: 3}, {Term: "Gamma delta", Weight: 0.5}, {Term: "nowhere", Weight: 1}, {Term: "alpha", Weight: 1},
		},
	})
	q.Ranking.PopularityWeight = 2
	f := explained(t, s, q, []string{"half", "floor", "no such item", "half", "fresh"})
	assert.Equal(t, f[0], f[3])
	assert.Equal(t, recall.Factors{}, f[2])
	assert.Equal(t, []feed.Gain{{Name: "Alpha", Score: 2, In: recall.InTitle}, {Name: "gamma beta", Score: 1.5, In: recall.InSummary}}, f[4].Keywords)

	assert.Equal(t, "story", f[0].Group)
	assert.Equal(t, ago(25*time.Hour), f[0].UpdateTime)
	assert.Equal(t, 0.1, f[0].Base)
	assert.Equal(t, []feed.Gain{{Name: "y", Score: 3}, {Name: "x", Score: 2}}, f[0].Tags)
	assert.Equal(t, []feed.Gain{{Name: "Alpha", Score: 2, In: recall.InTitle}}, f[0].Keywords)
	assert.InEpsilon(t, 0.1+5+2, f[0].Relevance, 1e-12)
	assert.InEpsilon(t, 0.5, f[0].Decay, 1e-12)
	assert.InDelta(t, 9, f[0].Popularity, 0)
	assert.InEpsilon(t, 3, f[0].PopularityFactor, 1e-12)

	assert.Equal(t, "floor", f[1].Group)
	assert.Equal(t, []feed.Gain{{Name: "y", Score: 3}}, f[1].Tags)
	assert.Equal(t, []feed.Gain{{Name: "Gamma delta", Score: 0.5, In: recall.InTitle}}, f[1].Keywords)
	assert.InEpsilon(t, 1e-6, f[1].Decay, 1e-12)
	assert.InDelta(t, 0, f[1].Popularity, 0)
	assert.InDelta(t, 1, f[1].PopularityFactor, 0)
}

func explainedProducts(t *testing.T, open Open) {
	s := open(t, library())
	popular := ranking()
	popular.PopularityWeight = 0.7
	interests := map[string]float64{"go": 2, "rust": 0.5, "data": 1.25, "news": 0}
	for name, q := range map[string]feed.Query{
		"no profile":      {Ranking: ranking()},
		"interests":       {Ranking: ranking(), Profile: feed.Profile{Interests: interests}},
		"keywords":        {Ranking: ranking(), Profile: feed.Profile{Keywords: feed.Keywords("GO streams", "go news", "word3", "read", "go")}},
		"everything":      {Ranking: popular, Profile: feed.Profile{Interests: interests, Keywords: feed.Keywords("data", "go")}},
		"fractional time": {Ranking: popular, Origin: origin.Add(400 * time.Millisecond)},
		"learned":         {Ranking: learning(), Profile: feed.Profile{Interests: interests, Learned: lessons()}},
	} {
		t.Run(name, func(t *testing.T) {
			if q.Origin.IsZero() {
				q.Origin = origin
			}
			q.N = 50
			got := recallAll(t, s, q).Candidates
			for i, f := range explained(t, s, q, ids(got)) {
				assertMakesScore(t, q, got[i], f)
			}
		})
	}
}

// explainedAnyway explains items that no recall returns; they must have the same factors as if
// they were recalled.
func explainedAnyway(t *testing.T, open Open) {
	items := library()
	s := open(t, items)
	all := make([]string, len(items))
	for i := range items {
		all[i] = items[i].ID
	}
	interests := map[string]float64{"go": 2, "data": 1.25}
	plain := query(1, feed.Profile{Interests: interests})
	refusing := query(1, feed.Profile{
		Interests: interests, Langs: []string{"fr"}, MutedTags: []string{"go"}, MutedAuthors: []string{"ann"},
	})
	refusing.Since = origin
	want := explained(t, s, plain, all)
	assert.Equal(t, want, explained(t, s, refusing, all))

	future := want[slices.Index(all, "future")]
	assert.True(t, future.Known)
	assert.Equal(t, 1.0, future.Decay, "a second off either way")
	assert.InEpsilon(t, 2.1, future.Relevance, tolerance)

	assert.Empty(t, explained(t, s, plain, nil))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := recall.Direct(s).(recall.Explainer).Explain(ctx, plain, all)
	assert.ErrorIs(t, err, context.Canceled)
}

// ExplainParity compares the explanations of two sources that hold the same items, for the
// first candidates of queries of every kind at the given origin.
func ExplainParity(t *testing.T, a, b recall.Source, origin time.Time) {
	for _, tc := range parityQueries() {
		t.Run(tc.name, func(t *testing.T) {
			q := feed.Query{Profile: tc.profile, Ranking: learning(), Origin: origin, N: 500}
			q.Ranking.PopularityWeight = tc.popularity
			got := recallAll(t, a, q).Candidates
			first, second := explained(t, a, q, ids(got)), explained(t, b, q, ids(got))
			for i, c := range got {
				assertMakesScore(t, q, c, first[i])
				assertSameFactors(t, c.ID, first[i], second[i])
			}
		})
	}
}

func assertSameFactors(t *testing.T, id string, a, b recall.Factors) {
	t.Helper()
	assertSameGains(t, id, a.Tags, b.Tags)
	assertSameGains(t, id, a.Keywords, b.Keywords)
	assert.InEpsilon(t, a.Relevance, b.Relevance, parityTolerance, id)
	assert.InEpsilon(t, a.Score, b.Score, parityTolerance, id)
	// Values that are not float32 in either source must be identical.
	a.Tags, a.Keywords, a.Relevance, a.Score = nil, nil, 0, 0
	b.Tags, b.Keywords, b.Relevance, b.Score = nil, nil, 0, 0
	assert.Equal(t, a, b, id)
}

// assertSameGains compares by name, because gains with nearly equal scores may be in a
// different order.
func assertSameGains(t *testing.T, id string, a, b []feed.Gain) {
	t.Helper()
	require.Len(t, b, len(a), "%s: %v and %v", id, a, b)
	other := make(map[string]feed.Gain, len(b))
	for _, g := range b {
		other[g.Name] = g
	}
	for _, g := range a {
		assert.InEpsilon(t, g.Score, other[g.Name].Score, parityTolerance, "%s of %s", g.Name, id)
		assert.Equal(t, g.In, other[g.Name].In, "%s of %s", g.Name, id)
	}
}
