package engine

import (
	"context"
	"slices"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

// stages are recall, dedup and hydration as one kind of request goes through
// them. Those of readers share recalls and are measured; an explanation asks the
// source directly, as of its moment, and measures itself.
type stages struct {
	e      *Engine
	at     feed.Clock // says where the dedup window is, and what is still to come
	recall recall.Source
	enter  func(context.Context, stage) (context.Context, func())
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
		countVerdicts(r.verdicts)
	}
	r.supply.count()
	return r.chosen()
}

func (e *Engine) check(ctx context.Context, agent string, groups []string) (dedup.Checked, error) {
	ctx, end := e.enter(ctx, dedupStage)
	defer end()
	return e.stores.Seen.Check(ctx, agent, groups, e.cfg.Clock())
}
