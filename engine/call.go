package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine/degraded"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

// call is one request during its steps at the session store. The step number and the owner
// identify a step's result, so a step whose answer was lost can be repeated and returns the same
// result.
type call struct {
	Request
	e     *Engine
	owner string
	step  int // number of the next step
	// variant is the variant whose ranking made the page; "" for a page of a session.
	variant string
	// past is how many deleted candidates a refresh has to get past.
	past int
	// pastSession reports that the previous session was already tried in place of a list for all
	// readers.
	pastSession bool
	// first reports that this is the agent's first refresh.
	first bool
	// profile is the profile that the page was read with; nil if nothing was read.
	profile *feed.Profile
	// uncertain reports that the next step may already have been made, with an unknown page.
	uncertain bool
	// kept reports that some refs could be neither delivered nor restored.
	kept bool
}

func (e *Engine) newCall(r Request) *call {
	return &call{Request: r, e: e, owner: strconv.FormatUint(rand.Uint64(), 36)}
}

// next identifies the call's next step at the session store.
func (c *call) next() cache.Call {
	return cache.Call{RequestID: c.RequestID, Owner: c.owner, Feed: c.Feed, Action: string(c.Action), Limit: c.Limit, Step: c.step}
}

// stepDone records the outcome of the next step. A request that ends during a step does not learn its
// outcome either.
func (c *call) stepDone(ctx context.Context, p cache.Page, err error) {
	if err == nil {
		c.step, c.uncertain, c.first = p.Next, false, c.first || p.First
		return
	}
	c.uncertain = c.uncertain || errors.Is(err, cache.ErrUncertain) || ctx.Err() != nil
}

// abandonFrom returns, after the call was answered or has failed, the step from which on the call may
// have been handed refs that will not be delivered; some is false if there are none. Refs handed
// to a failed call with a request id are left for its retry.
func (c *call) abandonFrom(failed error) (from cache.Call, some bool) {
	from = c.next()
	if failed != nil {
		if c.kept {
			from.Step = 0
		}
		return from, c.RequestID == "" && (c.uncertain || c.kept)
	}
	return from, c.uncertain
}

// page is a page that is being turned into an answer.
type page struct {
	cache.Page
	missing     degraded.Parts
	ofSession   bool // from the previous session, in place of a list for all readers
	sessionless bool // handed out without the session store: only this process remembers it
}

// down reports whether a store is unavailable although the request still has time.
func down(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil {
		return false
	}
	unavailable := []error{recall.ErrUnavailable, dedup.ErrUnavailable, cache.ErrUnavailable, catalog.ErrUnavailable, context.DeadlineExceeded}
	return slices.ContainsFunc(unavailable, func(u error) bool { return errors.Is(err, u) })
}

// each applies of to each element of a list.
func each[T, R any](list []T, of func(T) R) []R {
	out := make([]R, len(list))
	for i := range list {
		out[i] = of(list[i])
	}
	return out
}

// oldSessionPage continues with the previous session after a failure; it returns cause if there
// is no session either. Whichever store is down, the page lacks a new search: its items were
// checked when the session was built and are not shown twice.
func (e *Engine) oldSessionPage(ctx context.Context, c *call, cause error) (page, error) {
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
