package engine

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

// stages are recall, dedup and hydration as one kind of request goes through
// them. Those of readers share recalls and are measured; an explanation asks the
// sources directly, as of its moment, and measures itself.
type stages struct {
	e       *Engine
	at      feed.Clock      // says where the dedup window is, and what is still to come
	sources []recall.Source // asked together
	enter   func(context.Context, stage) (context.Context, func())
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
	if r.home != nil {
		r.home.count()
	}
	return r.chosen()
}

// ask asks every source that has more for its next N and merges their answers
// by score. It moves the cursors on.
func ask(ctx context.Context, sources []recall.Source, q feed.Query, cursors []string, first bool) (recall.Result, error) {
	results := make([]recall.Result, len(sources))
	one := func(ctx context.Context, i int) error {
		mine := q
		mine.After = cursors[i]
		var err error
		if results[i], err = sources[i].Recall(ctx, mine); err != nil {
			return fmt.Errorf("recall from %s: %w", sources[i].Name(), err)
		}
		return nil
	}
	if len(sources) == 1 {
		if err := one(ctx, 0); err != nil {
			return recall.Result{}, err
		}
		cursors[0] = results[0].Next
		return results[0], nil
	}
	group, gctx := errgroup.WithContext(ctx)
	for i := range sources {
		if first || cursors[i] != "" {
			group.Go(func() error { return one(gctx, i) })
		}
	}
	if err := group.Wait(); err != nil {
		return recall.Result{}, err
	}
	lists := make([][]feed.Candidate, len(results))
	stale := false
	for i, r := range results {
		lists[i], cursors[i] = r.Candidates, r.Next
		stale = stale || r.Stale
	}
	return recall.Result{Candidates: merge(lists), Stale: stale}, nil
}

// merge merges ranked lists into one: by score, and of equal scores by the
// order of the lists.
func merge(lists [][]feed.Candidate) []feed.Candidate {
	total := 0
	for _, l := range lists {
		total += len(l)
	}
	out := make([]feed.Candidate, 0, total)
	for len(out) < total {
		best := -1
		for i, l := range lists {
			if len(l) > 0 && (best < 0 || l[0].Score > lists[best][0].Score) {
				best = i
			}
		}
		out = append(out, lists[best][0])
		lists[best] = lists[best][1:]
	}
	return out
}

func exhausted(cursors []string) bool {
	for _, c := range cursors {
		if c != "" {
			return false
		}
	}
	return true
}

func (e *Engine) check(ctx context.Context, agent string, groups []string) (dedup.Checked, error) {
	ctx, end := e.enter(ctx, dedupStage)
	defer end()
	return e.stores.Seen.Check(ctx, agent, groups, e.cfg.Clock())
}
