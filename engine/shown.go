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
// remembers them, and the fallback stores them on disk until they can be recorded.
func (e *Engine) Shown(ctx context.Context, agent string, posts []string) (noted bool, err error) {
	if len(posts) == 0 {
		return true, nil
	}
	now := e.cfg.Clock()
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
	if err != nil && !down(ctx, err) {
		e.cfg.Log.WarnContext(ctx, "could not remove shown posts from the session; a feed may show them again",
			"agent", agent, "posts", len(posts), "error", err)
	}
	return err == nil, nil
}

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
	refs, _, err := e.refs(ctx, ids)
	if err != nil {
		return err
	}
	keys := slices.Compact(slices.Sorted(slices.Values(feed.Keys(refs)))) // a report may name an item, or a group, twice
	if err := e.stores.Sessions.Withdraw(ctx, agent, keys, e.cfg.Clock()); err != nil {
		return err
	}
	return e.stores.Recorder.Confirm(ctx, agent, keys)
}

// IsNew implements [timeline.Showing].
func (e *Engine) IsNew(ctx context.Context, agent string) bool {
	return !e.failOpen.recovering() && e.neverRefreshed(ctx, agent, feed.ForYou, feed.HomeFeed)
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
