package engine

import (
	"context"
	"fmt"
	"sync"
	"time"

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
	refs     []feed.Ref          // their refs
	keys     []string            // what those are remembered by
}

var scratches = sync.Pool{New: func() any {
	return &scratch{proposed: make(map[string]struct{}, 1024)}
}}

// release gives the scratch back without what it held of recall's answers, in
// earlier rounds too. One that a reader with many rounds has made large is not
// kept: clearing its set costs every refresh after it.
func (s *scratch) release() {
	if len(s.proposed) > keptProposed {
		return
	}
	clear(s.proposed)
	clear(s.fresh[:cap(s.fresh)])
	clear(s.refs[:cap(s.refs)])
	clear(s.keys[:cap(s.keys)])
	scratches.Put(s)
}

// Each round asks for roundGrowth times as many candidates as the one before: to
// a source, asking is what costs, and who has seen thousands is to be led past
// them in a few rounds. They are checked a portion at a time, so that a session,
// which holds what is left of the last portion, stays small.
const (
	roundGrowth  = 4
	largestRound = 10_000 // candidates, as recall.n at most
	portion      = 2000   // candidates; the first round's, where those are more
)

// keptProposed is how many groups a scratch that is kept may have met.
const keptProposed = 4096

// look is how the rounds of a choice go.
type look struct {
	agent   string
	query   feed.Query
	clock   feed.Clock      // says where the dedup window is
	budget  time.Duration   // nothing further is asked after it
	sources []recall.Source // asked together
	enter   func(context.Context, stage) (context.Context, func())
}

// round is what one answer of recall has brought, or a portion of it. Its slices
// are gone when the next one begins.
type round struct {
	number   int              // from 0
	begins   bool             // it is the answer's first portion
	last     bool             // recall has no more
	late     bool             // recall has more, but the time is up
	recalled []feed.Candidate // all of it
	fresh    []feed.Candidate // of it, in order, those of groups not met before
	checked  dedup.Checked    // a verdict for each fresh one
}

// rounds recalls and checks, round after round with one origin, until visit
// has enough, recall has no more, or the time is up. There is always one.
func (e *Engine) rounds(ctx context.Context, l look, visit func(round) (enough bool)) (lacks parts, err error) {
	s := scratches.Get().(*scratch)
	defer s.release()
	cursors := make([]string, len(l.sources))
	begun, atOnce := e.cfg.Clock(), portion
	for n := 0; ; n++ {
		inside, end := l.enter(ctx, recallStage)
		result, err := ask(inside, l.sources, l.query, cursors, n == 0)
		end()
		if err != nil {
			return lacks, err
		}
		if result.Stale {
			lacks |= lacksRecall
		}
		if n == 0 {
			atOnce = max(portion, len(result.Candidates))
		}
		r := round{number: n, begins: true}
		for rest := result.Candidates; r.begins || len(rest) > 0; r.begins = false {
			r.recalled = rest[:min(len(rest), atOnce)]
			rest = rest[len(r.recalled):]
			s.take(r.recalled)
			r.fresh = s.fresh
			var missing parts
			if r.checked, missing, err = e.verdicts(ctx, l, s); err != nil {
				return lacks, err
			}
			lacks |= missing
			r.last = len(rest) == 0 && exhausted(cursors)
			r.late = !r.last && e.cfg.Clock().Sub(begun) >= l.budget
			if visit(r) || r.last || r.late {
				return lacks, nil
			}
		}
		l.query.N = max(l.query.N, min(roundGrowth*l.query.N, largestRound))
	}
}

// verdicts checks a portion, one verdict for each ref. While the dedup store is
// down and the engine fails open, only this process's memory speaks.
func (e *Engine) verdicts(ctx context.Context, l look, s *scratch) (checked dedup.Checked, lacks parts, err error) {
	inside, end := l.enter(ctx, dedupStage)
	checked, err = e.stores.Seen.Check(inside, l.agent, s.keys, l.clock())
	end()
	if e.failsOpen(ctx, err) {
		lacks = lacksDedup
		checked, err = dedup.Checked{Verdicts: make([]dedup.Verdict, len(s.keys))}, nil
	}
	if err != nil {
		return checked, lacks, err
	}
	if e.served != nil {
		e.served.mark(l.agent, s.keys, checked.Verdicts, e.cfg.RecordServed || lacks != 0, e.cfg.Clock())
	}
	checked.Verdicts = byRef(s.refs, checked.Verdicts)
	return checked, lacks, nil
}

// choose goes on until want candidates have survived, for as long as budget.
func (e *Engine) choose(ctx context.Context, agent string, q feed.Query, want int, budget time.Duration) (chosen, error) {
	var out chosen
	lacks, err := e.rounds(ctx, look{
		agent: agent, query: q, clock: e.cfg.Clock, budget: budget, sources: e.stores.Sources, enter: e.enter,
	}, func(r round) bool {
		if r.begins {
			roundsTotal.Inc()
		}
		if r.begins && r.number == 0 {
			out.checkedAt, out.stale = r.checked.At, r.checked.Stale
			out.ranked = make([]feed.Ref, 0, len(r.fresh))
		}
		for i, c := range r.fresh {
			if r.checked.Verdicts[i] == dedup.Unseen {
				out.ranked = append(out.ranked, feed.Ref{ID: c.ID, Group: c.Group})
			}
		}
		countVerdicts(r.checked.Verdicts)
		return len(out.ranked) >= want
	})
	if err != nil {
		return chosen{}, err
	}
	out.lacks = lacks
	return out, nil
}

// take makes a round's candidates the fresh ones, dropping groups that an
// earlier round or a better candidate has proposed already.
func (s *scratch) take(candidates []feed.Candidate) {
	s.fresh, s.refs = s.fresh[:0], s.refs[:0]
	for _, c := range candidates {
		if _, again := s.proposed[c.Group]; again {
			continue
		}
		s.proposed[c.Group] = struct{}{}
		s.fresh = append(s.fresh, c)
		s.refs = append(s.refs, feed.Ref{ID: c.ID, Group: c.Group})
	}
	s.keys = feed.AppendKeys(s.keys[:0], s.refs)
}

// byRef makes one verdict of those of each ref's keys, in place: what is known
// under its group or its id has been shown.
func byRef(refs []feed.Ref, verdicts []dedup.Verdict) []dedup.Verdict {
	if len(refs) == len(verdicts) { // each has one key
		return verdicts
	}
	out, next := verdicts[:0], 0
	for _, r := range refs {
		v := verdicts[next]
		if next++; r.ID != r.Group {
			if v == dedup.Unseen {
				v = verdicts[next]
			}
			next++
		}
		out = append(out, v)
	}
	return out
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
