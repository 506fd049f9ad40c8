package engine

import (
	"context"

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
	cards := t.stores.Posts.Cards
	if r.Grid {
		cards = t.tiles
	}
	if page, err = pageOf(ctx, cards, r.Reader, entries, r.Limit); err != nil {
		return page, err
	}
	return t.answer(ctx, r.Reader, page, 0)
}

func (t *Timelines) tiles(ctx context.Context, reader string, posts []social.Known) ([]social.Card, error) {
	ids := make([]string, len(posts))
	for i, p := range posts {
		ids[i] = p.ID
	}
	return t.stores.Posts.Tiles(ctx, reader, ids)
}
