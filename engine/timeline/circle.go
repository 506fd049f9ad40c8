package timeline

import (
	"cmp"
	"context"
	"slices"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/social"
)

// CircleRequest asks for a page of the posts of a circle, newest first.
type CircleRequest struct {
	Reader string
	Circle string
	Below  social.Position // position of the cursor; zero means from the newest
	Limit  int             // 1 to [MaxLimit]
}

// Circle returns one page of the posts that the reader sees through a circle, without those that
// the reader has muted. Errors wrap [feed.ErrNotFound] or [feed.ErrForbidden], as
// [social.Lists] says, [feed.ErrBadLimit], [feed.ErrBadID] or [social.ErrUnavailable].
func (t *Timelines) Circle(ctx context.Context, r CircleRequest) (Page, error) {
	if err := cmp.Or(feed.CheckLimit(r.Limit, MaxLimit), social.CheckAgent(r.Reader), social.CheckCircleID(r.Circle)); err != nil {
		return Page{}, err
	}
	ctx = t.cfg.Begin(ctx)
	read := &pageRead{t: t, agent: r.Reader}
	if err := read.readProfile(ctx); err != nil {
		return Page{}, err
	}
	page, err := read.circlePage(ctx, r)
	if err != nil {
		return Page{}, err
	}
	return t.answer(ctx, r.Reader, page, read.missing)
}

func (r *pageRead) circlePage(ctx context.Context, req CircleRequest) (Page, error) {
	page := Page{Posts: []social.Card{}, Next: req.Below}
	shows := func(c *social.Card, at social.Position) bool {
		here := slices.ContainsFunc(c.Circles, func(ref social.CircleRef) bool { return ref.ID == req.Circle })
		return here && asProposed(c, at) && !r.mutes(c)
	}
	for range 1 + refills {
		entries, err := r.t.stores.Posts.CirclePosts(ctx, r.agent, req.Circle, page.Next, req.Limit+1)
		if err != nil {
			return page, err
		}
		more := len(entries) > req.Limit
		found := convert.Each(entries[:min(len(entries), req.Limit)], func(e social.Entry) social.Position { return e.Position })
		cards, err := r.t.stores.Posts.Cards(ctx, r.agent, convert.Each(found, r.known))
		if err != nil {
			return page, err
		}
		page.HasMore = page.put(cards, found, req.Limit, shows) || more
		if len(page.Posts) == req.Limit || !page.HasMore {
			break
		}
	}
	return page, nil
}
