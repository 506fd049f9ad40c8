package engine_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

// twice also returns i001 as a document of another group, which another program has added to the
// index.
type twice struct {
	recall.Source
	before bool
}

func (s twice) Recall(ctx context.Context, q feed.Query) (recall.Result, error) {
	r, err := s.Source.Recall(ctx, q)
	at := slices.IndexFunc(r.Candidates, func(c feed.Candidate) bool { return c.ID == "i001" })
	if at < 0 {
		return r, err
	}
	other := r.Candidates[at]
	other.Group = "other"
	if !s.before {
		at++
	}
	r.Candidates = slices.Insert(slices.Clone(r.Candidates), at, other)
	return r, err
}

// TestItemTwoDocumentsShownOnce checks that the document that was not shown does not make the
// item unseen.
func TestItemTwoDocumentsShownOnce(t *testing.T) {
	for _, before := range []bool{true, false} {
		for _, limit := range []int{1, 2, 3, 10} {
			r := newRig(t, 5, func(s *engine.Stores, _ *engine.Config) {
				s.Fallback = nil
				s.Recall = twice{s.Recall, before}
			})
			shown := map[string]int{}
			for k := range 9 {
				q := loadMore(limit)
				if k == 0 {
					q = refresh(limit)
				}
				for _, id := range docIDs(r.ask(t, q)) {
					shown[id]++
				}
			}
			want := map[string]int{"i000": 1, "i001": 1, "i002": 1, "i003": 1, "i004": 1}
			if before && limit == 1 { // the page that is topped up for the other document has both
				delete(want, "i001")
			}
			assert.Equal(t, want, shown, "%d at a time, the other one first: %t", limit, before)
		}
	}
}
