package timeline

import (
	"cmp"
	"context"
	"slices"

	"github.com/freshet/freshet/feed"
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

func (r *pageRead) circlePage(ctx context.Context, req CircleRequest) (page Page, err error) {
	err = r.fill(ctx, &page, pageSource{
		from: req.Below, limit: req.Limit,
		next: entriesOf(func(ctx context.Context, after social.Position, n int) ([]social.Entry, error) {
			return r.t.stores.Posts.CirclePosts(ctx, r.agent, req.Circle, after, n)
		}),
		shows: func(c *social.Card, at social.Position) bool {
			here := slices.ContainsFunc(c.Circles, func(ref social.CircleRef) bool { return ref.ID == req.Circle })
			return here && asProposed(c, at) && !r.mutes(c)
		},
	})
	return page, err
}
