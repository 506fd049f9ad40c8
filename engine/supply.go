package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

// supply is where the candidates of one refresh of a feed come from, and how they are
// put on pages: [forYouSupply] or [homeSupply].
type supply interface {
	// ask asks for the candidates of a round, best first; of home source by source.
	ask(ctx context.Context, r *rounds) ([]feed.Candidate, error)
	// exhausted reports whether there are no more.
	exhausted() bool
	// enough reports whether each source has its share of a page, or has no more.
	enough(survivors []feed.Candidate) bool
	// arrange makes the list that pages are taken from.
	arrange(r *rounds) []feed.Ref
}

func (s *stages) supply(w *wanted) supply {
	if w.feed == feed.HomeFeed {
		return s.homeSupply(w.want)
	}
	return &forYouSupply{source: s.recall}
}

// recallFrom recalls, and names the source in an error.
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
		r.found.standIn, r.found.lacks = true, r.found.lacks|lacksRecall
	}
	return result.Candidates, nil
}

func (f *forYouSupply) exhausted() bool { return f.done }

func (*forYouSupply) enough([]feed.Candidate) bool { return true }

func (*forYouSupply) arrange(r *rounds) []feed.Ref {
	r.builder.drawer.aim(r.agent, &r.query)
	return r.builder.build(r.survivors, r.query.Ranking.Diversity, r.page, r.stages.e.cfg.N)
}

// stages are recall, dedup and hydration as one kind of request goes through
// them. Those of readers share recalls and are measured; an explanation asks the
// source directly, as of its moment, and measures itself.
type stages struct {
	e       *Engine
	at      feed.Clock // says where the dedup window is, and what is still to come
	recall  recall.Source
	enter   func(context.Context, stage) (context.Context, func())
	counted bool                       // in metrics
	scores  map[homeProposal]homeScore // of home, for explanations; nil: nobody asks
}

// chosen is the clean, ranked list of one refresh.
type chosen struct {
	ranked    []feed.Ref
	again     []feed.Ref // shown before, to go behind ranked; only where recall has no more
	earlier   int        // how many of those were shown before today
	stale     []string   // groups pending for so long that they are to be recorded again
	checkedAt int64      // the dedup store's clock at the first check
	lacks     parts
	standIn   bool // it is of a list for all readers
}

// session returns the refs that a refresh puts into the session.
func (c *chosen) session() []feed.Ref {
	if len(c.again) == 0 {
		return c.ranked
	}
	return slices.Concat(c.ranked, c.again)
}

// choose goes on until as many candidates as are wanted can be placed.
func (s *stages) choose(ctx context.Context, w wanted) (chosen, error) {
	r := s.rounds(w)
	defer r.release()
	for r.next(ctx) {
	}
	return r.chosen()
}
