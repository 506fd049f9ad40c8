package engine

import (
	"context"
	"slices"
	"time"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/engine/degraded"
	"github.com/freshet/freshet/feed"
)

// Fallback stores impressions on disk while the dedup or session store is down, and records them
// later.
type Fallback interface {
	// Keep stores the keys of the items that an agent was handed out at now. It is called once
	// per page, before the page is answered. The page is answered even after an error; its items
	// may then be shown again.
	Keep(agent string, keys []string, now time.Time) error
}

// Recovery reports whether the stores were down recently, on this server or another one, so that
// a session may still hold items that were handed out without it.
type Recovery interface {
	// Recovering is called for every page. It must not block.
	Recovering() bool
	dedup.Filters
}

// Filters is another name of [dedup.Filters].
type Filters = dedup.Filters

// failOpen is the engine's state for outages of the dedup or session store, and for the time
// after them: whether it answers, what this process has handed out, and the pages of that time.
type failOpen struct {
	stores      *Stores
	cfg         *Config
	served      *served // nil means nothing is remembered
	sessionless *sessionlessPages
}

// allows reports whether the engine answers despite an error of the dedup or session store.
func (f *failOpen) allows(ctx context.Context, err error) bool {
	return f.stores.Fallback != nil && down(ctx, err)
}

// retried returns, as a replayed page, the page handed out without the stores for the call's
// request id. The error is [cache.ErrConflict] if that was a different call.
func (f *failOpen) retried(c *call) (page, error) {
	p, err := f.sessionless.get(c, f.cfg.Clock())
	if p.from != sessionless {
		return page{}, nil
	}
	return p, err
}

// page hands out the first candidates without the session store; this process remembers them.
func (f *failOpen) page(c *call, found chosen) (page, error) {
	refs := found.ranked[:min(c.Limit, len(found.ranked))]
	p, err := f.sessionless.put(c, page{
		Page:    cache.Page{Refs: refs, HasMore: len(found.ranked) > len(refs)},
		missing: found.missing | degraded.Session, from: sessionless,
	}, f.cfg.Clock())
	if err == nil && !p.Replayed {
		f.served.add(c.Agent, feed.ClaimKeys(refs), true, f.cfg.Clock())
	}
	return p, err
}

// delivered remembers the items of a page that is being answered. Those of a page without the
// stores go to disk, to be made pending or recorded. The answer is sent even if that fails, which
// is the meaning of failing open.
func (f *failOpen) delivered(ctx context.Context, c *call, p page, refs []feed.Ref, keys []string) {
	if p.from != sessionless {
		if f.served != nil {
			f.sessionless.note(c, p, refs, f.cfg.Clock()) // first: an equal call may be checking
		}
		f.served.add(c.Agent, keys, false, f.cfg.Clock())
		return
	}
	f.keep(ctx, c.Agent, keys)
}

// keep writes to disk the keys that an agent is shown while the stores are down.
func (f *failOpen) keep(ctx context.Context, agent string, keys []string) {
	if err := f.stores.Fallback.Keep(agent, keys, f.cfg.Clock()); err != nil {
		f.cfg.Log.ErrorContext(ctx, "could not save impressions on disk; their items may be shown again",
			"agent", agent, "impressions", len(keys), "error", err)
	}
}

// recovering reports whether answers must say that the stores were down.
func (f *failOpen) recovering() bool {
	return f.stores.Recovery != nil && f.stores.Recovery.Recovering()
}

// unchecked returns what an answer lacks if its items were not checked while the stores recover.
func (f *failOpen) unchecked() degraded.Parts {
	if f.recovering() {
		return degraded.Dedup
	}
	return 0
}

// unseen removes from a page the items that this process handed out and, while the stores recover
// from an outage, the items now in a filter: a session that outlived a fault may still hold them.
// Items that an equal call was answered with from the same record stay. missing is Dedup if the
// page may hold more such items, which no server has recorded yet.
func (f *failOpen) unseen(ctx context.Context, c *call, refs []feed.Ref) (left []feed.Ref, missing degraded.Parts) {
	left, missing = f.unknown(ctx, c.Agent, refs)
	if len(left) == len(refs) || c.RequestID == "" {
		return left, missing
	}
	alike, err := f.sessionless.get(c, f.cfg.Clock())
	return slices.DeleteFunc(slices.Clone(refs), func(r feed.Ref) bool {
		return !slices.Contains(left, r) && (err != nil || !slices.Contains(alike.Refs, r))
	}), missing
}

func (f *failOpen) unknown(ctx context.Context, agent string, refs []feed.Ref) (left []feed.Ref, missing degraded.Parts) {
	refs = f.served.unknown(agent, refs, f.cfg.RecordServed, f.cfg.Clock())
	missing = f.unchecked()
	if missing == 0 || len(refs) == 0 {
		return refs, missing
	}
	ctx, timed := f.cfg.enter(ctx, dedupStage)
	defer timed.end()
	keys, each := make([]string, 0, len(refs)), make([]int, len(refs))
	for i, ref := range refs {
		keys, each[i] = ref.AppendTakenKeys(keys)
	}
	recorded, err := f.stores.Recovery.Recorded(ctx, agent, keys, f.cfg.Clock())
	if err != nil {
		f.cfg.Log.WarnContext(ctx, "could not check a page for items recorded meanwhile; it is returned unchecked", "agent", agent, "error", err)
		return refs, missing
	}
	for i, n := range each {
		if !slices.Contains(recorded[:n], true) {
			left = append(left, refs[i])
		}
		recorded = recorded[n:]
	}
	return left, missing
}
