package engine

import (
	"context"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// known reports whether a profile tells that its agent has refreshed before, although the
// session store may have forgotten it: people act on what they were shown.
func known(p *feed.Profile) bool { return len(p.Learned.Features) > 0 }

// IsNew implements [Showing].
func (e *Engine) IsNew(ctx context.Context, agent string) bool {
	return !e.failOpen.recovering() && e.neverRefreshed(ctx, agent, feed.ForYou, feed.HomeFeed)
}

// neverRefreshed reports whether no refresh of these feeds of an agent is known. While that
// cannot be asked it answers false.
func (e *Engine) neverRefreshed(ctx context.Context, agent string, feeds ...feed.Name) bool {
	for _, name := range feeds {
		at, err := e.stores.Sessions.Refreshed(ctx, agent, name)
		if err != nil || !at.IsZero() {
			return false
		}
	}
	return true
}

// isNew reports whether a page says that its reader is new. Only an empty timeline asks, so
// that the others cost no further call.
func (r *timelineRead) isNew(ctx context.Context, page *TimelinePage, below social.Position) bool {
	if r.t.showing == nil || !below.Zero() || len(page.Posts) > 0 || page.HasMore || r.lacks != 0 || known(&r.profile) {
		return false
	}
	return r.t.showing.IsNew(ctx, r.agent)
}
