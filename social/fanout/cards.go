package fanout

import (
	"context"

	"github.com/freshet/freshet/social"
)

// keep caches the cards of the public posts among posts. Each change of a post marks its job in the
// same transaction, so a job that caches an older card is followed by one that caches the newer.
// Failures of the cache are only logged: cached cards are used only while the store is down.
func (f *Fanout) keep(ctx context.Context, posts []social.Post) error {
	if f.d.Cards == nil {
		return nil
	}
	var known []social.PostVersion
	for i := range posts {
		p := &posts[i]
		if p.ID != "" && !p.Deleted && p.Audience.Public {
			known = append(known, social.PostVersion{ID: p.ID})
		}
	}
	if len(known) == 0 {
		return nil
	}
	cards, err := f.d.Store.Cards(ctx, "", known)
	if err != nil {
		return err
	}
	if err := f.d.Cards.Put(ctx, cards); err != nil {
		f.d.Log.DebugContext(ctx, "cannot cache cards of posts", "posts", len(cards), "error", err)
	}
	return nil
}

// removeCard removes the card of a post that is deleted or no longer public from the cache. A post
// that is not public in its first version never had a cached card.
func (f *Fanout) removeCard(ctx context.Context, p *social.Post) error {
	unchanged := p.Audience.Public || p.Version <= 1
	if f.d.Cards == nil || unchanged && !p.Deleted {
		return nil
	}
	return f.d.Cards.Remove(ctx, []social.PostVersion{{ID: p.ID, Version: p.Version}})
}

// lastVersion is greater than the version of any card, and exact as a float64: a cache may
// compare versions as such.
const lastVersion = 1<<53 - 1

// removeNow removes the card of a post that was just deleted or hidden from the cache. It does not query
// the store, which may have become unavailable right after the commit. For [social.CardTTL] the cache
// takes no card of the post, not even if it is restored.
func (f *Fanout) removeNow(ctx context.Context, id string) {
	if f.d.Cards == nil {
		return
	}
	ctx, cancel := f.brief(ctx)
	defer cancel()
	f.logLeft(ctx, f.d.Cards.Remove(ctx, []social.PostVersion{{ID: id, Version: lastVersion}}))
}

// hide hides the cached cards of an erased author.
func (f *Fanout) hide(ctx context.Context, author string) error {
	if f.d.Cards == nil {
		return nil
	}
	return f.d.Cards.Erase(ctx, author)
}
