package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/freshet/freshet/engine/arrange"
	"github.com/freshet/freshet/engine/degraded"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

// supply provides the candidates of one refresh of a feed and arranges them into pages:
// [forYouSupply] or [homeSupply].
type supply interface {
	// ask requests the candidates of a round, best first; for home, grouped by source.
	ask(ctx context.Context, r *rounds) ([]feed.Candidate, error)
	// exhausted reports whether there are no more.
	exhausted() bool
	// enough reports whether each source has filled its share of a page, or has no more.
	enough(survivors []feed.Candidate) bool
	// admits reports whether an unseen candidate may be placed. It is called once for each, best first.
	admits(c *feed.Candidate) bool
	// arrange builds the list that pages are taken from.
	arrange(r *rounds) []feed.Ref
}

func (s *stages) supply(w *wanted) supply {
	if w.feed == feed.HomeFeed {
		return s.homeSupply(w.want)
	}
	return &forYouSupply{source: s.recall, young: s.young}
}

// recallFrom recalls, and adds the name of the source to an error.
func recallFrom(ctx context.Context, source recall.Source, q feed.Query) (recall.Result, error) {
	result, err := source.Recall(ctx, q)
	if err != nil {
		return recall.Result{}, fmt.Errorf("recall from %s: %w", source.Name(), err)
	}
	return result, nil
}

// forYouSupply is recall, and for exploration young items that it does not return.
type forYouSupply struct {
	source recall.Source
	young  *youngItems
	cursor string
	done   bool
}

func (f *forYouSupply) ask(ctx context.Context, r *rounds) ([]feed.Candidate, error) {
	q := r.query
	q.After = f.cursor
	r.buffer = slices.Grow(r.buffer[:0], q.N)
	q.Buffer = r.buffer
	explores := q.Ranking.Explore.Share > 0 && r.page > arrange.Unexplored
	var young func() []feed.Candidate
	if r.number == 0 && explores {
		young = f.young.ask(ctx, &q)
	}
	result, err := recallFrom(ctx, f.source, q)
	if err != nil {
		return nil, err
	}
	if young != nil && result.Next != "" {
		r.young = young()
	}
	f.cursor, f.done = result.Next, result.Next == ""
	if result.Stale {
		r.found.fallback, r.found.missing = true, r.found.missing|degraded.Recall
	}
	return result.Candidates, nil
}

func (f *forYouSupply) exhausted() bool { return f.done }

func (*forYouSupply) enough([]feed.Candidate) bool { return true }

func (*forYouSupply) admits(*feed.Candidate) bool { return true }

func (*forYouSupply) arrange(r *rounds) []feed.Ref {
	beyond := r.withBeyond()
	r.builder.Explore(r.agent, &r.query, beyond)
	list := r.builder.Build(r.placeable, r.query.Ranking.Diversity, r.page, r.stages.cfg.N)
	if r.feed.Named() {
		r.markNamed(list)
	}
	return list
}
