package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/guard"
	"github.com/freshet/freshet/recall"
)

// homeAtOnce is how many candidates of a source one round looks at. Discovery's next
// round looks at [roundGrowth] times as many, as that of for-you does.
const homeAtOnce = 200

// promotedName is the source of candidates that are promoted.
var promotedName = feed.SourcePromoted.String()

// Home configures the sources that the home feed has in addition to for-you's, which it
// uses for discovery. All fields are optional.
type Home struct {
	Following *Timelines      // nil: nobody follows anybody; what they show the engine notes
	Trending  recall.Proposer // nil: there is nothing
	Promoted  recall.Proposer // nil: likewise
	// Trends tells what is marked as trending, whatever source brings it; nil: nothing is.
	Trends Trends
	// Affinities tells whose posts a reader likes and replies to; nil: nobody's.
	Affinities Affinities
	Pattern    feed.Pattern
	// SourceFor is how long each source is waited for; 0: as long as the request has.
	SourceFor time.Duration
}

// Trends tells what trends.
type Trends interface {
	// Trends answers a trend for each of the ids, 0 where there is none to be marked. It
	// must not block.
	Trends(ids []string) []feed.Trend
}

// Affinities tells whose posts an agent has liked and replied to.
type Affinities interface {
	// Affinities counts, by author, the agent's likes and replies since then. Errors wrap
	// [social.ErrUnavailable].
	Affinities(ctx context.Context, agent string, since time.Time) (map[string]int, error)
}

// homeSupply holds the state of home's sources during one refresh.
type homeSupply struct {
	home     *Home
	stages   *stages
	queues   []*sourceQueue
	affinity map[string]float64 // by author: what [feed.Affinity] goes by
	lacks    parts

	scores map[homeProposal]homeScore // for explanations; nil: nobody asks
}

// sourceQueue is one source of home.
type sourceQueue struct {
	source  feed.Source
	lacks   parts // what the answer lacks when it fails
	propose func(ctx context.Context, q feed.Query) (proposed, error)
	n       int // proposals of a round; 0: as many as the query asks for
	grows   bool
	want    int // survivors: its share of a page
	next    string
	done    bool // it has no more, or has failed
	err     error
	got     proposed // in the current round
	asks    askCounts
}

// askCounts is how often a source was asked and what came of it.
type askCounts struct{ ok, late, failed int }

// proposed is one round of one source.
type proposed struct {
	recall.Proposals
	scored bool
	lacks  parts
}

// homeSupply prepares the sources for a page of so many positions.
func (s *stages) homeSupply(positions int) *homeSupply {
	h := &homeSupply{home: &s.e.stores.Home, stages: s}
	proposer := func(p recall.Proposer) func(context.Context, feed.Query) (proposed, error) {
		return func(ctx context.Context, q feed.Query) (proposed, error) {
			got, err := p.Propose(ctx, q)
			return proposed{Proposals: got}, err
		}
	}
	if h.home.Promoted != nil {
		h.queues = append(h.queues, &sourceQueue{source: feed.SourcePromoted, lacks: lacksPromoted, propose: proposer(h.home.Promoted)})
	}
	if h.home.Following != nil {
		h.queues = append(h.queues, &sourceQueue{source: feed.SourceFollowing, lacks: lacksFollowing, propose: h.home.Following.propose, n: homeAtOnce})
	}
	if h.home.Trending != nil {
		h.queues = append(h.queues, &sourceQueue{source: feed.SourceTrending, lacks: lacksTrending, propose: proposer(h.home.Trending), n: homeAtOnce})
	}
	h.queues = append(h.queues, &sourceQueue{source: feed.SourceDiscovery, lacks: lacksDiscovery, propose: h.discover, n: min(homeAtOnce, s.e.cfg.N), grows: true})
	shares := h.home.Pattern.Shares(positions)
	for _, l := range h.queues {
		l.want = shares[l.source]
	}
	return h
}

// discover recalls as for-you does.
func (h *homeSupply) discover(ctx context.Context, q feed.Query) (proposed, error) {
	result, err := recallFrom(ctx, h.stages.recall, q)
	if err != nil {
		return proposed{}, err
	}
	got := proposed{scored: true}
	got.Next = result.Next
	if result.Stale {
		got.lacks = lacksRecall
	}
	got.Proposals.Proposals = make([]recall.Proposal, len(result.Candidates))
	for i, c := range result.Candidates {
		got.Proposals.Proposals[i].Candidate = c
	}
	return got, nil
}

// ask asks each source that has not its share yet, all at once, and answers what they
// propose, scored. A source that fails, or is late, is left out; where all have failed,
// that is an error.
func (h *homeSupply) ask(ctx context.Context, q feed.Query, survivors []feed.Candidate) (supplied, error) {
	have := sourcesOf(survivors)
	var asked []*sourceQueue
	for _, l := range h.queues {
		if !l.done && have[l.source] < l.want || h.affinity == nil {
			asked = append(asked, l)
		}
	}
	if len(asked) == 0 { // all have their shares, and stories that come twice made the page short
		for _, l := range h.queues {
			if !l.done {
				asked = append(asked, l)
			}
		}
	}
	var wait sync.WaitGroup
	for _, l := range asked {
		wait.Go(func() { h.round(ctx, l, q) })
	}
	if h.affinity == nil {
		h.readAffinities(ctx, q)
	}
	wait.Wait()
	if ctx.Err() != nil {
		return supplied{}, ctx.Err()
	}
	out, err := h.candidates(asked, &q), h.failed()
	for source := range have {
		if source != feed.SourcePromoted {
			err = nil // what earlier rounds have brought is a page
		}
	}
	return supplied{candidates: out, lacks: h.lacks}, err
}

