package engine

import (
	"context"
	"slices"

	"github.com/freshet/freshet/engine/timeline"
	"github.com/freshet/freshet/feed"
)

var _ timeline.Showing = (*Engine)(nil)

// Shown implements [timeline.Showing]: the posts leave the agent's sessions, become pending and, if
// delivery counts as an impression, are recorded. While the stores are down, this process
// remembers them, and the fallback stores them on disk until they can be recorded. Posts that this
// process has noted for the agent a short time ago are not noted again.
func (e *Engine) Shown(ctx context.Context, agent string, posts []string) (noted bool, err error) {
	now, known := e.cfg.Clock(), e.noted
	if e.failOpen.recovering() {
		known = nil // the stores may come back with older data
	}
	posts, since := known.unknown(agent, posts, now)
	if len(posts) == 0 {
		return true, nil
	}
	err = e.stores.Sessions.Withdraw(ctx, agent, posts, now)
	if err != nil && ctx.Err() != nil {
		return false, ctx.Err()
	}
	e.failOpen.served.add(agent, posts, err != nil, now)
	switch {
	case e.failOpen.allows(ctx, err):
		e.failOpen.keep(ctx, agent, posts)
	case e.cfg.RecordServed:
		e.stores.Recorder.Deliver(agent, slices.Clone(posts))
	}
	if err == nil {
		known.add(agent, posts, since, now)
	}
	if err != nil && !down(ctx, err) {
		e.cfg.Log.WarnContext(ctx, "could not remove shown posts from the session; a feed may show them again",
			"agent", agent, "posts", len(posts), "error", err)
	}
	return err == nil, nil
}

// ForgetShown must be called when the stores may have lost recent data, as in a failover: what a
// timeline then shows is noted again.
func (e *Engine) ForgetShown() { e.noted.forgetAll() }

// Seen records that the agent has seen the items, whether Freshet delivered them or not, and
// returns when a filter has the impressions. Reporting an item again is harmless. An unknown id
// counts as its own group.
func (e *Engine) Seen(ctx context.Context, agent string, ids []string) error {
	ctx = e.cfg.Begin(ctx)
	if err := feed.CheckAgentID(agent); err != nil {
		return err
	}
	for _, id := range ids {
		if err := feed.CheckItemID(id); err != nil {
			return err
		}
	}
	refs, docs, err := e.refs(ctx, ids)
	if err != nil {
		return err
	}
	keys := slices.Compact(slices.Sorted(slices.Values(feed.Keys(refs)))) // a report may name an item, or a group, twice
	if err := e.stores.Sessions.Withdraw(ctx, agent, keys, e.cfg.Clock()); err != nil {
		return err
	}
	if err := e.stores.Recorder.Confirm(ctx, agent, keys); err != nil {
		return err
	}
	e.reported(agent, refs, docs)
	return nil
}

// IsNew implements [timeline.Showing].
func (e *Engine) IsNew(ctx context.Context, agent string) bool {
	return !e.failOpen.recovering() && e.neverRefreshed(ctx, agent, feed.ForYou, feed.HomeFeed, feed.AnyNamed)
}

// neverRefreshed reports whether the agent certainly has no known refresh of these feeds.
func (e *Engine) neverRefreshed(ctx context.Context, agent string, feeds ...feed.Name) bool {
	for _, name := range feeds {
		at, err := e.stores.Sessions.Refreshed(ctx, agent, name)
		if err != nil || !at.IsZero() {
			return false
		}
	}
	return true
}
