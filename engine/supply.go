package engine

import (
	"context"
	"fmt"
	"slices"

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
	// arrange builds the list that pages are taken from.
	arrange(r *rounds) []feed.Ref
}

func (s *stages) supply(w *wanted) supply {
	if w.feed == feed.HomeFeed {
		return s.homeSupply(w.want)
	}
	return &forYouSupply{source: s.recall}
}

// recallFrom recalls, and adds the name of the source to an error.
func recallFrom(ctx context.Context, source recall.Source, q feed.Query) (recall.Result, error) {
	result, err := source.Recall(ctx, q)
	if err != nil {
		return recall.Result{}, fmt.Errorf("recall from %s: %w", source.Name(), err)
	}
	return result, nil
}

// forYouSupply is recall alone.
type forYouSupply struct {
	source recall.Source
	cursor string
	done   bool
}

func (f *forYouSupply) ask(ctx context.Context, r *rounds) ([]feed.Candidate, error) {
	q := r.query
	q.After = f.cursor
	result, err := recallFrom(ctx, f.source, q)
	if err != nil {
		return nil, err
	}
	f.cursor, f.done = result.Next, result.Next == ""
	if result.Stale {
		r.found.fallback, r.found.missing = true, r.found.missing|degraded.Recall
	}
	return result.Candidates, nil
}

func (f *forYouSupply) exhausted() bool { return f.done }

func (*forYouSupply) enough([]feed.Candidate) bool { return true }

func (*forYouSupply) arrange(r *rounds) []feed.Ref {
	r.builder.Explore(r.agent, &r.query)
	return r.builder.Build(r.survivors, r.query.Ranking.Diversity, r.page, r.stages.e.cfg.N)
}

// stages runs recall, dedup and hydration for one kind of request. Requests of readers share
// recalls and are measured; an explanation queries the source directly, as of its own time, and
// measures itself.
type stages struct {
	e       *Engine
	at      feed.Clock // determines the dedup window, and which items are in the future
	recall  recall.Source
	enter   func(context.Context, stage) (context.Context, func())
	counted bool                       // in metrics
	scores  map[homeProposal]homeScore // of home, for explanations; nil otherwise
}

// chosen is the deduplicated, ranked list of one refresh.
type chosen struct {
	ranked    []feed.Ref
	repeats   []feed.Ref // shown before, to follow ranked; only if recall has no more
	earlier   int        // how many of those were shown before today
	stale     []string   // groups pending for so long that they must be recorded again
	checkedAt int64      // the dedup store's clock at the first check
	missing   degraded.Parts
	fallback  bool // the candidates are from a list for all readers
}

// session returns the refs that a refresh puts into the session.
func (c *chosen) session() []feed.Ref {
	if len(c.repeats) == 0 {
		return c.ranked
	}
	return slices.Concat(c.ranked, c.repeats)
}

// choose runs rounds until as many candidates as wanted can be placed, or no more are available.
func (s *stages) choose(ctx context.Context, w wanted) (chosen, error) {
	r := s.rounds(w)
	defer r.release()
	for r.next(ctx) {
	}
	return r.chosen()
}