// round asks one source for its next proposals.
func (h *homeSupply) round(ctx context.Context, l *sourceQueue, q feed.Query) {
	ctx, cancel := h.wait(ctx)
	defer cancel()
	q.After = l.next
	if l.n > 0 {
		q.N = l.n
	}
	if l.grows {
		l.n = min(roundGrowth*l.n, largestRound)
	}
	l.err = guard.Run(func() (err error) {
		l.got, err = l.propose(ctx, q)
		return err
	})
	l.next = l.got.Next
	l.done = l.next == "" || l.err != nil
	switch {
	case l.err == nil:
		l.asks.ok++
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		l.asks.late++
	case ctx.Err() == nil: // else nobody waits for the answer any more
		l.asks.failed++
	}
}

// wait bounds how long a source is waited for.
func (h *homeSupply) wait(ctx context.Context) (context.Context, context.CancelFunc) {
	if h.home.SourceFor <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, h.home.SourceFor)
}

// count counts what the sources have come to in all rounds.
func (h *homeSupply) count() {
	for _, l := range h.queues {
		c := counterOf(l.source)
		c.ok.Add(float64(l.asks.ok))
		c.late.Add(float64(l.asks.late))
		c.failed.Add(float64(l.asks.failed))
	}
}

// readAffinities reads whose posts the reader likes, replies to and clicks on. Where the
// likes and replies cannot be read, there are none.
func (h *homeSupply) readAffinities(ctx context.Context, q feed.Query) {
	h.affinity = map[string]float64{}
	if q.Ranking.Home.AffinityOff() {
		return
	}
	for i := range q.Profile.Learned.Features {
		if f := &q.Profile.Learned.Features[i]; f.Kind == feed.FeatureAuthor {
			h.affinity[f.Value] = feed.AffinityClick * float64(f.Clicks)
		}
	}
	if h.home.Affinities == nil {
		return
	}
	ctx, cancel := h.wait(ctx)
	defer cancel()
	if found, err := h.home.Affinities.Affinities(ctx, q.Agent, q.Origin.Add(-q.Ranking.Home.AffinityFor())); err == nil {
		for author, n := range found {
			h.affinity[author] += float64(n)
		}
	}
}

// candidates returns the proposals of a round, each source's in its order.
func (h *homeSupply) candidates(asked []*sourceQueue, q *feed.Query) []feed.Candidate {
	total := 0
	for _, l := range asked {
		total += len(l.got.Proposals.Proposals)
	}
	out := make([]feed.Candidate, 0, total)
	for _, l := range asked {
		if l.err != nil {
			h.lacks |= l.lacks
			continue
		}
		h.lacks |= l.got.lacks
		if l.got.Stale {
			h.lacks |= l.lacks
		}
		for i := range l.got.Proposals.Proposals {
			p := &l.got.Proposals.Proposals[i]
			if at := p.UpdateTime; at > q.Origin.Unix() || !q.Since.IsZero() && at <= q.Since.Unix() {
				continue
			}
			c := p.Candidate
			c.Source = l.source.String()
			if !l.got.scored {
				age, n := q.Origin.Sub(time.Unix(c.UpdateTime, 0)), h.affinity[c.Author]
				score := q.Ranking.Home.Score(l.source, age, p.Reactions, feed.Affinity(n))
				if c.Score = float32(score.Total()); h.scores != nil {
					h.scores[homeProposal{l.source, c.ID}] = homeScore{score, p.Reactions, n}
				}
			}
			out = append(out, c)
		}
		l.got = proposed{}
	}
	return out
}

// failed is an error where no source has answered, or could go on. What is promoted fills no page by
// itself, so that it has answered is no answer.
func (h *homeSupply) failed() error {
	var errs []error
	for _, l := range h.queues {
		if l.source == feed.SourcePromoted {
			continue
		}
		if l.err == nil {
			return nil
		}
		errs = append(errs, fmt.Errorf("%s: %w", l.source, l.err))
	}
	return fmt.Errorf("%w: no source of home has answered: %w", recall.ErrUnavailable, errors.Join(errs...))
}

// exhausted reports whether no source has more.
func (h *homeSupply) exhausted() bool {
	return !slices.ContainsFunc(h.queues, func(l *sourceQueue) bool { return !l.done })
}

// enough reports whether every source has its share, or has no more.
func (h *homeSupply) enough(survivors []feed.Candidate) bool {
	have := sourcesOf(survivors)
	return !slices.ContainsFunc(h.queues, func(l *sourceQueue) bool { return !l.done && have[l.source] < l.want })
}

func (h *homeSupply) arrange(b *pageBuilder, survivors []feed.Candidate, w *wanted) []feed.Ref {
	return b.blend(survivors, h.home.Pattern, w.query.Ranking.Diversity, w.page, h.stages.e.cfg.N)
}

func (h *homeSupply) sourceOf(c *feed.Candidate) feed.Source { return homeSource(c.Source) }
