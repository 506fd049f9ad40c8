package fanout

import (
	"context"

	"github.com/freshet/freshet/social"
)

// keep keeps the cards of those of the posts that are public. Who changes a post marks it after
// the change, so whoever writes the older card is followed by a job that writes the newer one.
// What cannot be kept is logged: cards only help while the store is down.
func (f *Fanout) keep(ctx context.Context, posts []social.Post) error {
	if f.d.Cards == nil {
		return nil
	}
	var known []social.Known
	for i := range posts {
		if p := &posts[i]; p.ID != "" && !p.Deleted && p.Audience.Public {
			known = append(known, social.Known{ID: p.ID})
		}
	}
	if len(known) == 0 {
		return nil
	}
	cards, err := f.d.Store.Cards(ctx, "", known)
	if err != nil {
		return err
	}
	if err := f.d.Cards.Keep(ctx, cards); err != nil {
		f.d.Log.DebugContext(ctx, "cards of posts were not kept", "posts", len(cards), "error", err)
	}
	return nil
}

// removeCard takes the card of a post that is not public any more out of the cache. One of the
// first version that is not public never had one.
func (f *Fanout) removeCard(ctx context.Context, p *social.Post) error {
	if f.d.Cards == nil || !p.Deleted && (p.Audience.Public || p.Version <= 1) {
		return nil
	}
	return f.d.Cards.Remove(ctx, []social.Known{{ID: p.ID, Version: p.Version}})
}

// lastVersion is greater than the version of any card, and exact in a float64, in which
// a cache may compare versions.
const lastVersion = 1<<53 - 1

// removeNow takes the card of a post that was deleted just now out of the cache. It does not ask
// the store, which may have been lost right after the commit.
func (f *Fanout) removeNow(ctx context.Context, id string) error {
	if f.d.Cards == nil {
		return nil
	}
	return f.d.Cards.Remove(ctx, []social.Known{{ID: id, Version: lastVersion}})
}

// hide hides the cards of an author who is erased.
func (f *Fanout) hide(ctx context.Context, author string) error {
	if f.d.Cards == nil {
		return nil
	}
	return f.d.Cards.Erase(ctx, author)
}

// beside does something right after a write that a job will do, too.
func (f *Fanout) beside(ctx context.Context, do func(ctx context.Context) error) {
	if err := f.within(context.WithoutCancel(ctx), do); err != nil {
		f.d.Log.DebugContext(ctx, "a job of a change waits for the workers", "error", err)
	}
}
