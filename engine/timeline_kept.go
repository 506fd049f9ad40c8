package engine

import (
	"context"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/timeline"
)

// keptAtOnce is how many entries of a list are looked at in one step while the
// store cannot be asked: most of them may be of posts that are not kept.
const keptAtOnce = 100

// keptPage is a page while the store cannot be asked: of what the agent's list
// proposes, the public posts that are kept. Nothing is known then of relations, so
// nothing is said of them; only the agent's own mutes hold. cause is the error
// where there is nothing to show.
func (r *timelineRead) keptPage(ctx context.Context, req TimelineRequest, cause error) (TimelinePage, error) {
	r.lacks |= lacksSocial
	if late := r.t.stores.Late; late != nil && late() {
		r.lacks |= lacksTimeline
	}
	page := TimelinePage{Posts: []social.Card{}, Next: req.Below}
	for {
		list, err := r.t.stores.Lists.Read(ctx, r.agent, page.Next, keptAtOnce)
		if err != nil || list.State != timeline.Ready {
			break
		}
		left, err := r.showKept(ctx, &page, list.Entries, req.Limit)
		if err != nil {
			break
		}
		// Below a floor there is more, for when the store is back.
		page.HasMore = left || list.More || !list.Floor.Zero()
		if left || !list.More {
			break
		}
	}
	if len(page.Posts) == 0 {
		return TimelinePage{}, cause
	}
	return page, nil
}

// showKept puts those of the entries on the page that are kept. left says that
// some were not examined, because the page is full.
func (r *timelineRead) showKept(ctx context.Context, page *TimelinePage, entries []timeline.Position, limit int) (left bool, err error) {
	ids := make([]string, len(entries))
	for i, e := range entries {
		ids[i] = e.ID
	}
	cards, err := r.t.stores.Kept.Kept(ctx, ids)
	if err != nil {
		return false, err
	}
	return page.put(cards, entries, limit, func(c *social.Card, at social.Position) bool {
		return c.Visible && c.Public && c.CreatedAt == at.At && !r.mutes(c)
	}), nil
}
