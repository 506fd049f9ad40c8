package engine_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

// unexplained is a source that cannot explain its scores.
type unexplained struct{ from recall.Source }

func (unexplained) Name() string { return "unexplained" }

func (s unexplained) Recall(ctx context.Context, q feed.Query) (recall.Result, error) {
	r, err := s.from.Recall(ctx, q)
	for i := range r.Candidates {
		r.Candidates[i].Source = "unexplained"
	}
	return r, err
}

// An explanation builds the same page as a refresh, also when recall returns deleted items or
// content cannot be read.
func TestExplainPageEqualsRefresh(t *testing.T) {
	for name, c := range map[string]struct {
		gone   []string
		cached []string // nil means the catalog is up
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
		t.Run(name, func(t *testing.T) {
			r := newRig(t, 20, func(_ *engine.Stores, cfg *engine.Config) { cfg.RecordServed = false })
			r.removeBehind(t, c.gone...)
			if c.cached != nil {
				r.catalog.down(catalog.ErrUnavailable, "Docs", "Hydrate")
				r.catalog.cached = c.cached
			}
			if c.blind {
				r.seen.down(dedup.ErrUnavailable)
			}
			x, err := r.Explain(t.Context(), engine.ExplainRequest{Agent: "u_1", Limit: 4})
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
				assert.NotNil(t, one.Relevance)
				assert.Positive(t, one.Score)
				assert.Positive(t, one.Decay)
			}
		})
	}
}
