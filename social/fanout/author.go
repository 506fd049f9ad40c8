package fanout

import (
	"context"
	"time"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/timeline"
)

// settled is the age from which on a change of an author's delivery is not made right again:
// longer than [jobs.CompletedLives] and what making it right takes.
const settled = time.Hour

// author brings an author from push to pull or back, by way of both, when the number of followers
// has crossed a threshold. In both, pages look into list and outbox, and posts go to either. It
// is left when no job and no server can know of anything older, and when the side that is to
// stay has been made right from the store.
func (f *Fanout) author(ctx context.Context, author string) error {
	c, err := f.d.Store.Celebrity(ctx, author)
	if err != nil {
		return err
	}
	to := c.Wants(f.d.Options)
	if c.Delivery == to {
		if f.d.Clock().Sub(c.Since) > settled {
			return nil
		}
		return f.side(ctx, author, to) // the lists may be those of before the change, see Lost
	}
	if c.Delivery != social.Both {
		if _, err := f.d.Store.SetDelivery(ctx, author, c.Delivery, social.Both); err != nil {
			return err
		}
		return f.later(ctx, author, grace)
	}
	if left := grace - f.d.Clock().Sub(c.Since); left > 0 {
		return f.later(ctx, author, left)
	}
	if err := f.side(ctx, author, to); err != nil {
		return err
	}
	changed, err := f.d.Store.SetDelivery(ctx, author, social.Both, to)
	if changed {
		f.d.Log.InfoContext(ctx, "an author is delivered another way", "author", author, "delivery", to, "followers", c.Followers)
	}
	return err
}

// side makes right from the store what an author is read from who is delivered so.
func (f *Fanout) side(ctx context.Context, author string, d social.Delivery) error {
	if d == social.Pull {
		return f.renewOutbox(ctx, author)
	}
	return f.fill(ctx, author)
}

// later has the job run again after a while.
func (f *Fanout) later(ctx context.Context, author string, after time.Duration) error {
	return f.d.Queue.Mark(ctx, jobs.Dirty{Kind: jobs.Author, Key: author, Priority: jobs.PriorityUpkeep, After: after})
}

// renewOutbox builds the outbox. One that is left from before has missed what was pushed since.
func (f *Fanout) renewOutbox(ctx context.Context, author string) error {
	if err := f.d.Outboxes.Drop(ctx, []string{author}); err != nil {
		return err
	}
	return f.Outbox(ctx, []string{author})
}

// fill gives all followers who have a list the author's posts.
func (f *Fanout) fill(ctx context.Context, author string) error {
	after := ""
	for {
		some, err := f.d.Store.Followers(ctx, author, after, page)
		if err != nil || len(some) == 0 {
			return err
		}
		heads, err := f.d.Lists.Heads(ctx, some)
		if err != nil {
			return err
		}
		for i, h := range heads {
			if h.State == timeline.None {
				continue
			}
			if err := f.agree(ctx, some[i], f.ofPair(ctx, author, some[i]), false); err != nil {
				return err
			}
		}
		after = some[len(some)-1]
	}
}
