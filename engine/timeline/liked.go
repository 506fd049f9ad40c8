package timeline

import (
	"cmp"
	"context"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// LikedRequest asks for a page of the posts that an agent has liked, the newest like first.
type LikedRequest struct {
	Agent string
	Below social.Position // position of the cursor; zero means from the newest
	Limit int             // 1 to [MaxLimit]
}

// Liked returns one page of the posts that the agent likes and may see, whatever the agent has muted.
// The agent knows them, so they are not recorded as shown. The time of its positions is when the like was
// made, in microseconds. Errors wrap [feed.ErrBadLimit], [feed.ErrBadID] or [social.ErrUnavailable].
func (t *Timelines) Liked(ctx context.Context, r LikedRequest) (page Page, err error) {
	if err := cmp.Or(feed.CheckLimit(r.Limit, MaxLimit), social.CheckAgent(r.Agent)); err != nil {
		return page, err
	}
	ctx = t.cfg.Begin(ctx)
	read := &pageRead{t: t, agent: r.Agent}
	err = read.fill(ctx, &page, pageSource{
		from: r.Below, limit: r.Limit,
		next: entriesOf(func(ctx context.Context, after social.Position, n int) ([]social.Entry, error) {
			return t.stores.Posts.Liked(ctx, r.Agent, after, n)
		}),
		shows: func(c *social.Card, _ social.Position) bool { return c.Readable() && c.HasLiked },
	})
	if err != nil {
		return Page{}, err
	}
	return t.answer(ctx, "", page, read.missing)
}
