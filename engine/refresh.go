package engine

import (
	"context"

	"golang.org/x/sync/errgroup"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/engine/degraded"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/safego"
	"github.com/freshet/freshet/recall"
)

// refresh recalls, replaces the agent's session and returns its first page. A refresh that waited
// for another one of the same agent pages from that one's session, if it is recent enough.
func (e *Engine) refresh(ctx context.Context, c *call) (Answer, error) {
	inside, end := e.enter(ctx, turnStage)
	turn, err := e.turns.enter(inside, turnOf{c.Agent, c.Feed}, e.cfg.Clock(), e.cfg.Coalesce)
	end()
	if err != nil {
		return Answer{}, err
	}
	defer turn.leave()
	if turn.follows {
		a, ok, err := e.follow(ctx, c)
		if err != nil || ok {
			return a, err
		}
	}
	turn.begin(e.cfg.Clock())
	p, err := e.freshPage(ctx, c)
	if err != nil {
		return Answer{}, err
	}
	if !p.Replayed && !p.sessionless {
		turn.built = true
	}
	a, err := e.deliver(ctx, c, p)
	// Nothing of the session can be read; a list for all readers includes its contents. A
	// replayed page is left to the equal call: its record accepts no steps of others.
	if p.ofSession && !p.Replayed && down(ctx, err) {
		if p, err = e.freshPage(ctx, c); err == nil {
			a, err = e.deliver(ctx, c, p)
		}
	}
	return a, err
}

// follow pages from the session that the previous refresh built. It returns false if nothing is
// left.
func (e *Engine) follow(ctx context.Context, c *call) (a Answer, ok bool, err error) {
	p, err := c.pop(ctx, c.Limit)
	if e.failOpen.allows(ctx, err) {
		return Answer{}, false, nil
	}
	if err != nil || len(p.Refs) == 0 && !p.Replayed {
		return Answer{}, false, err
	}
	a, err = e.deliver(ctx, c, p)
	c.pastSession = !p.Replayed && down(ctx, err)
	if c.pastSession { // a list for all readers includes its contents
		return Answer{}, false, nil
	}
	return a, true, err
}

// open reads the agent's profile and, concurrently, the page of its request id, if any.
func (e *Engine) open(ctx context.Context, c *call) (feed.Profile, cache.Page, error) {
	ctx, end := e.enter(ctx, openStage)
	defer end()
	if c.RequestID == "" || c.step > 0 {
		p, err := e.profile(ctx, c.Agent)
		return p, cache.Page{}, err
	}
	var p feed.Profile
	var before cache.Page
	group, gctx := errgroup.WithContext(ctx)
	group.Go(safego.Func(func() (err error) {
		p, err = e.profile(gctx, c.Agent)
		return err
	}))
	group.Go(safego.Func(func() (err error) {
		before, _, err = e.stores.Sessions.Replay(gctx, c.Agent, c.next())
		if e.failOpen.allows(gctx, err) {
			return nil
		}
		return err
	}))
	err := group.Wait()
	return p, before, err
}

// freshPage is the refresh itself, up to its page. If everything that passed the check was handed
// out elsewhere before the page step, it chooses again, further down: an empty page must mean
// that there is nothing.
func (e *Engine) freshPage(ctx context.Context, c *call) (page, error) {
	profile, before, err := e.open(ctx, c)
	if err != nil {
		p, failed := e.oldSessionPage(ctx, c, err)
		if failed != nil && before.Replayed {
			c.restore(ctx, page{Page: before}, before.Refs)
		}
		return p, failed
	}
	if before.Replayed {
		c.stepDone(ctx, before, nil)
		return page{Page: before}, nil
	}
	q, variant := e.query(c.Agent, profile)
	c.variant = variant
	for try := 1; ; try++ {
		found, err := e.stages.choose(ctx, wanted{c.Agent, c.Feed, q, c.Limit + c.past, c.Limit, e.cfg.RoundsFor})
		if err != nil {
			return e.oldSessionPage(ctx, c, err)
		}
		if c.Action == ActionLoadMore { // scrolling must end, so items already shown today are not repeated
			found.repeats = found.repeats[:found.earlier]
		}
		if e.cfg.RecordServed && len(found.stale) > 0 && try == 1 {
			e.stores.Recorder.Deliver(c.Agent, found.stale)
		}
		if found.missing&degraded.Dedup != 0 {
			return e.failOpen.page(c, found) // trying the session too would only cost its timeout
		}
		if found.fallback && !c.pastSession {
			// The list for all readers is a substitute; what is left of the session is the
			// reader's own.
			c.pastSession = true
			if p, err := e.oldSessionPage(ctx, c, recall.ErrUnavailable); err == nil {
				p.ofSession = true
				return p, nil
			}
		}
		p, err := e.replace(ctx, c, found, profile.Refreshed())
		if e.failOpen.allows(ctx, err) {
			return e.failOpen.page(c, found)
		}
		handedOut := len(p.Refs) == 0 && !p.Replayed && len(found.ranked)+len(found.repeats) > 0 // elsewhere, since the check
		if err != nil || !handedOut || try == pageTries {
			return page{Page: p, missing: found.missing}, err
		}
	}
}

// replace is the page step of a refresh; known reports that it is not the agent's first one.
func (e *Engine) replace(ctx context.Context, c *call, found chosen, known bool) (cache.Page, error) {
	ctx, end := e.enter(ctx, pageStage)
	defer end()
	p, err := e.stores.Sessions.Replace(ctx, cache.Replace{
		Agent: c.Agent, Ranked: found.session(), Limit: c.Limit,
		Now: e.cfg.Clock(), Call: c.next(), CheckedAt: found.checkedAt, Known: known,
	})
	c.stepDone(ctx, p, err)
	return p, err
}
