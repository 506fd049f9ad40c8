package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

// Rank ranks the n best candidates for an agent as of at, once by each of the
// rankings, and tells the profile it ranked for. It is the order that a refresh at that
// moment would give a new reader, in pages of [DefaultLimit]: nothing that the
// agent has been shown is left out, and nothing is changed. Exploration draws where
// the rankings have different shares of it: what chance puts on pages alike would
// only hide what else differs. A zero at is now. No
// list holds a group twice; one with a story twice comes short.
//
// It asks the sources directly: what is shared among readers is neither used
// nor pushed out.
func (e *Engine) Rank(ctx context.Context, agent string, at time.Time, n int, rankings ...feed.Ranking) (feed.Profile, [][]feed.Candidate, error) {
	if err := feed.CheckAgentID(agent); err != nil {
		return feed.Profile{}, nil, err
	}
	profile, err := e.profile(ctx, agent)
	if err != nil {
		return feed.Profile{}, nil, err
	}
	q, _ := e.query(agent, profile)
	if !at.IsZero() {
		q.Origin = at.UTC().Truncate(time.Second)
	}
	sources := e.directSources()
	alike := sameShare(rankings)
	lists := make([][]feed.Candidate, len(rankings))
	for i, r := range rankings {
		if err := r.Validate(); err != nil {
			return feed.Profile{}, nil, err
		}
		if alike {
			r.Explore = feed.Explore{}
		}
		q.Ranking, q.N = r, n
		if r.Diversity.On() || r.Explore.Share > 0 {
			q.N = max(n, e.cfg.N) // as many as a refresh places
		}
		list, err := rank(ctx, sources, q)
		if err != nil {
			return feed.Profile{}, nil, err
		}
		lists[i] = inPages(agent, &q, list)
		lists[i] = lists[i][:min(n, len(lists[i]))]
	}
	return profile, lists, nil
}

// rank goes on, round after round, until it has as many as were asked for: a
// round with several items of one group comes short.
func rank(ctx context.Context, sources []recall.Source, q feed.Query) ([]feed.Candidate, error) {
	cursors := make([]string, len(sources))
	met := make(map[string]struct{}, q.N)
	list := make([]feed.Candidate, 0, q.N)
	for first := true; first || len(list) < q.N && !exhausted(cursors); first = false {
		result, err := ask(ctx, sources, q, cursors, first)
		if err != nil {
			return nil, err
		}
		for _, c := range result.Candidates {
			if _, again := met[c.Group]; again || len(list) == q.N {
				continue
			}
			met[c.Group] = struct{}{}
			list = append(list, c)
		}
	}
	return list, nil
}

// sameShare reports whether the rankings explore alike.
func sameShare(rankings []feed.Ranking) bool {
	return !slices.ContainsFunc(rankings, func(r feed.Ranking) bool { return r.Explore != rankings[0].Explore })
}

// inPages returns a list in the order of its pages.
func inPages(agent string, q *feed.Query, list []feed.Candidate) []feed.Candidate {
	var b pageBuilder
	b.drawer.aim(agent, q)
	if !q.Ranking.Diversity.On() && !b.drawer.on() {
		return list
	}
	b.build(list, q.Ranking.Diversity, DefaultLimit)
	out := make([]feed.Candidate, len(b.order))
	for i, c := range b.order {
		out[i] = list[c]
	}
	return out
}

// Factors says what the scores of items are made of, by the profile, ranking
// and origin of q: one for each id, of the first source that holds it.
func (e *Engine) Factors(ctx context.Context, q feed.Query, ids []string) ([]recall.Factors, error) {
	out := make([]recall.Factors, len(ids))
	for _, source := range e.directSources() {
		explainer, ok := source.(recall.Explainer)
		if !ok {
			return nil, fmt.Errorf("%s: this recall source does not tell what its scores are made of", source.Name())
		}
		found, err := explainer.Explain(ctx, q, ids)
		if err != nil {
			return nil, fmt.Errorf("explain from %s: %w", source.Name(), err)
		}
		for i := range found {
			if !out[i].Known {
				out[i] = found[i]
			}
		}
	}
	return out, nil
}

func (e *Engine) directSources() []recall.Source {
	sources := make([]recall.Source, len(e.stores.Sources))
	for i, s := range e.stores.Sources {
		sources[i] = recall.Direct(s)
	}
	return sources
}
