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
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

// call is one request on its way through its steps at the session store. The
// number of a step and the owner name what the step handed out, so that a step
// whose answer was lost is run again and hands out the same.
type call struct {
	Request
	e     *Engine
	owner string
	step  int // number of the next step
	// variant is whose ranking the page was made by; "": it comes from a session.
	variant string
	// past is how many candidates a refresh goes past, since they are gone.
	past int
	// pastSession says that the session of before was tried in place of a list for all.
	pastSession bool
	// first says that it is the agent's first refresh.
	first bool
	// profile is the profile that the page was read with; nil: nothing was read.
	profile *feed.Profile
	// uncertain says that the next step may have been made already, with an unknown page.
	uncertain bool
	// kept says that something could neither be delivered nor given back.
	kept bool
}

func (e *Engine) newCall(r Request) *call {
	return &call{Request: r, e: e, owner: strconv.FormatUint(rand.Uint64(), 36)}
}

// next identifies the call's next step at the session store.
func (c *call) next() cache.Call {
	return cache.Call{RequestID: c.RequestID, Owner: c.owner, Feed: c.Feed, Action: string(c.Action), Limit: c.Limit, Step: c.step}
}

// made notes the outcome of the next step. A request that ends while its step
// is on its way does not learn of it either.
func (c *call) made(ctx context.Context, p cache.Page, err error) {
	if err == nil {
		c.step, c.uncertain, c.first = p.Next, false, c.first || p.First
		return
	}
	c.uncertain = c.uncertain || errors.Is(err, cache.ErrUncertain) || ctx.Err() != nil
}

// unheard tells from which step on the call may have been handed out something
// that will not be delivered, after it was answered or has failed. What a failed call
// with a request id was handed out is its retry's.
func (c *call) unheard(failed error) (from cache.Call, some bool) {
	from = c.next()
	if failed != nil {
		if c.kept {
			from.Step = 0
		}
		return from, c.RequestID == "" && (c.uncertain || c.kept)
	}
	return from, c.uncertain
}

// parts says what an answer had to do without.
type parts uint16

const (
	lacksRecall    parts = 1 << iota // candidates are from an earlier recall or session
	lacksDedup                       // only this process's memory kept items from coming twice
	lacksSession                     // the page is in no session and no pending set
	lacksCatalog                     // items whose content was not cached are left out; of a timeline, the mutes are not known
	lacksTimeline                    // no list: the social store has answered
	lacksSocial                      // the social store could not be asked: of posts, public ones that were kept are shown
	lacksWhy                         // the items are there, but not why they are
	lacksFollowing                   // of home: a source failed, or was late, and is left out
	lacksTrending
	lacksDiscovery
	lacksPromoted
)

var partNames = []string{"recall", "dedup", "session", "catalog", "timeline", "social", "why", "following", "trending", "discovery", "promoted"}

// names lists the parts as [Answer.Degraded] does; nil when nothing is missing.
func (p parts) names() []string {
	var out []string
	for i, name := range partNames {
		if p&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}

// page is a page on its way to an answer.
type page struct {
	cache.Page
	lacks       parts
	ofSession   bool // of the session of before, in place of a list for all readers
	sessionless bool // handed out without the session store: only this process remembers it
}

// down reports whether a store cannot be asked although the request still has time.
func down(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil {
		return false
	}
	unavailable := []error{recall.ErrUnavailable, dedup.ErrUnavailable, cache.ErrUnavailable, catalog.ErrUnavailable, context.DeadlineExceeded}
	return slices.ContainsFunc(unavailable, func(u error) bool { return errors.Is(err, u) })
}

// each has for each of a list what of makes of it.
func each[T, R any](list []T, of func(T) R) []R {
	out := make([]R, len(list))
	for i := range list {
		out[i] = of(list[i])
	}
	return out
}

// oldSessionPage pages on in the session of before, because of what failed; cause is the
// error where there is no session either. Whatever is down, the page lacks a new search: its
// items were checked when the session was built and are not shown twice.
func (e *Engine) oldSessionPage(ctx context.Context, c *call, cause error) (page, error) {
	if !down(ctx, cause) {
		return page{}, cause
	}
	p, err := c.take(ctx, c.Limit)
	if err != nil || len(p.Refs) == 0 {
		return page{}, cause
	}
	p.lacks = lacksRecall
	return p, nil
}
