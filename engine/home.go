package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/freshet/freshet/engine/arrange"
	"github.com/freshet/freshet/engine/degraded"
	"github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/safego"
	"github.com/freshet/freshet/recall"
)

// homeAtOnce is how many candidates a round requests from a source. Discovery's next round
// requests [roundGrowth] times as many, as that of for-you does.
const homeAtOnce = 200

// promotedName is the source of promoted candidates.
var promotedName = feed.SourcePromoted.String()

// Home configures the sources that the home feed has in addition to for-you's, which it uses for
// discovery. All fields are optional.
type Home struct {
	Following *timeline.Timelines // nil disables it; the engine records the posts that they show
	Trending  recall.Proposer     // nil disables it
	Promoted  recall.Proposer     // nil disables it
	// Trends reports which items are trending, from any source. Nil means none are.
	Trends Trends
	// Affinities counts a reader's likes and replies by author. Nil means there are none.
	Affinities Affinities
	Pattern    feed.Pattern
	// SourceFor is the timeout of each source; 0 means the rest of the request's time.
	SourceFor time.Duration
}

// Trends reports which items are trending.
type Trends interface {
	// Trends returns a trend for each of the ids, 0 for an unmarked item. It must not block.
	Trends(ids []string) []feed.Trend
}

// Affinities counts an agent's likes and replies by author.
type Affinities interface {
	// Affinities returns the counts by author, since a time. Errors wrap [social.ErrUnavailable].
	Affinities(ctx context.Context, agent string, since time.Time) (map[string]int, error)
}

// homeSupply holds the state of home's sources during one refresh.
type homeSupply struct {
	home     *Home
	stages   *stages
	queues   []*sourceQueue
	affinity map[string]float64 // by author: the argument of [feed.Affinity]
	mentions mentions
}

// followingName is the source of the posts of the timeline.
var followingName = feed.SourceFollowing.String()

// proposeFunc returns the proposals of one round of a source, and the parts that they lack.
type proposeFunc func(ctx context.Context, q feed.Query) (recall.Proposals, degraded.Parts, error)

// sourceQueue is one source of home.
type sourceQueue struct {
	source  feed.Source
	missing degraded.Parts // the part that is missing if the source fails
	propose proposeFunc
	n       int // proposals of a round; 0 means the query's N
	want    int // survivors wanted: the source's share of a page
	next    string
	done    bool // it has no more, or has failed
	err     error
	got     recall.Proposals // in the current round
	lacking degraded.Parts   // the parts that got lacks
}

// homeSupply prepares the sources for a page of that many positions.
func (s *stages) homeSupply(positions int) *homeSupply {
	h := &homeSupply{home: &s.stores.Home, stages: s, mentions: newMentions()}
	shares := h.home.Pattern.Shares(positions)
	add := func(source feed.Source, missing degraded.Parts, n int, propose proposeFunc) {
		h.queues = append(h.queues, &sourceQueue{source: source, missing: missing, propose: propose, n: n, want: shares[source]})
	}
	proposer := func(p recall.Proposer) proposeFunc {
		return func(ctx context.Context, q feed.Query) (recall.Proposals, degraded.Parts, error) {
			got, err := p.Propose(ctx, q)
			return got, 0, err
		}
	}
	if h.home.Promoted != nil {
		add(feed.SourcePromoted, degraded.Promoted, 0, proposer(h.home.Promoted))
	}
	if h.home.Following != nil {
		add(feed.SourceFollowing, degraded.Following, homeAtOnce, h.home.Following.Propose)
	}
	if h.home.Trending != nil {
		add(feed.SourceTrending, degraded.Trending, homeAtOnce, proposer(h.home.Trending))
	}
	add(feed.SourceDiscovery, degraded.Discovery, min(homeAtOnce, s.cfg.N), h.discover)
	return h
}

// discover recalls as for-you does.
func (h *homeSupply) discover(ctx context.Context, q feed.Query) (got recall.Proposals, missing degraded.Parts, err error) {
	result, err := recallFrom(ctx, h.stages.recall, q)
	if result.Stale {
		missing = degraded.Recall
	}
	got.Next, got.Proposals = result.Next, make([]recall.Proposal, len(result.Candidates))
	for i, c := range result.Candidates {
		got.Proposals[i].Candidate = c
	}
	return got, missing, err
}

