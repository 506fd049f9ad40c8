package engine

import (
	"context"
	"slices"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// AuthorRequest asks for a page of an author's posts, newest first.
type AuthorRequest struct {
	Reader string // "": nobody in particular, who sees public posts
	Author string
	Below  social.Position // what the cursor says; zero: from the newest
	Limit  int             // 1 to [MaxTimelineLimit]
	Grid   bool            // the cards are those of [social.Tiles]
}

// Author reads one page of what an author has posted and the reader may see. Errors wrap
// [feed.ErrBadLimit], [feed.ErrBadID] or [social.ErrUnavailable].
func (t *Timelines) Author(ctx context.Context, r AuthorRequest) (page TimelinePage, err error) {
	if err := feed.CheckLimit(r.Limit, MaxTimelineLimit); err != nil {
		return page, err
	}
	if err := social.CheckAgent(r.Author); err != nil {
		return page, err
	}
	ctx = t.begin(ctx)
	entries, err := t.stores.Posts.Grid(ctx, r.Reader, r.Author, r.Below, r.Limit+1)
	if err != nil {
		return page, err
	}
	if page.HasMore = len(entries) > r.Limit; page.HasMore {
		entries = entries[:r.Limit]
	}
	if len(entries) > 0 {
		page.Next = entries[len(entries)-1].Position
	}
	cards, err := t.cards(ctx, r, entries)
	if err != nil {
		return TimelinePage{}, err
	}
	page.Posts = slices.DeleteFunc(cards, func(c social.Card) bool { return !c.Visible || len(c.Content) == 0 })
	return t.answer(ctx, r.Reader, page, 0)
}

func (t *Timelines) cards(ctx context.Context, r AuthorRequest, entries []social.Entry) ([]social.Card, error) {
	ids, known := make([]string, len(entries)), make([]social.Known, len(entries))
	for i, e := range entries {
		ids[i], known[i].ID = e.ID, e.ID
	}
	if r.Grid {
		return t.stores.Posts.Tiles(ctx, r.Reader, ids)
	}
	return t.stores.Posts.Cards(ctx, r.Reader, known)
}
