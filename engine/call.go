package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/feed"
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
	// pastSession says that the session of before was tried, in place of a list for all
	// readers.
	pastSession bool
	// first says that it is the agent's first refresh.
	first bool
	// profile is the profile that the page was read with; nil: nothing was read.
	profile *feed.Profile
	// uncertain says that the next step may have been made already, and that
	// it is unknown what it handed out.
	uncertain bool
	// kept says that something that could not be delivered could not be given
	// back either.
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
