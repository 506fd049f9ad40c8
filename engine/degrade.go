package engine

import (
	"context"
	"errors"

	"github.com/freshet/freshet/cache"
	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/recall"
)

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

// oldSessionPage pages on in the session of before, because the refresh cannot
// be made; cause says why, and is the error where there is no session either.
// Whatever is down, what the page lacks is a new search: its items were checked
// when the session was built and are not shown twice.
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
