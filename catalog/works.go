package catalog

import (
	"context"
	"errors"

	"github.com/freshet/freshet/feed"
)

// worksAtOnce is how many items are listed and removed in one step.
const worksAtOnce = 200

// Works are the items of authors. The zero value has none: those of an index that is not
// Freshet's are for whom it belongs to.
type Works struct {
	List  Lister
	Items Writer
}

// Erase removes all items of an author. What somebody puts meanwhile stays, and so does
// an item that has another author by then. Errors are those of [Lister] and [Writer]; after
// one erase again.
func (w Works) Erase(ctx context.Context, author string) error {
	if w.List == nil {
		return nil
	}
	s := Selection{Author: author, Limit: worksAtOnce}
	for {
		page, err := w.List.List(ctx, s)
		if err == nil && len(page.Items) > 0 {
			err = w.remove(ctx, author, page.Items)
		}
		if err != nil || page.Next == "" {
			return err
		}
		s.Cursor = page.Next
	}
}

func (w Works) remove(ctx context.Context, author string, docs []feed.Doc) error {
	ids := make([]string, len(docs))
	for i, d := range docs {
		ids[i] = d.ID
	}
	all, err := w.Items.Update(ctx, ids, func(it feed.Item) (feed.Item, error) {
		if it.AuthorID != author {
			return it, feed.ErrChanged
		}
		return it, RemoveItem
	})
	if err != nil {
		return err
	}
	for _, u := range all {
		if !u.Removed && !errors.Is(u.Err, feed.ErrChanged) && !errors.Is(u.Err, feed.ErrNotFound) {
			err = errors.Join(err, u.Err)
		}
	}
	return err
}
