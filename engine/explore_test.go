package engine_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
)

// exploring returns a rig over n items that explores a share of the positions.
func exploring(t *testing.T, share float64, n int) *rig {
	t.Helper()
	return newRig(t, n, func(_ *engine.Stores, cfg *engine.Config) {
		ranking := dayLong()
		ranking.Explore.Share = share
		cfg.Rankings = &feed.Live{Ranking: ranking}
	})
}

// drawnOf returns the positions, from 0, and the ids of the explored items of an answer.
func drawnOf(a engine.Answer) (at []int, ids []string) {
	for i, ref := range a.Refs {
		if ref.Source == feed.SourceExplore {
			at, ids = append(at, i), append(ids, a.Docs[i].ID)
		}
	}
	return at, ids
}

func TestExploration(t *testing.T) {
	t.Parallel()
	r := exploring(t, 0.1, 300)
	asked := engine.Request{Agent: "u", Action: engine.ActionRefresh, Limit: 20, RequestID: "r1", Why: true}
	explained, err := r.Explain(t.Context(), engine.ExplainRequest{Agent: "u", Limit: 20})
	require.NoError(t, err)
	first, err := r.Feed(t.Context(), asked)
	require.NoError(t, err)
	require.Len(t, first.Docs, 20)

	at, ids := drawnOf(first)
	require.Len(t, at, 2, "a tenth of twenty")
	for i, position := range at {
		assert.GreaterOrEqual(t, position, 5)
		assert.NotContains(t, run(0, 20), ids[i], "what would be on the page anyway is not drawn")
		assert.Equal(t, api.ReasonExplore, first.Why[position][0].Type)
		assert.LessOrEqual(t, len(first.Why[position]), engine.MaxReasons)
	}
	var told []string
	for _, c := range explained.Candidates {
		if c.Outcome == api.OutcomePaged && c.Variety.Source != "" {
			told = append(told, c.ID)
			assert.Equal(t, "explore", c.Variety.Source)
		}
	}
	assert.ElementsMatch(t, ids, told, "an explanation draws the same")

	again, err := r.Feed(t.Context(), asked)
	require.NoError(t, err)
	assert.Equal(t, first.Docs, again.Docs)
	assert.Equal(t, first.Refs, again.Refs)
	assert.Equal(t, ids, r.tally.explored, "told once")

	seen, drawn := map[string]bool{}, len(ids)
	for _, doc := range first.Docs {
		seen[doc.ID] = true
	}
	for page := 2; page <= 15; page++ {
		a, err := r.Feed(t.Context(), engine.Request{Agent: "u", Action: engine.ActionLoadMore, Limit: 20})
		require.NoError(t, err)
		require.Len(t, a.Docs, 20, "no page is shorter for it")
		at, _ := drawnOf(a)
		drawn += len(at)
		for _, doc := range a.Docs {
			require.False(t, seen[doc.ID], doc.ID)
			seen[doc.ID] = true
		}
	}
	assert.Len(t, seen, 300)
	assert.InDelta(t, 28, drawn, 2, "load_more says so, too; the last page has nothing behind it")
}

func TestExplorationIndependentPerReader(t *testing.T) {
	t.Parallel()
	r := exploring(t, 0.05, 300)
	shown, total := map[string]bool{}, 0
	for i := range 200 {
		a, err := r.Feed(t.Context(), engine.Request{Agent: fmt.Sprint("u", i), Action: engine.ActionRefresh, Limit: 10})
		require.NoError(t, err)
		require.Len(t, a.Docs, 10)
		_, ids := drawnOf(a)
		total += len(ids)
		for _, id := range ids {
			shown[id] = true
		}
	}
	assert.InDelta(t, 100, total, 40, "half a position of each page")
	assert.Greater(t, len(shown), total/2, "most of them differ")
}

func TestExplorationExclusions(t *testing.T) {
	t.Parallel()
	refresh := func(r *rig, limit int) engine.Answer {
		a, err := r.Feed(t.Context(), engine.Request{Agent: "u", Action: engine.ActionRefresh, Limit: limit})
		require.NoError(t, err)
		return a
	}
	for name, r := range map[string]*rig{"share 0": exploring(t, 0, 100), "nothing behind the page": exploring(t, 1, 20)} {
		a := refresh(r, 20)
		assert.Nil(t, sources(a), name)
		assert.Len(t, a.Docs, 20, name)
	}
	assert.Nil(t, sources(refresh(exploring(t, 1, 100), 5)), "the first five")
	old := exploring(t, 1, 20)
	for i := range 50 {
		old.put(t, aged(fmt.Sprintf("old%d", i), "", 80*time.Hour))
	}
	assert.Nil(t, sources(refresh(old, 20)), "only young items are drawn")

	r := exploring(t, 1, 100)
	a, err := r.Feed(t.Context(), engine.Request{Agent: "u", Action: engine.ActionRefresh, Limit: 20, Silent: true})
	require.NoError(t, err)
	assert.Nil(t, a.Refs, "a badge")

	all := exploring(t, 1, 100)
	require.NoError(t, all.PutProfile(t.Context(), "u", feed.Profile{MutedItems: run(50, 100)}))
	_, ids := drawnOf(refresh(all, 20))
	assert.Len(t, ids, 15)
	assert.Subset(t, run(20, 50), ids, "what the reader muted is not drawn")
}
