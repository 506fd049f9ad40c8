package engine

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
)

// Fallback keeps impressions on disk while the dedup store is down, and
// records them when it is back.
type Fallback interface {
	// Keep takes the keys of what an agent was handed out at now. It is
	// asked once for each page, before the page is answered. After an error
	// the page is answered all the same, and what was not kept may be shown
	// again.
	Keep(agent string, keys []string, now time.Time) error
}

// Recovery tells whether the stores have been down lately, on this server or
// another one, so that a session may still hold what was handed out without it.
type Recovery interface {
	// Recovering is asked at every page. It must not block.
	Recovering() bool
	Filters
}

// Filters tells what was recorded.
type Filters interface {
	// Recorded reports for each key, a group or an id, whether a filter of the window has it,
	// pending or not. Errors are those of [dedup.Checker].
	Recorded(ctx context.Context, agent string, keys []string, now time.Time) ([]bool, error)
}

// failOpen is the engine's state for the time when the dedup or session store is down,
// or has been lately: whether it answers, what this process has handed out, and
// the pages of that time. The zero failOpen fails closed, remembers nothing and
// finds that the stores were never down.
type failOpen struct {
	fallback    Fallback // nil: an answer without the stores is an error
	recovery    Recovery // nil: the stores were never down
	served      *served  // nil: nothing is remembered
	sessionless sessionlessPages
	all         bool // what was handed out is an impression: what is served counts for good
	clock       feed.Clock
	log         *slog.Logger
	enter       func(context.Context, stage) (context.Context, func())
}

// allows reports whether the engine answers in spite of this error of the dedup
// or session store.
func (f *failOpen) allows(ctx context.Context, err error) bool {
	return f.fallback != nil && down(ctx, err)
}

// retried returns the page without the stores that was handed out under the
// call's request id. The error is [cache.ErrConflict] where that was another
// call.
func (f *failOpen) retried(c *call) (p page, ok bool, err error) {
	return f.sessionless.get(c, f.clock())
}

// page hands out the first candidates without the session store. This process
// remembers them; other servers do not know.
func (f *failOpen) page(c *call, found chosen) (page, error) {
	refs := found.ranked[:min(c.Limit, len(found.ranked))]
	p, err := f.sessionless.put(c, page{
		Page:  cache.Page{Refs: refs, HasMore: len(found.ranked) > len(refs)},
		lacks: found.lacks | lacksSession, sessionless: true,
	}, f.clock())
	if err == nil && !p.Replayed {
		f.served.add(c.Agent, feed.ClaimKeys(refs), true, f.clock())
	}
	return p, err
}

// delivered remembers what of a page is being answered. That of a page without
// the stores goes to disk, to be made pending or recorded. The answer leaves even
// if that fails, which is the meaning of failing open.
func (f *failOpen) delivered(ctx context.Context, c *call, p page, refs []feed.Ref, keys []string) {
	if !p.sessionless {
		if f.served != nil {
			f.sessionless.note(c, p, refs, f.clock()) // first: an equal call may be looking
		}
		f.served.add(c.Agent, keys, false, f.clock())
		return
	}
	f.keep(ctx, c.Agent, keys)
}

// keep has the disk keep what an agent is shown without the stores.
func (f *failOpen) keep(ctx context.Context, agent string, keys []string) {
	if err := f.fallback.Keep(agent, keys, f.clock()); err != nil {
		f.log.ErrorContext(ctx, "impressions could not be kept on disk; they may be shown again",
			"agent", agent, "impressions", len(keys), "error", err)
	}
}

// undelivered forgets what was in the end not answered.
func (f *failOpen) undelivered(agent string, refs []feed.Ref) {
	f.served.remove(agent, feed.ClaimKeys(refs), f.clock())
}

// mark changes the verdict of what this process handed out to Pending. blind
// says that the store could not be asked.
func (f *failOpen) mark(agent string, keys []string, verdicts []dedup.Verdict, blind bool) {
	f.served.mark(agent, keys, verdicts, f.all || blind, f.clock())
}

// recovering reports whether answers are to say that the stores were down.
func (f *failOpen) recovering() bool { return f.recovery != nil && f.recovery.Recovering() }

// unseen leaves out of a page what this process handed out, and, while the
// stores recover from having been down, what is in a filter by now: a session
// that outlived a fault may still hold it. What an equal call was answered with from the
// same record stays. unsure says that the page may hold more of the kind, which no server
// has written down yet.
func (f *failOpen) unseen(ctx context.Context, c *call, refs []feed.Ref) (left []feed.Ref, unsure bool) {
	left, unsure = f.unknown(ctx, c.Agent, refs)
	if len(left) == len(refs) || c.RequestID == "" {
		return left, unsure
	}
	alike := f.sessionless.noted(c, f.clock())
	return slices.DeleteFunc(slices.Clone(refs), func(r feed.Ref) bool {
		return !slices.Contains(left, r) && !slices.Contains(alike, r)
	}), unsure
}

func (f *failOpen) unknown(ctx context.Context, agent string, refs []feed.Ref) (left []feed.Ref, unsure bool) {
	refs = f.served.unknown(agent, refs, f.all, f.clock())
	if unsure = f.recovering(); !unsure || len(refs) == 0 {
		return refs, unsure
	}
	ctx, end := f.enter(ctx, dedupStage)
	defer end()
	recorded, err := f.recovery.Recorded(ctx, agent, feed.Keys(refs), f.clock())
	if err != nil {
		f.log.WarnContext(ctx, "a page could not be checked again; it is answered as it is", "agent", agent, "error", err)
		return refs, true
	}
	for i, known := range byRef(refs, recorded, func(group, id bool) bool { return group || id }) {
		if !known {
			left = append(left, refs[i])
		}
	}
	return left, true
}
