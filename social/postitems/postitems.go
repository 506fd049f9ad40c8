// Package postitems combines a catalog with the posts of the social store. The catalog's item of a
// post serves only for recall; its content for readers is read from the social store each time.
package postitems

import (
	"context"
	"errors"
	"fmt"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// Catalog is a catalog whose posts are read from a social store. Docs and Hydrate return a post
// as written by [social.Card.AppendEntry], unless its author is suspended; everything else comes from the catalog. Writers of
// items of posts must write to the underlying catalog.
type Catalog struct {
	catalog.Catalog
	cards social.Cards
	kept  social.CachedCards
	ahead Ahead
}

// Ahead caches the cards of posts before they are read, as [social.CardCacheWriter] does.
type Ahead interface {
	CacheAhead(ctx context.Context, ids []string) error
}

// New returns a catalog with the items of c and the posts of cards. While cards is unavailable,
// posts are read from kept; if kept is nil, they are missing. ahead is nil if no cards are cached.
func New(c catalog.Catalog, cards social.Cards, kept social.CachedCards, ahead Ahead) *Catalog {
	return &Catalog{Catalog: c, cards: cards, kept: kept, ahead: ahead}
}

// Docs implements [catalog.Reader]. Of posts it returns only the public ones.
func (c *Catalog) Docs(ctx context.Context, ids []string) ([]feed.Doc, error) {
	posts, others := split(ids)
	found, err := c.Catalog.Docs(ctx, others)
	return c.withPosts(ctx, "", ids, posts, found, err)
}

// Hydrate implements [catalog.Catalog]. It returns the posts that the agent may see, with their
// data about the agent. While the store is unavailable, it returns cached public posts, without
// data about the agent, with an error that wraps [social.ErrUnavailable].
func (c *Catalog) Hydrate(ctx context.Context, agent string, ids []string) (docs []feed.Doc, p feed.Profile, err error) {
	posts, others := split(ids)
	found, p, err := c.Catalog.Hydrate(ctx, agent, others)
	docs, err = c.withPosts(ctx, agent, ids, posts, found, err)
	return docs, p, err
}

// Prefetch implements [catalog.Catalog]: items if the underlying catalog has a cache, and
// public posts if cards are cached.
func (c *Catalog) Prefetch(ctx context.Context, ids []string) (err error) {
	posts, items := split(ids)
	if len(items) > 0 {
		err = c.Catalog.Prefetch(ctx, items)
	}
	if c.ahead == nil || len(posts) == 0 {
		return err
	}
	cardsErr := c.ahead.CacheAhead(ctx, posts)
	if errors.Is(cardsErr, social.ErrUnavailable) {
		cardsErr = fmt.Errorf("%w: %w", catalog.ErrUnavailable, cardsErr)
	}
	return errors.Join(err, cardsErr)
}

// Remove deletes an item. For a post it returns [feed.ErrBadID].
func (c *Catalog) Remove(ctx context.Context, id string) error {
	if feed.IsPost(id) {
		return fmt.Errorf("%w: %s is a post, which is deleted by DELETE /v1/posts/{id}", feed.ErrBadID, id)
	}
	return c.Catalog.Remove(ctx, id)
}

// split separates the ids of posts from those of items.
func split(ids []string) (posts, items []string) {
	for _, id := range ids {
		if feed.IsPost(id) {
			posts = append(posts, id)
		} else {
			items = append(items, id)
		}
	}
	return posts, items
}

// withPosts reads posts from the store and merges them with the items found in the catalog. An
// error of one side is returned with the results of the other. If the catalog returned nothing at
// all, which means that the profile is not known, the posts are not returned either.
func (c *Catalog) withPosts(ctx context.Context, reader string, ids, posts []string, found []feed.Doc, itemsErr error) ([]feed.Doc, error) {
	if len(posts) == 0 {
		return found, itemsErr
	}
	others := len(ids) - len(posts)
	lacksSome := len(found) != others || others == 0
	if itemsErr != nil && lacksSome {
		return nil, itemsErr
	}
	known := make([]social.PostVersion, len(posts))
	for i, id := range posts {
		known[i].ID = id
	}
	cards, err := c.cards.Cards(ctx, reader, known)
	if err != nil {
		cards = social.FallbackCards(ctx, c.kept, posts, err)
		if cards == nil {
			cards = make([]social.Card, len(posts))
		}
		err = fmt.Errorf("%w: %w", catalog.ErrUnavailable, err)
	}
	err = errors.Join(itemsErr, err)
	docs := make([]feed.Doc, len(ids))
	for i, id := range ids {
		if !feed.IsPost(id) {
			docs[i], found = found[0], found[1:]
			continue
		}
		docs[i].ID, docs[i].Listed, docs[i].NotRecommended = id, cards[0].Reason != social.NoReason, cards[0].NotRecommended
		if cards[0].NotRecommended {
			docs[i].Listed = cards[0].Subscribed
		}
		if cards[0].Visible && !cards[0].Suspended && cards[0].Root == "" { // a reply is not an item
			docs[i].JSON = cards[0].AppendEntry(make([]byte, 0, len(cards[0].Content)+384), reader, social.FromDiscovery)
		}
		cards = cards[1:]
	}
	return docs, err
}
