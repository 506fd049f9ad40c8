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

// page is a page that is being turned into an answer.
type page struct {
	cache.Page
	from    origin
	missing degraded.Parts
}

// origin is where a page comes from.
type origin int

const (
	ofSession   origin = iota // the session, or the record of an equal call
	substitute                // the session, although a refresh was requested; a new session can replace the page
	sessionless               // a list, without the session store: only this process remembers the page
)

// plan is how an attempt claims a page.
type plan int

const (
	fromMemory     plan = iota // the sessionless page of an equal call
	fromSession                // the next page of the session
	fromOthers                 // the next page of a session that another refresh has built in the meantime
	fromRecall                 // a new session; the old one is paged if recall has only a list for all readers
	fromRecallOnly             // a new session in any case: the old one was paged already, or cannot be read
)

// outcome is the result of an attempt.
type outcome int

const (
	pageReady     outcome = iota // it can be answered
	pageFailed                   // with an error
	sessionEmpty                 // there is no session, or nothing is left in it
	allHandedOut                 // every candidate was handed out elsewhere since it was checked
	allDeleted                   // every item was deleted or refused, and the session has no more
	allUnreadable                // no item of a substitute can be read; a list for all readers includes its contents
)

// attempts is the state of the attempts at a page.
type attempts struct {
	plan    plan
	turn    *ticket // nil before the call has waited for its turn to refresh
	opened  bool    // query and known are set
	query   feed.Query
	known   bool // the agent has refreshed before
	chosen  int  // length of the list that was last chosen
	deleted int  // candidates that a refresh has to get past, because they were deleted
	recalls int  // attempts that chose a list
}

// page answers a call that hands out a page. An attempt claims a page, of the session or of
// candidates that it chooses, and hydrates it. Its outcome determines the next one: an empty page
// must mean that there is nothing.
func (e *Engine) page(ctx context.Context, c *call) (Answer, error) {
	var t attempts
	defer t.leave()
	for {
		var got hydrated
		p, err := e.claim(ctx, c, &t)
		result := t.claimed(p, err)
		if result == pageReady {
			got, err = fillPage(ctx, c, c.Limit, &p)
			result = t.hydrated(ctx, p, &got, err)
		}
		switch result { // after allHandedOut it chooses again, further down
		case pageReady:
			return e.answer(ctx, c, p, got), nil
		case sessionEmpty:
			err = e.afterSession(ctx, c, &t)
		case allDeleted:
			t.plan, t.opened, t.deleted = max(t.plan, fromRecall), false, got.short()
		case allUnreadable:
			t.plan, t.opened, err = fromRecallOnly, false, nil
		}
		if err != nil {
			return Answer{}, err
		}
	}
}

// claim takes a page as planned. While the session store is down and the engine fails open, the
// session counts as empty.
func (e *Engine) claim(ctx context.Context, c *call, t *attempts) (page, error) {
	switch t.plan {
	case fromMemory:
		return e.failOpen.retried(c)
	case fromSession, fromOthers:
		p, err := c.pop(ctx, c.Limit)
		if t.plan == fromSession {
			countLoadMore(p, err)
		} else {
			p.from = substitute
		}
		if e.failOpen.allows(ctx, err) {
			return page{}, nil
		}
		return p, err
	}
	p, err := e.refresh(ctx, c, t)
	if t.turn != nil && err == nil && !p.Replayed && p.from != sessionless {
		t.turn.built = true
	}
	return p, err
}

// claimed returns the outcome of claiming a page.
func (t *attempts) claimed(p page, err error) outcome {
	empty := len(p.Refs) == 0 && !p.Replayed
	switch {
	case err != nil:
		return pageFailed
	case empty && t.plan < fromRecall:
		return sessionEmpty
	case empty && t.chosen > 0 && p.from == ofSession && t.recalls < pageTries:
		return allHandedOut
	}
	return pageReady
}

// hydrated returns the outcome of hydrating a page. A replayed page is left to the equal call: its
// record accepts no steps of others. Recall may propose items for about a second after they were
// deleted or changed.
func (t *attempts) hydrated(ctx context.Context, p page, got *hydrated, err error) outcome {
	empty := len(got.docs) == 0 && !p.HasMore
	switch {
	case down(ctx, err) && p.from == substitute && !p.Replayed:
		return allUnreadable
	case err != nil:
		return pageFailed
	case empty && got.short() > t.deleted && t.recalls < pageTries:
		return allDeleted
	}
	return pageReady
}

