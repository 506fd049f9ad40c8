package fanout

import (
	"context"
	"time"

	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// settled is the age after which a change of an author's delivery is not repaired any more:
// longer than [jobs.CompletedTTL] plus the duration of a repair.
const settled = time.Hour

// author moves an author from push to pull or back when the number of followers has crossed a
// threshold. The state between them is both: pages read list and outbox, and posts are written to
// both. That state ends after [grace], when no job or server uses an older state, and after the
// remaining side has been updated from the store.
func (f *Fanout) author(ctx context.Context, j jobs.Job) error {
	author := j.Key
	c, err := f.d.Store.Celebrity(ctx, author)
	if err != nil {
		return err
	}
	to := c.Wants(f.d.Options)
	if c.Delivery == to {
		if f.d.Clock().Sub(c.Since) > settled {
			return nil
		}
		return f.side(ctx, author, to) // Redis may have lost the lists' changes, see Lost
	}
	if c.Delivery != social.Both {
		if _, err := f.d.Store.SetDelivery(ctx, author, c.Delivery, social.Both); err != nil {
			return err
		}
		return f.later(ctx, author, grace)
	}
	left := grace - f.d.Clock().Sub(c.Since)
	if left > 0 {
		return f.later(ctx, author, left)
	}
	if err := f.side(ctx, author, to); err != nil {
		return err
	}
	changed, err := f.d.Store.SetDelivery(ctx, author, social.Both, to)
	if changed {
		f.d.Log.InfoContext(ctx, "the delivery of an author was changed", "author", author, "delivery", to, "followers", c.Followers)
	}
	return err
}

// side updates, from the store, the lists that an author with delivery d is read from.
func (f *Fanout) side(ctx context.Context, author string, d social.Delivery) error {
	if d == social.Pull {
		return f.renewOutbox(ctx, author)
	}
	return f.fill(ctx, author)
}

// later schedules the job to run again.
func (f *Fanout) later(ctx context.Context, author string, after time.Duration) error {
	return f.d.Queue.Enqueue(ctx, jobs.Spec{Kind: jobs.Author, Key: author, Priority: jobs.PriorityUpkeep, After: after})
}

// renewOutbox rebuilds the outbox. An old outbox lacks the posts that were only pushed to lists.
func (f *Fanout) renewOutbox(ctx context.Context, author string) error {
	if err := f.d.Outboxes.Drop(ctx, []string{author}); err != nil {
		return err
	}
	return f.Outbox(ctx, []string{author})
}

// fill adds the author's posts to the lists of all followers who have one.
func (f *Fanout) fill(ctx context.Context, author string) error {
	after := ""
	for {
		some, err := f.d.Store.Followers(ctx, author, "", after, page)
		if err != nil || len(some) == 0 {
			return err
		}
		versions, err := f.d.Lists.Versions(ctx, some)
		if err != nil {
			return err
		}
		for i, version := range versions {
			if version == "" {
				continue
			}
			if err := f.reconcile(ctx, some[i], f.entriesOfAuthor(ctx, author, some[i]), false); err != nil {
				return err
			}
		}
		after = some[len(some)-1]
	}
}
