package engine

import (
	"context"
	"slices"
	"time"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/feed"
)

// undoTimeout bounds restoring a page after its request has ended.
const undoTimeout = 2 * time.Second

// deliver turns a page into an answer: hydrate, top up, record. If nothing of the page is left
// and the session is at its end, it refreshes, repeatedly and past the deleted items: recall may
// still propose items for about a second after they were deleted or changed.
func (e *Engine) deliver(ctx context.Context, c *call, p page) (Answer, error) {
	got, err := fillPage(ctx, c, c.Limit, &p)
	for try := 1; err == nil && c.foundOnlyDeleted(p, got) && try <= pageTries; try++ {
		c.past = got.short()
		if p, err = e.freshPage(ctx, c); err == nil {
			got, err = fillPage(ctx, c, c.Limit, &p)
		}
	}
	if err != nil {
		return Answer{}, err
	}
	e.record(ctx, c, p, got)
	if p.HasMore && !p.sessionless {
		e.stores.Prefetch.After(c.Agent, c.Feed, c.Limit)
	}
	c.profile = got.profile
	missing := p.missing | got.missing()
	missing.Count()
	a := Answer{
		Docs: got.docs, Refs: got.refs, HasMore: p.HasMore, Degraded: missing.Names(), NewReader: c.first && missing == 0,
	}
	trends := e.stores.Home.Trends
	if trends != nil && c.Feed == feed.HomeFeed {
		a.Trends = trends.Trends(feed.IDs(got.refs))
	}
	return a, nil
}

// foundOnlyDeleted reports whether nothing of a page is left and the session has no more, although a
// refresh may find something behind these items.
func (c *call) foundOnlyDeleted(p page, got hydrated) bool {
	return len(got.docs) == 0 && !p.HasMore && got.short() > c.past
}

// record records the page that is being answered. It records a replayed page again, which changes
// nothing, because the earlier answer may have been lost with its server; it does not count it
// again.
func (e *Engine) record(ctx context.Context, c *call, p page, got hydrated) {
	if p.sessionless && p.Replayed {
		return
	}
	given := feed.GivenKeys(got.refs)
	keys := append(feed.Keys(got.refs), given...)
	e.failOpen.delivered(ctx, c, p, got.refs, keys)
	switch {
	case p.sessionless:
	case e.cfg.RecordServed:
		e.stores.Recorder.Deliver(c.Agent, keys)
	default:
		e.stores.Recorder.Deliver(c.Agent, given)
	}
	e.tally(c, got)
}

// pop takes a page from the session. A call is the [pageSource] of its pages.
func (c *call) pop(ctx context.Context, n int) (page, error) {
	ctx, end := c.e.enter(ctx, pageStage)
	defer end()
	p, err := c.e.stores.Sessions.Pop(ctx, cache.Pop{Agent: c.Agent, Limit: n, Now: c.e.cfg.Clock(), Call: c.next()})
	c.stepDone(ctx, p, err)
	return page{Page: p}, err
}

// read hydrates a page. It leaves out items that this process already handed out, and they stay
// pending: a session that outlived a fault may still hold them. It does not filter a replayed
// step: a retry on this server may have been answered with it.
func (c *call) read(ctx context.Context, p page) (hydrated, error) {
	if p.Replayed {
		got, err := c.e.stages.hydrate(ctx, c.Agent, p.Refs)
		got.cut(c.Limit) // two equal concurrent calls may both have topped it up
		got.unsure = c.e.failOpen.recovering()
		return got, err
	}
	refs, unsure := p.Refs, false
	if !p.sessionless && !p.Recorded {
		refs, unsure = c.e.failOpen.unseen(ctx, c, refs)
	}
	got, err := c.e.stages.hydrate(ctx, c.Agent, refs)
	got.deliver()
	got.unsure = unsure
	if len(refs) < len(p.Refs) {
		got.shown = slices.DeleteFunc(slices.Clone(p.Refs), func(r feed.Ref) bool { return slices.Contains(refs, r) })
	}
	return got, err
}

// restore returns undelivered refs to the session, even if the request has ended.
func (c *call) restore(ctx context.Context, p page, refs []feed.Ref) {
	if len(refs) == 0 || p.Replayed && p.sessionless {
		return
	}
	if p.sessionless {
		c.e.failOpen.served.remove(c.Agent, feed.ClaimKeys(refs), c.e.cfg.Clock())
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	if err := c.e.stores.Sessions.Restore(ctx, c.Agent, refs, c.next()); err != nil {
		c.kept = true
		c.e.cfg.Log.WarnContext(ctx, "items that could not be delivered could not be returned to the session",
			"agent", c.Agent, "items", len(refs), "error", err)
	}
}

// discard removes deleted and muted refs from the pending set, so that they are not recorded as
// impressions, and refs shown before from the call's record, so that a retry leaves them out too.
func (c *call) discard(ctx context.Context, got hydrated) {
	sessions, log := c.e.stores.Sessions, c.e.cfg.Log
	refs := got.unshown()
	if len(refs) > 0 {
		if err := sessions.Discard(ctx, c.Agent, refs, c.next()); err != nil {
			log.WarnContext(ctx, "deleted or muted items could not be released; they count as shown",
				"agent", c.Agent, "items", len(refs), "error", err)
		}
	}
	if len(got.shown) > 0 && c.RequestID != "" {
		if err := sessions.Omit(ctx, c.Agent, got.shown, c.next()); err != nil {
			log.WarnContext(ctx, "could not remove items shown before from a retry's record; a retry may return them again",
				"agent", c.Agent, "items", len(got.shown), "error", err)
		}
	}
}
