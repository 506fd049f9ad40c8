package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

// supply is where the candidates of one refresh of a feed come from, and how they are
// put on pages: [forYouSupply] or [homeSupply].
type supply interface {
	// ask asks for the candidates of a round, whose size the query says; survivors are
	// the candidates of earlier rounds that may be shown.
	ask(ctx context.Context, q feed.Query, survivors []feed.Candidate) (supplied, error)
	// exhausted reports whether there are no more.
	exhausted() bool
	// enough reports whether each source has its share of a page, or has no more.
	enough(survivors []feed.Candidate) bool
	// arrange makes the list that pages are taken from.
	arrange(b *pageBuilder, survivors []feed.Candidate, w *wanted) []feed.Ref
	// sourceOf is the source of home that has proposed a candidate.
	sourceOf(c *feed.Candidate) feed.Source
	// count counts what the sources have come to in all rounds.
	count()
	explained
}

// supplied holds the candidates of a round.
type supplied struct {
	candidates []feed.Candidate // best first; of home source by source
	lacks      parts
	standIn    bool // they are of a list for all readers
}

func (s *stages) supply(w *wanted) supply {
	if w.feed == feed.HomeFeed {
		return s.homeSupply(w.want)
	}
	return &forYouSupply{source: s.recall, most: s.e.cfg.N}
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
	most   int // positions up to which what was set aside fills the list
	cursor string
	done   bool
}

func (f *forYouSupply) ask(ctx context.Context, q feed.Query, _ []feed.Candidate) (supplied, error) {
	q.After = f.cursor
	result, err := recallFrom(ctx, f.source, q)
	if err != nil {
		return supplied{}, err
	}
	f.cursor, f.done = result.Next, result.Next == ""
	got := supplied{candidates: result.Candidates, standIn: result.Stale}
	if result.Stale {
		got.lacks = lacksRecall
	}
	return got, nil
}

func (f *forYouSupply) exhausted() bool { return f.done }

func (*forYouSupply) enough([]feed.Candidate) bool { return true }

func (f *forYouSupply) arrange(b *pageBuilder, survivors []feed.Candidate, w *wanted) []feed.Ref {
	b.drawer.aim(w.agent, &w.query)
	return b.build(survivors, w.query.Ranking.Diversity, w.page, f.most)
}

func (*forYouSupply) sourceOf(*feed.Candidate) feed.Source { return feed.SourceScore }

func (*forYouSupply) count() {}

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
