package engine_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

// timeline is a source that cannot tell what its scores are made of.
type timeline struct{ from recall.Source }

func (timeline) Name() string { return "timeline" }

func (s timeline) Recall(ctx context.Context, q feed.Query) (recall.Result, error) {
	r, err := s.from.Recall(ctx, q)
	for i := range r.Candidates {
		r.Candidates[i].Source = "timeline"
	}
	return r, err
}

func TestExplainSeveralSources(t *testing.T) {
	a := source(aged("a1", "story", time.Minute), aged("a2", "", 30*time.Hour))
	b := source(aged("b1", "", 20*time.Hour), aged("b2", "story", 25*time.Hour))
	e := ranker(t, recall.NewShared(a, func() time.Time { return rankedAt }, recall.SharedConfig{TTL: time.Hour}), timeline{b})
	x, err := e.Explain(t.Context(), engine.ExplainRequest{Agent: "u_1", Limit: 5})
	require.NoError(t, err)
	var ids []string
	for _, c := range x.Candidates {
		ids = append(ids, c.ID)
		explained := c.Source == "memory"
		assert.Equal(t, explained, c.Relevance != nil, c.ID)
		assert.Equal(t, explained, c.Popularity != nil, c.ID)
	}
	assert.Equal(t, []string{"a1", "b1", "b2", "a2"}, ids, "merged by score")
	assert.Equal(t, engine.FateGroup, x.Candidates[2].Fate)
	assert.Equal(t, "a1", x.Candidates[2].Better)
	assert.Equal(t, 3, x.Counts.Gone, "they are in no catalog")
}

// TestExplainTopsUpAsADeliveryDoes pages what is all gone: after the page and
// two top-ups nobody looks further.
func TestExplainTopsUpAsADeliveryDoes(t *testing.T) {
	var items []feed.Item
	for i := range 10 {
		items = append(items, aged(fmt.Sprint("i", i), "", time.Duration(i)*time.Minute))
	}
	e := ranker(t, source(items...))
	for brief, gone := range map[bool]int{true: 6, false: 10} {
		x, err := e.Explain(t.Context(), engine.ExplainRequest{Agent: "u_1", Limit: 2, Brief: brief})
		require.NoError(t, err)
		assert.Equal(t, engine.ExplainCounts{Rounds: 1, Recalled: 10, Gone: gone, Kept: 10 - gone}, x.Counts)
		for _, c := range x.Candidates {
			assert.Equal(t, !brief, c.Relevance != nil)
			assert.Positive(t, c.Score)
			assert.Positive(t, c.Decay)
		}
	}
}
