package catalog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/repeat"
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
	_, err := removing{w.List, w.Items, 0, func(it feed.Item) bool { return it.AuthorID == author }}.run(ctx, Selection{Author: author, Limit: worksAtOnce})
	return err
}

// removing removes the items of a list that match.
type removing struct {
	list  Lister
	items Writer
	pause time.Duration // between two pages, for others who write
	match func(feed.Item) bool
}

// run removes the items that match when they are removed, page by page, and counts them, also
// where an error ends it early. It goes on past items that cannot be removed, and its error
// names the first of them.
func (r removing) run(ctx context.Context, s Selection) (removed int, err error) {
	var left stuck
	for {
		page, err := r.list.List(ctx, s)
		if err == nil && len(page.Items) > 0 {
			var n int
			n, err = r.remove(ctx, page.Items, &left)
			removed += n
		}
		if err == nil && page.Next != "" {
			s.Cursor = page.Next
			if err = repeat.Pause(ctx, r.pause); err == nil {
				continue
			}
		}
		return removed, errors.Join(err, left.err())
	}
}

// remove removes the matching items of a page. It is no error that somebody else has removed
// one meanwhile.
func (r removing) remove(ctx context.Context, docs []feed.Doc, left *stuck) (removed int, err error) {
	ids := make([]string, len(docs))
	for i, d := range docs {
		ids[i] = d.ID
	}
	all, err := r.items.Update(ctx, ids, func(it feed.Item) (feed.Item, error) {
		if r.match(it) {
			return it, RemoveItem
		}
		return it, feed.ErrChanged
	})
	for i, u := range all {
		switch {
		case u.Removed:
			removed++
		case !errors.Is(u.Err, feed.ErrChanged) && !errors.Is(u.Err, feed.ErrNotFound):
			left.add(ids[i], u.Err)
		}
	}
	return removed, err
}

// stuck are items that could not be removed.
type stuck struct {
	items int
	first error
}

func (s *stuck) add(id string, err error) {
	if s.items++; s.items == 1 {
		s.first = fmt.Errorf("%s: %w", id, err)
	}
}

func (s *stuck) err() error {
	if s.items == 0 {
		return nil
	}
	return fmt.Errorf("%d could not be removed, the first of them %w", s.items, s.first)
}
