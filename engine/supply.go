package engine

import (
	"context"
	"fmt"

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