// ask queries, concurrently, each source that lacks its share, and returns the scored proposals.
// It leaves out a source that fails or is late, and returns an error if all have failed.
func (h *homeSupply) ask(ctx context.Context, r *rounds) ([]feed.Candidate, error) {
	have := arrange.CountSources(r.survivors)
	var asked []*sourceQueue
	for _, l := range h.queues {
		if !l.done && have[l.source] < l.want || h.affinity == nil {
			asked = append(asked, l)
		}
	}
	if len(asked) == 0 { // all have their shares, but repeated stories made the page short
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
			err = nil // the candidates of earlier rounds make a page
		}
	}
	return out, err
}

// round queries one source for its next proposals.
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
	l.err = safego.Run(func() (err error) {
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
	default: // the request has ended
		return
	}
	if h.stages.counted {
		sourceQueries[l.source.String()+" "+result].Inc()
	}
}

// wait applies the timeout of a source.
func (h *homeSupply) wait(ctx context.Context) (context.Context, context.CancelFunc) {
	if h.home.SourceFor <= 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, h.home.SourceFor)
}

// readAffinities reads the authors whose posts the reader likes, replies to and clicks on. If
// likes and replies cannot be read, only clicks count.
func (h *homeSupply) readAffinities(ctx context.Context, q feed.Query) {
	h.affinity = map[string]float64{}
	if q.Ranking.Home.AffinityOff() {
		return
	}
	for i := range q.Profile.Learned.Features {
		f := &q.Profile.Learned.Features[i]
		if f.Kind == feed.FeatureAuthor {
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

// candidates returns the proposals of a round, each source's in its own order.
func (h *homeSupply) candidates(asked []*sourceQueue, r *rounds) []feed.Candidate {
	total := 0
	for _, l := range asked {
		total += len(l.got.Proposals)
	}
	out, q := make([]feed.Candidate, 0, total), &r.query
	for _, l := range asked {
		if l.err != nil {
			r.found.missing |= l.missing
			continue
		}
		r.found.missing |= l.lacking
		if l.got.Stale {
			r.found.missing |= l.missing
		}
		for i := range l.got.Proposals {
			p := &l.got.Proposals[i]
			at := p.UpdateTime
			if at > q.Origin.Unix() || !q.Since.IsZero() && at <= q.Since.Unix() {
				continue
			}
			c := p.Candidate
			c.Source = l.source.String()
			if p.Mention {
				h.mentions.only[c.ID] = true
			}
			if l.source != feed.SourceDiscovery { // those are scored by recall
				age, n := q.Origin.Sub(time.Unix(c.UpdateTime, 0)), h.affinity[c.Author]
				score := q.Ranking.Home.Score(l.source, age, p.Reactions, feed.Affinity(n))
				c.Score = float32(score.Total())
				if h.stages.scores != nil {
					h.stages.scores[homeProposal{l.source, c.ID}] = homeScore{score, p.Reactions, n}
				}
			}
			out = append(out, c)
		}
		l.got = recall.Proposals{}
	}
	return out
}

// failed returns an error if no source has answered or can continue. An answer of promoted does
// not count, because promoted items alone do not fill a page.
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

// enough reports whether every source has filled its share, or has no more.
func (h *homeSupply) enough(survivors []feed.Candidate) bool {
	have := arrange.CountSources(survivors)
	return !slices.ContainsFunc(h.queues, func(l *sourceQueue) bool { return !l.done && have[l.source] < l.want })
}

func (h *homeSupply) admits(c *feed.Candidate) bool { return h.mentions.admits(c) }

func (h *homeSupply) arrange(r *rounds) []feed.Ref {
	r.placeable = r.applyCoRead(false)
	return r.builder.Blend(r.placeable, h.home.Pattern, r.query.Ranking.Diversity, r.page, h.stages.cfg.N)
}
