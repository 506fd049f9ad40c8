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

// Home has the sources of home beside for-you's, which is its discovery. All are optional.
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
	// Trends answers a trend for each of the ids, 0 for none to be marked. It must not block.
	Trends(ids []string) []feed.Trend
}

// Affinities tells whose posts an agent has liked and replied to.
type Affinities interface {
	// Affinities counts by author, since then. Errors wrap [social.ErrUnavailable].
	Affinities(ctx context.Context, agent string, since time.Time) (map[string]int, error)
}

// homeSupply holds the state of home's sources during one refresh.
type homeSupply struct {
	home     *Home
	stages   *stages
	queues   []*sourceQueue
	affinity map[string]float64 // by author: what [feed.Affinity] goes by
}

// proposeFunc proposes one round of a source, and tells what its answer lacks.
type proposeFunc func(ctx context.Context, q feed.Query) (recall.Proposals, parts, error)

// sourceQueue is one source of home.
type sourceQueue struct {
	source  feed.Source
	lacks   parts // what the answer lacks when it fails
	propose proposeFunc
	n       int // proposals of a round; 0: as many as the query asks for
	want    int // survivors: its share of a page
	next    string
	done    bool // it has no more, or has failed
	err     error
	got     recall.Proposals // in the current round
	lacking parts            // of got
}

// homeSupply prepares the sources for a page of so many positions.
func (s *stages) homeSupply(positions int) *homeSupply {
	h := &homeSupply{home: &s.e.stores.Home, stages: s}
	shares := h.home.Pattern.Shares(positions)
	add := func(source feed.Source, lacks parts, n int, propose proposeFunc) {
		h.queues = append(h.queues, &sourceQueue{source: source, lacks: lacks, propose: propose, n: n, want: shares[source]})
	}
	proposer := func(p recall.Proposer) proposeFunc {
		return func(ctx context.Context, q feed.Query) (recall.Proposals, parts, error) {
			got, err := p.Propose(ctx, q)
			return got, 0, err
		}
	}
	if h.home.Promoted != nil {
		add(feed.SourcePromoted, lacksPromoted, 0, proposer(h.home.Promoted))
	}
	if h.home.Following != nil {
		add(feed.SourceFollowing, lacksFollowing, homeAtOnce, h.home.Following.propose)
	}
	if h.home.Trending != nil {
		add(feed.SourceTrending, lacksTrending, homeAtOnce, proposer(h.home.Trending))
	}
	add(feed.SourceDiscovery, lacksDiscovery, min(homeAtOnce, s.e.cfg.N), h.discover)
	return h
}

// discover recalls as for-you does.
func (h *homeSupply) discover(ctx context.Context, q feed.Query) (got recall.Proposals, lacks parts, err error) {
	result, err := recallFrom(ctx, h.stages.recall, q)
	if result.Stale {
		lacks = lacksRecall
	}
	got.Next, got.Proposals = result.Next, make([]recall.Proposal, len(result.Candidates))
	for i, c := range result.Candidates {
		got.Proposals[i].Candidate = c
	}
	return got, lacks, err
}

// ask asks each source that has not its share yet, all at once, and answers what they
// propose, scored. A source that fails, or is late, is left out; where all have failed,
// that is an error.
func (h *homeSupply) ask(ctx context.Context, r *rounds) ([]feed.Candidate, error) {
	have := sourcesOf(r.survivors)
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
		wait.Go(func() { h.round(ctx, l, r.query) })
	}
	if h.affinity == nil {
		h.readAffinities(ctx, r.query)
	}
	wait.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	out, err := h.candidates(asked, r), h.failed()
	for source := range have {
		if source != feed.SourcePromoted {
			err = nil // what earlier rounds have brought is a page
		}
	}
	return out, err
}

// round asks one source for its next proposals.
func (h *homeSupply) round(ctx context.Context, l *sourceQueue, q feed.Query) {
	ctx, cancel := h.wait(ctx)
	defer cancel()
	q.After = l.next
	if l.n > 0 {
		q.N = l.n
	}
	if l.source == feed.SourceDiscovery {
		l.n = min(roundGrowth*l.n, largestRound)
	}
	l.err = guard.Run(func() (err error) {
		l.got, l.lacking, err = l.propose(ctx, q)
		return err
	})
	l.next = l.got.Next
	l.done = l.next == "" || l.err != nil
	result := "ok"
	switch {
	case l.err == nil:
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		result = "late"
	case ctx.Err() == nil:
		result = "error"
	default: // nobody waits for the answer any more
		return
	}
	if h.stages.counted {
		sourceAsks[l.source.String()+" "+result].Inc()
	}
}

// wait bounds how long a source is waited for.
func (h *homeSupply) wait(ctx context.Context) (context.Context, context.CancelFunc) {
	if h.home.SourceFor <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, h.home.SourceFor)
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
func (h *homeSupply) candidates(asked []*sourceQueue, r *rounds) []feed.Candidate {
	total := 0
	for _, l := range asked {
		total += len(l.got.Proposals)
	}
	out, q := make([]feed.Candidate, 0, total), &r.query
	for _, l := range asked {
		if l.err != nil {
			r.found.lacks |= l.lacks
			continue
		}
		r.found.lacks |= l.lacking
		if l.got.Stale {
			r.found.lacks |= l.lacks
		}
		for i := range l.got.Proposals {
			p := &l.got.Proposals[i]
			if at := p.UpdateTime; at > q.Origin.Unix() || !q.Since.IsZero() && at <= q.Since.Unix() {
				continue
			}
			c := p.Candidate
			c.Source = l.source.String()
			if l.source != feed.SourceDiscovery { // recall has scored those
				age, n := q.Origin.Sub(time.Unix(c.UpdateTime, 0)), h.affinity[c.Author]
				score := q.Ranking.Home.Score(l.source, age, p.Reactions, feed.Affinity(n))
				if c.Score = float32(score.Total()); h.stages.scores != nil {
					h.stages.scores[homeProposal{l.source, c.ID}] = homeScore{score, p.Reactions, n}
				}
			}
			out = append(out, c)
		}
		l.got = recall.Proposals{}
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

func (h *homeSupply) arrange(r *rounds) []feed.Ref {
	return r.builder.blend(r.survivors, h.home.Pattern, r.query.Ranking.Diversity, r.page, h.stages.e.cfg.N)
}
