package engine

import (
	"context"
	"slices"
	"time"

	"github.com/freshet/freshet/engine/arrange"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/recall"
)

// Rank ranks the n best candidates for an agent as of at, once by each of the rankings, and
// returns the profile that it ranked for. The order is that of a refresh at that moment for a new
// reader, in pages of [DefaultLimit]: items already shown are not left out, and nothing is
// changed. Exploration draws only if the rankings have different shares of it: the same random
// items in all lists would only hide other differences. It draws from the candidates alone. Live
// popularity and co-readers are left out as by [Engine.LeftOut], and what was learned about the agent if
// some of it was learned later ([feed.Learned.Since]). A zero at means now. No list holds a group twice.
// Recalls cached for readers are neither used nor evicted.
func (e *Engine) Rank(ctx context.Context, agent string, at time.Time, n int, rankings ...feed.Ranking) (feed.Profile, [][]feed.Candidate, error) {
	if err := feed.CheckAgentID(agent); err != nil {
		return feed.Profile{}, nil, err
	}
	profile, err := e.stages.profile(ctx, agent)
	if err != nil {
		return feed.Profile{}, nil, err
	}
	q, _, err := e.stages.query(agent, feed.ForYou, profile)
	if err != nil {
		return feed.Profile{}, nil, err
	}
	if !at.IsZero() {
		q.Origin = at.UTC().Truncate(time.Second)
	}
	alike := sameShare(rankings)
	var reads []string
	if e.stores.CoReaders != nil && slices.ContainsFunc(rankings, func(r feed.Ranking) bool { return r.CoRead.On() }) && !e.cfg.isPast(q.Origin) {
		reads, _ = e.stores.CoReaders.Reads(ctx, agent, nil) // without them, co-readers do not count
	}
	lists := make([][]feed.Candidate, len(rankings))
	for i, r := range rankings {
		if err := e.cfg.check(r); err != nil {
			return feed.Profile{}, nil, err
		}
		if alike {
			r.Explore = feed.Explore{}
		}
		q.Ranking, q.N = e.cfg.asOf(q.Origin, r, &profile.Learned), n
		if r.Diversity.On() || r.Explore.Share > 0 || len(reads) > 0 && r.CoRead.On() {
			q.N = max(n, e.cfg.N) // as many as a refresh places
		}
		list, err := rank(ctx, e.stages.direct, q)
		if err != nil {
			return feed.Profile{}, nil, err
		}
		lists[i] = inPages(agent, &q, e.stages.coRead(ctx, &q, reads, list))
		lists[i] = lists[i][:min(n, len(lists[i]))]
	}
	return profile, lists, nil
}

// LeftOut names what does not count for any agent when rankings rank as of a moment: live popularity and
// co-readers if the moment is more than [feed.ActTolerance] ago, because counts do not tell what was clicked until then. Nil
// means nothing. A zero at means now.
func (e *Engine) LeftOut(at time.Time, rankings ...feed.Ranking) []string {
	if at.IsZero() {
		return nil
	}
	var left []string
	for _, r := range rankings {
		left = append(left, api.LeftOut(e.cfg.asOf(at, r, &feed.Learned{}), r)...)
	}
	slices.Sort(left)
	return slices.Compact(left)
}

// check checks the ranking of a request. Errors wrap [feed.ErrInvalid].
func (c *Config) check(r feed.Ranking) error {
	if err := r.Validate(); err != nil {
		return err
	}
	return c.HalfLives.Check(r)
}

// isPast reports whether an origin is too long ago for live popularity.
func (c *Config) isPast(origin time.Time) bool {
	return origin.Before(c.origin(c.Clock()).Add(-feed.ActTolerance))
}

// asOf returns the ranking without the parts that are not known for an origin, for an agent of whom
// something was learned.
func (c *Config) asOf(origin time.Time, r feed.Ranking, learned *feed.Learned) feed.Ranking {
	if c.isPast(origin) {
		r = r.WithoutLive()
	}
	if learned.Since(origin) {
		r = r.WithoutLearned()
	}
	return r
}

// rank recalls until it has as many candidates as requested: a group may recur between rounds.
func rank(ctx context.Context, source recall.Source, q feed.Query) ([]feed.Candidate, error) {
	met := make(map[string]struct{}, q.N)
	list := make([]feed.Candidate, 0, q.N)
	for first := true; first || len(list) < q.N && q.After != ""; first = false {
		result, err := recallFrom(ctx, source, q)
		if err != nil {
			return nil, err
		}
		q.After = result.Next
		for _, c := range ofOthers(result.Candidates, q.Agent) {
			_, again := met[c.Group]
			if again || len(list) == q.N {
				continue
			}
			met[c.Group] = struct{}{}
			list = append(list, c)
		}
	}
	return list, nil
}

// sameShare reports whether all rankings have the same exploration.
func sameShare(rankings []feed.Ranking) bool {
	return !slices.ContainsFunc(rankings, func(r feed.Ranking) bool { return r.Explore != rankings[0].Explore })
}

// inPages returns a list reordered into its pages.
func inPages(agent string, q *feed.Query, list []feed.Candidate) []feed.Candidate {
	var b arrange.Builder
	b.Explore(agent, q, 0)
	return b.Reorder(list, q.Ranking.Diversity, DefaultLimit)
}

// Factors returns the score components of each id, by the profile, ranking and origin of q.
func (e *Engine) Factors(ctx context.Context, q feed.Query, ids []string) ([]recall.Factors, error) {
	return e.stages.factors(ctx, q, ids)
}
