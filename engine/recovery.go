package engine

import (
	"context"
	"log/slog"
	"time"

	"github.com/freshet/freshet/feed"
)

// Recovery tells whether the stores have been down lately, on this server or
// another one, so that a session may still hold what was handed out without it.
type Recovery interface {
	// Recovering is asked at every page. It must not block.
	Recovering() bool
	// Recorded tells of each key, a group or an id, whether a filter of the window has it,
	// pending or not. Errors are those of [dedup.Checker].
	Recorded(ctx context.Context, agent string, keys []string, now time.Time) ([]bool, error)
}

func (e *Engine) recovering() bool {
	return e.stores.Recovery != nil && e.stores.Recovery.Recovering()
}

// unseen leaves out of a page what is in a filter by now, while the stores
// recover from having been down. unsure says that the page may hold more of the
// kind, which no server has written down yet.
func (e *Engine) unseen(ctx context.Context, agent string, refs []feed.Ref) (left []feed.Ref, unsure bool) {
	if !e.recovering() {
		return refs, false
	}
	if len(refs) == 0 {
		return refs, true
	}
	ctx, end := e.enter(ctx, dedupStage)
	defer end()
	recorded, err := e.stores.Recovery.Recorded(ctx, agent, feed.Keys(refs), e.cfg.Clock())
	if err != nil {
		slog.WarnContext(ctx, "a page could not be checked again after an outage; it is answered as it is", "agent", agent, "error", err)
		return refs, true
	}
	left = make([]feed.Ref, 0, len(refs))
	for _, ref := range refs {
		known := recorded[0]
		if recorded = recorded[1:]; ref.ID != ref.Group {
			known, recorded = known || recorded[0], recorded[1:]
		}
		if !known {
			left = append(left, ref)
		}
	}
	return left, true
}
