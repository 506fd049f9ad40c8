package engine

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

// parts says what an answer had to do without.
type parts uint8

const (
	lacksRecall  parts = 1 << iota // candidates are from an earlier recall or session
	lacksDedup                     // only this process's memory kept items from coming twice
	lacksSession                   // the page is in no session and no pending set
	lacksCatalog                   // items whose content was not cached are left out
)

var partNames = []string{"recall", "dedup", "session", "catalog"}

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
	lacks parts
	loose bool // handed out without the session store: only this process remembers it
}

// Fallback keeps impressions on disk while the dedup store is down, and
// records them when it is back.
type Fallback interface {
	Keep(agent string, groups []string, now time.Time) error
}

// down reports whether an error says that a store cannot be asked at the
// moment while the request itself still has time.
func down(ctx context.Context, err error) bool {
	if err == nil || ctx.Err() != nil {
		return false
	}
	for _, unavailable := range []error{
		recall.ErrUnavailable, dedup.ErrUnavailable, cache.ErrUnavailable, catalog.ErrUnavailable, context.DeadlineExceeded,
	} {
		if errors.Is(err, unavailable) {
			return true
		}
	}
	return false
}

// failsOpen reports whether the engine answers in spite of this error of the
// dedup or session store.
func (e *Engine) failsOpen(ctx context.Context, err error) bool {
	return e.stores.Fallback != nil && down(ctx, err)
}

// loosePage hands out the first candidates without the session store. This
// process remembers them; other servers do not know.
func (e *Engine) loosePage(r Request, found chosen) page {
	refs := feed.Detached(found.ranked[:min(r.Limit, len(found.ranked))])
	e.served.add(r.Agent, feed.Groups(refs), true, e.cfg.Clock())
	return page{
		Page:  cache.Page{Refs: refs, HasMore: len(found.ranked) > len(refs)},
		lacks: found.lacks | lacksSession, loose: true,
	}
}

// oldSessionPage pages on in the session of before, because the refresh cannot
// be made; cause says why, and is the error where there is no session either.
func (e *Engine) oldSessionPage(ctx context.Context, r Request, retry cache.Retry, cause error) (page, error) {
	if !down(ctx, cause) {
		return page{}, cause
	}
	p, err := e.stores.Sessions.Pop(ctx, cache.Pop{Agent: r.Agent, Limit: r.Limit, Now: e.cfg.Clock(), Retry: retry})
	if err != nil || len(p.Refs) == 0 {
		return page{}, cause
	}
	return page{Page: p, lacks: lacksRecall}, nil
}

// keep puts the impressions of a loose page on disk. The answer leaves even if
// that fails: it is what failing open means.
func (e *Engine) keep(ctx context.Context, agent string, groups []string) {
	if err := e.stores.Fallback.Keep(agent, groups, e.cfg.Clock()); err != nil {
		slog.ErrorContext(ctx, "impressions could not be kept on disk; they may be shown again", "agent", agent, "impressions", len(groups), "error", err)
	}
}

const (
	rememberAgents = 10_000
	rememberGroups = 1_000 // of one agent, in each of its two generations
	rememberFor    = 24 * time.Hour
)

// memory is what this process has handed out lately, for as many agents as
// fit. It stands in for the dedup store while that is down, and speaks for
// loose pages until they are in a filter.
type memory struct {
	mu  sync.Mutex
	lru *lru.Cache[string, *remembered]
}

// remembered is one agent's share: group → handed out loosely. When the newer
// generation is full it becomes the older one, which is forgotten.
type remembered struct {
	newer, older map[string]bool
	last         time.Time
}

func newMemory() *memory {
	m := &memory{}
	m.lru, _ = lru.New[string, *remembered](rememberAgents) // fails only for a size that is not positive
	return m
}

// add remembers a page. loose says that nothing else knows of it.
func (m *memory) add(agent string, groups []string, loose bool, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.lru.Get(agent)
	if !ok || now.Sub(r.last) > rememberFor {
		r = &remembered{newer: make(map[string]bool, len(groups))}
		m.lru.Add(agent, r)
	}
	if len(r.newer) >= rememberGroups {
		r.newer, r.older = make(map[string]bool, len(groups)), r.newer
	}
	r.last = now
	for _, g := range groups {
		r.newer[g] = loose
	}
}

func (m *memory) remove(agent string, groups []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r, ok := m.lru.Get(agent); ok {
		for _, g := range groups {
			delete(r.newer, g)
			delete(r.older, g)
		}
	}
}

// unknown leaves out the refs that were handed out loosely: a session from
// before may still hold them.
func (m *memory) unknown(agent string, refs []feed.Ref, now time.Time) []feed.Ref {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.lru.Get(agent)
	if !ok || now.Sub(r.last) > rememberFor {
		return refs
	}
	return slices.DeleteFunc(slices.Clone(refs), func(ref feed.Ref) bool { return r.newer[ref.Group] || r.older[ref.Group] })
}

// mark changes the verdict of what the agent was handed out to Pending: of all
// of it where the store was not asked, else of what only this process knows.
func (m *memory) mark(agent string, groups []string, verdicts []dedup.Verdict, asked bool, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.lru.Get(agent)
	if !ok || now.Sub(r.last) > rememberFor {
		return
	}
	for i, g := range groups {
		loose, ok := r.newer[g]
		if !ok {
			loose, ok = r.older[g]
		}
		if ok && (loose || !asked) && verdicts[i] == dedup.Unseen {
			verdicts[i] = dedup.Pending
		}
	}
}
