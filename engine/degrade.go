package engine

import (
	"context"
	"errors"
	"log/slog"
	"time"

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
func (e *Engine) loosePage(c *call, found chosen) (page, error) {
	refs := found.ranked[:min(c.Limit, len(found.ranked))]
	p, err := e.loose.put(c, page{
		Page:  cache.Page{Refs: refs, HasMore: len(found.ranked) > len(refs)},
		lacks: found.lacks | lacksSession, loose: true,
	}, e.cfg.Clock())
	if err == nil && !p.Replayed && e.served != nil {
		e.served.add(c.Agent, feed.Keys(refs), true, e.cfg.Clock())
	}
	return p, err
}

// oldSessionPage pages on in the session of before, because the refresh cannot
// be made; cause says why, and is the error where there is no session either.
func (e *Engine) oldSessionPage(ctx context.Context, c *call, cause error) (page, error) {
	if !down(ctx, cause) {
		return page{}, cause
	}
	p, err := e.pop(ctx, c, c.Limit)
	if err != nil || len(p.Refs) == 0 {
		return page{}, cause
	}
	p.lacks = lacksRecall
	return p, nil
}

// keep puts the impressions of a loose page on disk. The answer leaves even if
// that fails: it is what failing open means.
func (e *Engine) keep(ctx context.Context, agent string, keys []string) {
	if err := e.stores.Fallback.Keep(agent, keys, e.cfg.Clock()); err != nil {
		slog.ErrorContext(ctx, "impressions could not be kept on disk; they may be shown again", "agent", agent, "impressions", len(keys), "error", err)
	}
}
