package engine_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

// unexplained is a source that cannot tell what its scores are made of.
type unexplained struct{ from recall.Source }

func (unexplained) Name() string { return "unexplained" }

func (s unexplained) Recall(ctx context.Context, q feed.Query) (recall.Result, error) {
	r, err := s.from.Recall(ctx, q)
	for i := range r.Candidates {
		r.Candidates[i].Source = "unexplained"
	}
	return r, err
}

func TestExplainSeveralSources(t *testing.T) {
	a := source(aged("a1", "story", time.Minute), aged("a2", "", 30*time.Hour))
	b := source(aged("b1", "", 20*time.Hour), aged("b2", "story", 25*time.Hour))
	e := ranker(t, recall.NewFront(a, func() time.Time { return rankedAt }, recall.FrontConfig{Share: time.Hour}), unexplained{b})
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
	assert.Equal(t, engine.OutcomeGroup, x.Candidates[2].Outcome)
	assert.Equal(t, "a1", x.Candidates[2].Better)
	assert.Equal(t, 3, x.Counts.Gone, "they are in no catalog")
}

// An explanation builds the page that a refresh does, also where recall finds what
// is gone, or content cannot be read.
func TestExplainDealsAsARefreshDoes(t *testing.T) {
	for name, c := range map[string]struct {
		gone   []string
		cached []string // nil: the catalog is up
		blind  bool     // the dedup store is down
		want   []string
	}{
		"nothing is gone":        {want: run(0, 4)},
		"more than two top-ups":  {gone: run(3, 6), want: run(0, 3)},
		"all of several pages":   {gone: run(0, 13), want: run(13, 16)},
		"all but the end":        {gone: run(0, 19), want: run(19, 20)},
		"everything":             {gone: run(0, 20), want: []string{}},
		"what cannot be read":    {cached: []string{"i001", "i003", "i004"}, want: []string{"i001", "i003"}},
		"a page of no session":   {gone: run(1, 2), blind: true, want: []string{"i000", "i002", "i003"}},
		"gone, and some to read": {gone: run(0, 2), cached: run(2, 10), want: run(2, 4)},
	} {
		for _, brief := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, brief %t", name, brief), func(t *testing.T) {
				r := newRig(t, 20, func(_ *engine.Stores, cfg *engine.Config) { cfg.RecordServed = false })
				r.removeBehind(t, c.gone...)
				if c.cached != nil {
					r.catalog.down(catalog.ErrUnavailable, "Docs", "Hydrate")
					r.catalog.cached = c.cached
				}
				if c.blind {
					r.seen.down(dedup.ErrUnavailable)
				}
				x, err := r.Explain(t.Context(), engine.ExplainRequest{Agent: "u_1", Limit: 4, Brief: brief})
				require.NoError(t, err)
				paged := []string{}
				for _, one := range x.Page() {
					paged = append(paged, one.ID)
				}
				a := r.ask(t, refresh(4))
				assert.Equal(t, c.want, docIDs(a))
				assert.Equal(t, docIDs(a), paged)
				assert.Equal(t, slices.DeleteFunc(a.Degraded, func(s string) bool { return s == "session" }), x.Degraded)
				n := x.Counts
				assert.Equal(t, n.Recalled, n.Gone+n.Paged+n.Kept)
				for _, one := range x.Candidates {
					assert.Equal(t, !brief, one.Relevance != nil)
					assert.Positive(t, one.Score)
					assert.Positive(t, one.Decay)
				}
			})
		}
	}
}
