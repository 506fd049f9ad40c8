package engine

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

// chosen is the clean, ranked list of one refresh.
type chosen struct {
	ranked    []feed.Ref
	stale     []string // groups pending for so long that they are to be recorded again
	checkedAt int64    // the dedup store's clock at the first check
	lacks     parts
}

// scratch is what one choice needs besides its result. It is pooled, because
// a refresh handles hundreds of candidates.
type scratch struct {
	proposed map[string]struct{} // groups of this and earlier rounds
	fresh    []feed.Candidate    // this round's candidates of new groups
	groups   []string            // their groups
}

var scratches = sync.Pool{New: func() any {
	return &scratch{proposed: make(map[string]struct{}, 1024)}
}}

func (s *scratch) release() {
	clear(s.proposed)
	clear(s.fresh)
	clear(s.groups)
	scratches.Put(s)
}

// choose recalls and filters, round after round with one origin, until want
// candidates have survived, recall has no more, or rounds are used up.
func (e *Engine) choose(ctx context.Context, agent string, q feed.Query, want, rounds int) (chosen, error) {
	s := scratches.Get().(*scratch)
	defer s.release()
	cursors := make([]string, len(e.stores.Sources))
	var out chosen
	for round := range rounds {
		result, err := e.recall(ctx, q, cursors, round == 0)
		if err != nil {
			return chosen{}, err
		}
		if result.Stale {
			out.lacks |= lacksRecall
		}
		s.take(result.Candidates)
		checked, err := e.check(ctx, agent, s.groups)
		if e.failsOpen(ctx, err) {
			out.lacks |= lacksDedup
			checked, err = dedup.Checked{Verdicts: make([]dedup.Verdict, len(s.groups))}, nil
		}
		if err != nil {
			return chosen{}, err
		}
		if e.stores.Fallback != nil {
			e.served.mark(agent, s.groups, checked.Verdicts, out.lacks&lacksDedup == 0, e.cfg.Clock())
		}
		if round == 0 {
			out.checkedAt, out.stale = checked.At, checked.Stale
			out.ranked = make([]feed.Ref, 0, len(s.fresh))
		}
		for i, c := range s.fresh {
			if checked.Verdicts[i] == dedup.Unseen {
				out.ranked = append(out.ranked, feed.Ref{ID: c.ID, Group: c.Group})
			}
		}
		countRound(checked.Verdicts)
		if len(out.ranked) >= want || exhausted(cursors) {
			break
		}
	}
	return out, nil
}

// take makes a round's candidates the fresh ones, dropping groups that an
// earlier round or a better candidate has proposed already.
func (s *scratch) take(candidates []feed.Candidate) {
	s.fresh, s.groups = s.fresh[:0], s.groups[:0]
	for _, c := range candidates {
		if _, again := s.proposed[c.Group]; again {
			continue
		}
		s.proposed[c.Group] = struct{}{}
		s.fresh = append(s.fresh, c)
		s.groups = append(s.groups, c.Group)
	}
}

// recall asks every source that has more for its next N and merges their
// answers by score. It moves the cursors on.
func (e *Engine) recall(ctx context.Context, q feed.Query, cursors []string, first bool) (recall.Result, error) {
	ctx, end := e.enter(ctx, recallStage)
	defer end()
	results := make([]recall.Result, len(e.stores.Sources))
	ask := func(ctx context.Context, i int) error {
		mine := q
		mine.After = cursors[i]
		var err error
		if results[i], err = e.stores.Sources[i].Recall(ctx, mine); err != nil {
			return fmt.Errorf("recall from %s: %w", e.stores.Sources[i].Name(), err)
		}
		return nil
	}
	if len(e.stores.Sources) == 1 {
		if err := ask(ctx, 0); err != nil {
			return recall.Result{}, err
		}
		cursors[0] = results[0].Next
		return results[0], nil
	}
	group, gctx := errgroup.WithContext(ctx)
	for i := range e.stores.Sources {
		if first || cursors[i] != "" {
			group.Go(func() error { return ask(gctx, i) })
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
