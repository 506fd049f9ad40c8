package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine/degraded"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
	"github.com/freshet/freshet/signals/coread"
)

// undoTimeout bounds restoring a page after its request has ended.
const undoTimeout = 2 * time.Second

// call is one request during its steps at the session store, the [pageSource] of its pages. The step
// number and the owner identify a step's result, so a step whose answer was lost can be repeated
// and returns the same result.
type call struct {
	Request
	stages *stages
	owner  string
	begun  time.Time
	step   int // number of the next step
	// variant is the variant whose ranking made the page; "" for a page of a session.
	variant string
	// first reports that this is the agent's first refresh.
	first bool
	// profile is the profile that the page was read with; nil if nothing was read.
	profile *feed.Profile
	unknown unknown
	ahead   *coread.Ahead // may have the agent's last reads; nil if they were not asked for
}

// unknown is a set of the refs that the session store may hold for a call and that its answer does
// not contain.
type unknown uint8

const (
	unknownStep     unknown = 1 << iota // of the next step, which may have been made: its reply was lost
	unreturnedSteps                     // of any step: they could be neither delivered nor restored
)

func (e *Engine) newCall(r Request) *call {
	return &call{Request: r, stages: &e.stages, owner: strconv.FormatUint(rand.Uint64(), 36), begun: e.cfg.Clock()}
}

// next identifies the call's next step at the session store.
func (c *call) next() cache.Call {
	return cache.Call{RequestID: c.RequestID, Owner: c.owner, Feed: c.Feed, Action: string(c.Action), Limit: c.Limit, Step: c.step}
}

// stepDone records the outcome of the next step. A request that ends during a step does not learn its
// outcome either.
func (c *call) stepDone(ctx context.Context, p cache.Page, err error) {
	switch {
	case err == nil:
		c.step, c.first = p.Next, c.first || p.First
		c.unknown &^= unknownStep
	case errors.Is(err, cache.ErrUncertain), ctx.Err() != nil:
		c.unknown |= unknownStep
	}
}

// abandonFrom returns, after the call was answered or has failed, the step from which on the call may
// have been handed refs that will not be delivered; some is false if there are none. Refs handed
// to a failed call with a request id are left for its retry.
func (c *call) abandonFrom(failed error) (from cache.Call, some bool) {
	from = c.next()
	if failed == nil {
		return from, c.unknown&unknownStep != 0
	}
	if c.unknown&unreturnedSteps != 0 {
		from.Step = 0
	}
	return from, c.RequestID == "" && c.unknown != 0
}

// clocksApart is more than the clocks of two servers may differ by, see docs/operations.md.
const clocksApart = 5 * time.Minute

// pop takes a page from the session.
func (c *call) pop(ctx context.Context, n int) (page, error) {
	s := c.stages
	ctx, timed := s.enter(ctx, pageStage)
	defer timed.end()
	ahead := 0
	if s.stores.Prefetch != nil {
		ahead = c.Limit
	}
	p, err := s.stores.Sessions.Pop(ctx, cache.Pop{Agent: c.Agent, Limit: n, Now: s.cfg.Clock(), Call: c.next(), Ahead: ahead})
	c.stepDone(ctx, p, err)
	return page{Page: p}, err
}

// replace begins a session with the chosen list and takes its first page; known reports that this
// is not the agent's first refresh.
func (c *call) replace(ctx context.Context, found *chosen, known bool) (page, error) {
	s := c.stages
	ctx, timed := s.enter(ctx, pageStage)
	defer timed.end()
	p, err := s.stores.Sessions.Replace(ctx, cache.Replace{
		Agent: c.Agent, Ranked: found.session(), Limit: c.Limit,
		Now: s.cfg.Clock(), Call: c.next(), CheckedAt: found.checkedAt, Known: known,
	})
	c.stepDone(ctx, p, err)
	return page{Page: p, missing: found.missing}, err
}

// read hydrates a page. It leaves out items that this process already handed out, and they stay
// pending: a session that outlived a fault may still hold them. It does not filter a replayed
// step: a retry on this server may have been answered with it.
func (c *call) read(ctx context.Context, p page) (hydrated, error) {
	s := c.stages
	if p.Replayed {
		// The server that made the page may have a clock that is ahead: what it has shown stays on the page,
		// unless it was given a date beyond that since.
		got, err := s.hydrate(ctx, c.Agent, c.Feed, p.Refs, s.at().Add(clocksApart).Unix())
		got.cut(c.Limit) // two equal concurrent calls may both have topped it up
		got.missing |= s.failOpen.unchecked()
		return got, err
	}
	refs, missing := p.Refs, degraded.Parts(0)
	if p.from != sessionless && !p.Recorded {
		refs, missing = s.failOpen.unseen(ctx, c, refs)
	}
	got, err := s.hydrate(ctx, c.Agent, c.Feed, refs, s.at().Unix())
	got.deliver()
	got.missing |= missing
	if len(refs) < len(p.Refs) {
		got.shown = slices.DeleteFunc(slices.Clone(p.Refs), func(r feed.Ref) bool { return slices.Contains(refs, r) })
	}
	return got, err
}

// restore returns undelivered refs to the session, even if the request has ended.
func (c *call) restore(ctx context.Context, p page, refs []feed.Ref) {
	if len(refs) == 0 || p.Replayed && p.from == sessionless {
		return
	}
	s := c.stages
	if p.from == sessionless {
		s.failOpen.served.remove(c.Agent, feed.ClaimKeys(refs), s.cfg.Clock())
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTimeout)
	defer cancel()
	if err := s.stores.Sessions.Restore(ctx, c.Agent, refs, c.next()); err != nil {
		c.unknown |= unreturnedSteps
		s.cfg.Log.WarnContext(ctx, "items that could not be delivered could not be returned to the session",
			"agent", c.Agent, "items", len(refs), "error", err)
	}
}

// discard removes deleted and muted refs from the pending set, so that they are not recorded as
// impressions, and refs shown before from the call's record, so that a retry leaves them out too.
func (c *call) discard(ctx context.Context, got hydrated) {
	sessions, log := c.stages.stores.Sessions, c.stages.cfg.Log
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

// down reports whether a store is unavailable although the request still has time.
func down(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil {
		return false
	}
	unavailable := []error{recall.ErrUnavailable, dedup.ErrUnavailable, cache.ErrUnavailable, catalog.ErrUnavailable, context.DeadlineExceeded}
	return slices.ContainsFunc(unavailable, func(u error) bool { return errors.Is(err, u) })
}
