// Package posts puts posts in front of a catalog. The catalog's item of a post only makes it found;
// what readers get of it is for the social store to say, each time.
package posts

import (
	"context"
	"errors"
	"fmt"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// Catalog is a catalog whose posts are read from a social store. Docs and
// Hydrate answer a post as [social.Card.AppendEntry] does; everything else is the
// catalog's. What writes items of posts writes to the catalog behind it.
type Catalog struct {
	catalog.Catalog
	cards social.Cards
	kept  social.KeptCards
}

// keepsAhead are cards that can be kept before they are read, as [social.Keeper] does.
type keepsAhead interface {
	KeepAhead(ctx context.Context, ids []string) error
}

// New puts the posts of cards in front of c. While they cannot be asked, posts are
// as they were kept; nil: they are not there.
func New(c catalog.Catalog, cards social.Cards, kept social.KeptCards) *Catalog {
	return &Catalog{Catalog: c, cards: cards, kept: kept}
}

// Docs implements [catalog.Reader]. Of posts it answers those that are public.
func (c *Catalog) Docs(ctx context.Context, ids []string) ([]feed.Doc, error) {
	return c.read(ctx, "", ids, func(ids []string) ([]feed.Doc, error) { return c.Catalog.Docs(ctx, ids) })
}

// Hydrate implements [catalog.Catalog]. Posts are those that the agent may see, with what is about
// the agent in them. While the store cannot be asked, public posts that are kept come back beside
// an error that wraps [social.ErrUnavailable], and nothing in them is about the agent.
func (c *Catalog) Hydrate(ctx context.Context, agent string, ids []string) (docs []feed.Doc, p feed.Profile, err error) {
	docs, err = c.read(ctx, agent, ids, func(ids []string) (docs []feed.Doc, err error) {
		docs, p, err = c.Catalog.Hydrate(ctx, agent, ids)
		return docs, err
	})
	return docs, p, err
}

// Prefetch implements [catalog.Catalog]: items where the catalog behind has a
// cache, and public posts where cards are kept.
func (c *Catalog) Prefetch(ctx context.Context, ids []string) (err error) {
	var posts, items []string
	for _, id := range ids {
		if feed.IsPost(id) {
			posts = append(posts, id)
		} else {
			items = append(items, id)
		}
	}
	if len(items) > 0 {
		err = c.Catalog.Prefetch(ctx, items)
	}
	ahead, ok := c.cards.(keepsAhead)
	if !ok || len(posts) == 0 {
		return err
	}
	cardsErr := ahead.KeepAhead(ctx, posts)
	if errors.Is(cardsErr, social.ErrUnavailable) {
		cardsErr = fmt.Errorf("%w: %w", catalog.ErrUnavailable, cardsErr)
	}
	return errors.Join(err, cardsErr)
}

// Remove deletes an item. A post is not one: [feed.ErrBadID].
func (c *Catalog) Remove(ctx context.Context, id string) error {
	if feed.IsPost(id) {
		return fmt.Errorf("%w: %s is a post, which is deleted by DELETE /v1/posts/{id}", feed.ErrBadID, id)
	}
	return c.Catalog.Remove(ctx, id)
}

// instead returns the cached cards of posts that the store could not be asked for.
func (c *Catalog) instead(ctx context.Context, posts []social.Known, err error) []social.Card {
	if c.kept != nil && errors.Is(err, social.ErrUnavailable) {
		ids := make([]string, len(posts))
		for i, p := range posts {
			ids[i] = p.ID
		}
		if cards, err := c.kept.Kept(ctx, ids); err == nil {
			return cards
		}
	}
	return make([]social.Card, len(posts))
}

// read answers items from one side and posts from the other. The error of either side comes back
// beside what the other one has answered; where the items' side has answered nothing at all, which
// is how it says that the profile is not known, neither do the posts.
func (c *Catalog) read(ctx context.Context, reader string, ids []string, items func([]string) ([]feed.Doc, error)) ([]feed.Doc, error) {
	var known []social.Known
	var others []string
	for _, id := range ids {
		if feed.IsPost(id) {
			known = append(known, social.Known{ID: id})
			continue
		}
		others = append(others, id)
	}
	if len(known) == 0 {
		return items(ids)
	}
	found, itemsErr := items(others)
	if itemsErr != nil && len(found) != len(others) || itemsErr != nil && len(others) == 0 {
		return nil, itemsErr
	}
	cards, err := c.cards.Cards(ctx, reader, known)
	if err != nil {
		cards = c.instead(ctx, known, err)
		err = fmt.Errorf("%w: %w", catalog.ErrUnavailable, err)
	}
	err = errors.Join(itemsErr, err)
	docs := make([]feed.Doc, len(ids))
	for i, id := range ids {
		if !feed.IsPost(id) {
			docs[i], found = found[0], found[1:]
			continue
		}
		docs[i].ID, docs[i].Listed = id, cards[0].Reason != social.NoReason
		if cards[0].Visible && cards[0].Root == "" { // a reply is no item
			docs[i].JSON = cards[0].AppendEntry(make([]byte, 0, len(cards[0].Content)+384), reader, social.FromDiscovery)
		}
		cards = cards[1:]
	}
	return docs, err
}
