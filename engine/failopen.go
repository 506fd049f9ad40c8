package engine

import (
	"context"
	"slices"
	"time"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/feed"
)

// Fallback keeps impressions on disk while the dedup store is down, and records them later.
type Fallback interface {
	// Keep takes the keys of what an agent was handed out at now, once for each page, before
	// the page is answered. After an error it is answered all the same, and what was not kept
	// may be shown again.
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
// the pages of that time.
type failOpen struct {
	e           *Engine
	served      *served // nil: nothing is remembered
	sessionless *sessionlessPages
}

// allows reports whether the engine answers in spite of an error of the dedup or session store.
func (f *failOpen) allows(ctx context.Context, err error) bool {
	return f.e.stores.Fallback != nil && down(ctx, err)
}

// retried returns, as a replayed one, the page without the stores that was handed out under the
// call's request id. The error is [cache.ErrConflict] where that was another call.
func (f *failOpen) retried(c *call) (page, error) {
	p, err := f.sessionless.get(c, f.e.cfg.Clock())
	if !p.sessionless {
		return page{}, nil
	}
	return p, err
}

// page hands out the first candidates without the session store; this process remembers them.
func (f *failOpen) page(c *call, found chosen) (page, error) {
	refs := found.ranked[:min(c.Limit, len(found.ranked))]
	p, err := f.sessionless.put(c, page{
		Page:  cache.Page{Refs: refs, HasMore: len(found.ranked) > len(refs)},
		lacks: found.lacks | lacksSession, sessionless: true,
	}, f.e.cfg.Clock())
	if err == nil && !p.Replayed {
		f.served.add(c.Agent, feed.ClaimKeys(refs), true, f.e.cfg.Clock())
	}
	return p, err
}

// delivered remembers what of a page is being answered. That of a page without
// the stores goes to disk, to be made pending or recorded. The answer leaves even
// if that fails, which is the meaning of failing open.
func (f *failOpen) delivered(ctx context.Context, c *call, p page, refs []feed.Ref, keys []string) {
	if !p.sessionless {
		if f.served != nil {
			f.sessionless.note(c, p, refs, f.e.cfg.Clock()) // first: an equal call may be looking
		}
		f.served.add(c.Agent, keys, false, f.e.cfg.Clock())
		return
	}
	f.keep(ctx, c.Agent, keys)
}

// keep has the disk keep what an agent is shown without the stores.
func (f *failOpen) keep(ctx context.Context, agent string, keys []string) {
	if err := f.e.stores.Fallback.Keep(agent, keys, f.e.cfg.Clock()); err != nil {
		f.e.cfg.Log.ErrorContext(ctx, "impressions could not be kept on disk; they may be shown again",
			"agent", agent, "impressions", len(keys), "error", err)
	}
}

// recovering reports whether answers are to say that the stores were down.
func (f *failOpen) recovering() bool {
	return f.e.stores.Recovery != nil && f.e.stores.Recovery.Recovering()
}

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
	alike, err := f.sessionless.get(c, f.e.cfg.Clock())
	return slices.DeleteFunc(slices.Clone(refs), func(r feed.Ref) bool {
		return !slices.Contains(left, r) && (err != nil || !slices.Contains(alike.Refs, r))
	}), unsure
}

func (f *failOpen) unknown(ctx context.Context, agent string, refs []feed.Ref) (left []feed.Ref, unsure bool) {
	refs = f.served.unknown(agent, refs, f.e.cfg.RecordServed, f.e.cfg.Clock())
	if unsure = f.recovering(); !unsure || len(refs) == 0 {
		return refs, unsure
	}
	ctx, end := f.e.enter(ctx, dedupStage)
	defer end()
	recorded, err := f.e.stores.Recovery.Recorded(ctx, agent, feed.Keys(refs), f.e.cfg.Clock())
	if err != nil {
		f.e.cfg.Log.WarnContext(ctx, "a page could not be checked again; it is answered as it is", "agent", agent, "error", err)
		return refs, true
	}
	for i, known := range byRef(refs, recorded, func(group, id bool) bool { return group || id }) {
		if !known {
			left = append(left, refs[i])
		}
	}
	return left, true
}
