package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/engine/degraded"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/safego"
	"github.com/freshet/freshet/recall"
	"github.com/freshet/freshet/signals/coread"
)

// Limits of the badge for a reader without a recent refresh, to whom a whole recall would be new.
const (
	newcomerSince = 24 * time.Hour // maximum age of a counted item
	newcomerMost  = 99             // maximum count
)

// silentRefresh is the silent refresh: it returns the unseen items dated since the agent's last refresh,
// and the posts that have arrived since, and changes nothing. HasMore reports that there are more of them than returned.
//
// While recall or the session store is down, the new items, or the time since when they are new,
// are unknown: the answer is then empty and names the missing part.
func (e *Engine) silentRefresh(ctx context.Context, r Request) (Answer, error) {
	since, err := e.refreshedAt(ctx, r)
	if e.failOpen.allows(ctx, err) {
		return Answer{Docs: []feed.Doc{}, Degraded: (degraded.Dedup | degraded.Session).Names()}, nil
	}
	if err != nil {
		return Answer{}, err
	}
	ctx, ahead := e.stages.readsAhead(ctx, r.Agent)
	profile, err := e.stages.profile(ctx, r.Agent)
	if err != nil {
		return Answer{}, err
	}
	q, _, err := e.stages.query(r.Agent, r.Feed, profile)
	if err != nil {
		return Answer{}, err
	}
	q.Ranking.Explore = feed.Explore{} // a badge counts new items, best first
	// For newcomers relative to the origin, so that the recalls of all of them are equal.
	arrived := arrivedSince{from: q.Origin.Add(-newcomerSince)}
	if !since.IsZero() {
		arrived, err = e.arrivedSince(ctx, since)
	}
	if err != nil {
		return Answer{}, err
	}
	q.Since = arrived.from
	// One round is enough: recall is limited to new items, and a badge counts no more than N.
	found, err := e.stages.choose(ctx, wanted{agent: r.Agent, feed: r.Feed, query: q, want: 1, page: r.Limit, since: arrived, ahead: ahead})
	if down(ctx, err) && errors.Is(err, recall.ErrUnavailable) {
		return Answer{Docs: []feed.Doc{}, Degraded: degraded.Recall.Names()}, nil
	}
	if err != nil {
		return Answer{}, err
	}
	most := len(found.ranked)
	if since.IsZero() {
		most = min(most, newcomerMost)
	}
	refs := toHydrate(found.ranked[:most], r.Limit, len(profile.MutedWords) > 0)
	got, err := e.stages.hydrate(ctx, r.Agent, r.Feed, refs, e.stages.at().Unix())
	if err != nil {
		return Answer{}, err
	}
	got.missing |= e.failOpen.unchecked()
	unseen := len(found.ranked) - got.short()
	missing := found.missing | got.missing
	unknown := since.IsZero() && missing == 0 && !profile.Refreshed()
	docs := got.docs[:min(len(got.docs), r.Limit)]
	a := Answer{
		Docs: docs, NewCount: min(unseen, most), HasMore: unseen > len(docs), Degraded: missing.Names(),
		NewReader: unknown && e.neverRefreshed(ctx, r.Agent, otherSessions(r.Feed)...),
	}
	if r.Why {
		e.why(ctx, r, ahead, got.profile, &a)
	}
	return a, nil
}

// otherSessions returns the names of the feeds whose refresh shows that the agent is not new, besides a feed's own:
// of a named feed also any other named feed.
func otherSessions(name feed.Name) []feed.Name {
	others := name.Others()
	if name.Named() {
		return []feed.Name{others[0], others[1], feed.AnyNamed}
	}
	return others[:]
}

// refreshedAt returns the time of the agent's last refresh. It fails if the call's request id is
// that of a page. A silent refresh hands out nothing and uses up no id.
func (e *Engine) refreshedAt(ctx context.Context, r Request) (since time.Time, err error) {
	if r.RequestID == "" {
		return e.stores.Sessions.Refreshed(ctx, r.Agent, r.Feed)
	}
	if _, err := e.failOpen.sessionless.get(e.newCall(r), e.cfg.Clock()); err != nil {
		return time.Time{}, err
	}
	group, gctx := errgroup.WithContext(ctx)
	group.Go(safego.Func(func() (err error) {
		since, err = e.stores.Sessions.Refreshed(gctx, r.Agent, r.Feed)
		return err
	}))
	group.Go(safego.Func(func() error {
		// No record has this action, so the answer is a conflict or nothing.
		_, _, err := e.stores.Sessions.Replay(gctx, r.Agent, cache.Call{RequestID: r.RequestID, Feed: r.Feed, Action: r.name(), Limit: r.Limit})
		return err
	}))
	return since, group.Wait()
}

// Preview returns the items that an agent would be handed out by a refresh now and by paging on
// to the end of its session, in pages of limit items: one list for each of the rankings, best
// first. It runs the rounds of a refresh and arranges the survivors as a refresh does; content is
// not read. Only items dated after since are candidates; zero means no bound. If the context has
// answered last reads ([coread.Ahead]), co-readers count for these instead of the agent's own.
//
// Nothing is changed or counted, and recalls cached for readers are neither used nor evicted.
// Errors wrap [feed.ErrBadID], [feed.ErrBadLimit], [feed.ErrInvalid], or a store's
// ErrUnavailable.
func (e *Engine) Preview(ctx context.Context, agent string, limit int, since time.Time, rankings ...feed.Ranking) ([][]feed.Ref, error) {
	if err := (Request{Agent: agent, Action: ActionRefresh, Limit: limit}).Validate(); err != nil {
		return nil, err
	}
	profile, err := e.stages.profile(ctx, agent)
	if err != nil {
		return nil, err
	}
	q, _, err := e.stages.query(agent, feed.ForYou, profile)
	if err != nil {
		return nil, err
	}
	q.Since = since
	s := e.stages
	s.recall, s.enter, s.counted = s.direct, uncounted, false
	ahead := coread.AheadOf(ctx)
	lists := make([][]feed.Ref, len(rankings))
	for i, r := range rankings {
		if err := e.cfg.check(r); err != nil {
			return nil, err
		}
		q.Ranking = r
		found, err := s.choose(ctx, wanted{agent: agent, feed: feed.ForYou, query: q, want: limit, page: limit, budget: e.cfg.RoundsFor, ahead: ahead})
		if err != nil {
			return nil, err
		}
		lists[i] = found.ranked
	}
	return lists, nil
}

// uncounted is [Config.enter] without measuring, for work that no reader waits for.
func uncounted(ctx context.Context, _ stage) (context.Context, running) { return ctx, running{} }

// toHydrate returns those of the ranked items that a silent refresh reads: the first ones, and of those behind them, up to
// newcomerMost, what only the content decides. That is whether an item has a muted word, if there are any; and
// whether the author of a post is suspended or the post hidden, which the index may not know yet.
func toHydrate(ranked []feed.Ref, first int, words bool) []feed.Ref {
	if words {
		first = max(first, newcomerMost)
	}
	refs := slices.Clip(ranked[:min(len(ranked), first)])
	for _, ref := range ranked[len(refs):min(len(ranked), max(first, newcomerMost))] {
		if feed.IsPost(ref.ID) {
			refs = append(refs, ref)
		}
	}
	return refs
}
