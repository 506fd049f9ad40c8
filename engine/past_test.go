package engine_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
)

// TestPastWithoutLivePopularity: more than ten minutes ago, nobody is known to have clicked. An
// explanation and a comparison then leave live popularity out and say so.
func TestPastWithoutLivePopularity(t *testing.T) {
	t.Parallel()
	lively := dayLong()
	lively.Popularity2h, lively.Popularity2d = 2, 1
	r := newRig(t, 0, func(_ *engine.Stores, cfg *engine.Config) { cfg.Rankings = &feed.Live{Ranking: lively} })
	r.put(t, aged("new", "", 72*time.Hour), aged("clicked", "", 75*time.Hour), aged("before", "", 76*time.Hour))
	act := rankedAt.Add(-time.Minute).Unix()
	long := rankedAt.Add(-71 * time.Hour).Unix()
	r.index.SetCounts(map[string]feed.Counts{"clicked": feed.Counts{}.Add(act).Add(act), "before": feed.Counts{}.Add(long).Add(long)})
	for name, tt := range map[string]struct {
		at      time.Duration // before now
		ranking *feed.Ranking
		readers float64
		leftOut []string
		first   string
	}{
		"now":                  {readers: 2, first: "clicked"},
		"before the click":     {at: 5 * time.Minute, readers: 2, first: "clicked"},
		"as early as it goes":  {at: feed.ActTolerance, readers: 2, first: "clicked"},
		"too early":            {at: feed.ActTolerance + time.Second, leftOut: []string{api.LeftOutLive}, first: "new"},
		"days ago":             {at: 48 * time.Hour, leftOut: []string{api.LeftOutLive}, first: "new"},
		"nothing to leave out": {at: 48 * time.Hour, ranking: new(dayLong()), first: "new"},
	} {
		t.Run(name, func(t *testing.T) {
			asked := engine.ExplainRequest{Agent: "u", Limit: 3, Item: "clicked", Ranking: tt.ranking}
			if tt.at > 0 {
				asked.At = rankedAt.Add(-tt.at)
			}
			x, err := r.Explain(t.Context(), asked)
			require.NoError(t, err)
			assert.Equal(t, tt.first, x.Candidates[0].ID)
			assert.Equal(t, tt.leftOut, x.LeftOut)
			if tt.readers > 0 {
				assert.InDelta(t, tt.readers, x.Item.Popularity.Readers2h.Count, 0.02)
			} else {
				for _, c := range x.Candidates {
					assert.Nil(t, c.Popularity.Readers2d, c.ID)
					assert.InDelta(t, 1, c.Popularity.Factor, 0, c.ID)
				}
			}
			ranking := lively
			if tt.ranking != nil {
				ranking = *tt.ranking
			}
			assert.Equal(t, ranking, x.Ranking, "the parameters are those in force")
			assert.Equal(t, tt.leftOut, r.LeftOut(asked.At, dayLong(), ranking))
			_, lists, err := r.Rank(t.Context(), "u", asked.At, 3, ranking)
			require.NoError(t, err)
			assert.Equal(t, tt.first, lists[0][0].ID)
		})
	}
}

// TestPastWithoutWhatWasLearnedLater: what a reader did later must not rank for a moment before it.
func TestPastWithoutWhatWasLearnedLater(t *testing.T) {
	t.Parallel()
	learns := dayLong()
	learns.Learned = feed.LearnedWeights{Words: 3}
	r := newRig(t, 0, func(_ *engine.Stores, cfg *engine.Config) { cfg.Rankings = &feed.Live{Ranking: learns} })
	r.put(t, feed.Item{ID: "new", Title: "nothing else", UpdateTime: rankedAt.Add(-72 * time.Hour).Unix()},
		feed.Item{ID: "alike", Title: "volcano", UpdateTime: rankedAt.Add(-75 * time.Hour).Unix()})
	at := rankedAt.Add(-time.Hour)
	learn := func(l *feed.Learning) bool {
		l.At, l.Features = at.Unix(), []feed.LearnedFeature{{Feature: feed.Feature{Kind: feed.FeatureWord, Value: "volcano"}, Evidence: 9}}
		return true
	}
	require.NoError(t, r.stores.Catalog.Learn(t.Context(), "u", learn))
	for ago, want := range map[time.Duration]string{0: "alike", time.Hour: "alike", time.Hour + feed.ActTolerance: "alike", 2 * time.Hour: "new"} {
		var left []string
		if want == "new" {
			left = []string{api.LeftOutLearned}
		}
		x, err := r.Explain(t.Context(), engine.ExplainRequest{Agent: "u", Limit: 3, At: rankedAt.Add(-ago)})
		require.NoError(t, err)
		assert.Equal(t, want, x.Candidates[0].ID, ago)
		assert.Equal(t, left, x.LeftOut, ago)
		_, lists, err := r.Rank(t.Context(), "u", rankedAt.Add(-ago), 3, learns)
		require.NoError(t, err)
		assert.Equal(t, want, lists[0][0].ID, ago)
	}
}