// afterSession plans the attempt after a session that has nothing left. A call waits for its turn
// before it refreshes. If it waited for another refresh of the same agent, it pages from that one's
// session, if that is recent enough.
func (e *Engine) afterSession(ctx context.Context, c *call, t *attempts) (err error) {
	switch {
	case t.plan == fromMemory && c.Action == ActionLoadMore:
		t.plan = fromSession
		return nil
	case t.plan == fromOthers:
		t.plan = fromRecall
		return nil
	}
	inside, timed := e.cfg.enter(ctx, turnStage)
	defer timed.end()
	t.turn, err = e.turns.enter(inside, turnOf{c.Agent, c.Feed}, e.cfg.Clock(), e.cfg.Coalesce)
	if err != nil {
		return err
	}
	t.plan = fromRecall
	if t.turn.follows {
		t.plan = fromOthers
	}
	return nil
}

// leave ends the call's turn.
func (t *attempts) leave() {
	if t.turn != nil {
		t.turn.leave()
	}
}

// refresh recalls, and replaces the session by the list it has chosen. The page is that of an equal
// call if there is one, of the old session if a store is down, or sessionless if those that hold
// what was shown are down.
func (e *Engine) refresh(ctx context.Context, c *call, t *attempts) (page, error) {
	first := !t.opened
	if first {
		if t.turn != nil {
			t.turn.begin(e.cfg.Clock())
		}
		before, err := e.open(ctx, c, t)
		if err != nil {
			p, failed := e.oldSession(ctx, c, err)
			if failed != nil && before.Replayed {
				c.restore(ctx, before, before.Refs)
			}
			return p, failed
		}
		if before.Replayed {
			c.stepDone(ctx, before.Page, nil)
			return before, nil
		}
	}
	t.recalls++
	found, err := e.stages.choose(ctx, wanted{agent: c.Agent, feed: c.Feed, query: t.query, want: c.Limit + t.deleted, page: c.Limit, budget: e.cfg.RoundsFor, ahead: c.ahead})
	if err != nil {
		return e.oldSession(ctx, c, err)
	}
	if c.Action == ActionLoadMore { // scrolling must end, so items already shown today are not repeated
		found.repeats = found.repeats[:found.earlier]
	}
	if first && len(found.stale) > 0 {
		e.stores.Recorder.Deliver(c.Agent, found.stale)
	}
	if found.missing&degraded.Dedup != 0 {
		return e.failOpen.page(c, found) // trying the session too would only cost its timeout
	}
	if found.fallback && t.plan == fromRecall { // what is left of the session is the reader's own
		t.plan = fromRecallOnly
		p, err := e.oldSession(ctx, c, recall.ErrUnavailable)
		if err == nil {
			p.from = substitute
			return p, nil
		}
	}
	t.chosen = len(found.ranked) + len(found.repeats)
	p, err := c.replace(ctx, &found, t.known)
	if e.failOpen.allows(ctx, err) {
		return e.failOpen.page(c, found)
	}
	return p, err
}

// open reads for whom a refresh recalls and, concurrently, the page of the call's request id, if any.
func (e *Engine) open(ctx context.Context, c *call, t *attempts) (before page, err error) {
	ctx, timed := e.cfg.enter(ctx, openStage)
	defer timed.end()
	if c.ahead == nil {
		ctx, c.ahead = e.stages.readsAhead(ctx, c.Agent)
	}
	var p feed.Profile
	if c.RequestID == "" || c.step > 0 {
		p, err = e.stages.profile(ctx, c.Agent)
	} else {
		p, before.Page, err = e.profileAndRecord(ctx, c)
	}
	if err != nil || before.Replayed {
		return before, err
	}
	t.opened, t.known = true, p.Refreshed()
	t.query, c.variant, err = e.stages.query(c.Agent, c.Feed, p)
	return before, err
}

func (e *Engine) profileAndRecord(ctx context.Context, c *call) (p feed.Profile, before cache.Page, err error) {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(safego.Func(func() (err error) {
		p, err = e.stages.profile(ctx, c.Agent)
		return err
	}))
	group.Go(safego.Func(func() (err error) {
		before, _, err = e.stores.Sessions.Replay(ctx, c.Agent, c.next())
		if e.failOpen.allows(ctx, err) {
			return nil
		}
		return err
	}))
	err = group.Wait()
	return p, before, err
}

// oldSession continues with the previous session after a failure; it returns cause if there
// is no session either. Whichever store is down, the page lacks a new search: its items were
// checked when the session was built and are not shown twice.
func (e *Engine) oldSession(ctx context.Context, c *call, cause error) (page, error) {
	if !down(ctx, cause) {
		return page{}, cause
	}
	p, err := c.pop(ctx, c.Limit)
	if err != nil || len(p.Refs) == 0 {
		return page{}, cause
	}
	p.missing = degraded.Recall
	return p, nil
}
