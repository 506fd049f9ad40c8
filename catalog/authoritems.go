package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/internal/periodic"
)

// authorItemsBatch is the number of items listed and removed in one step.
const authorItemsBatch = 200

// AuthorItems gives access to the items of authors. The zero value has none: those of a foreign index
// are managed by its owner.
type AuthorItems struct {
	List  Lister
	Items Writer
}

// Erase removes all items of an author. Items added in the meantime stay, and so does an item
// that has another author by then. Errors are those of [Lister] and [Writer]; after an error,
// erase again.
func (w AuthorItems) Erase(ctx context.Context, author string) error {
	if w.List == nil {
		return nil
	}
	_, _, err := removing{list: w.List, items: w.Items, match: func(it feed.Item) bool { return it.AuthorID == author }}.run(ctx, Selection{Author: author, Limit: authorItemsBatch})
	return err
}

// Each passes the items of an author to put, without those that stand for posts. Errors are those of [Lister] and
// of put.
func (w AuthorItems) Each(ctx context.Context, author string, put func(feed.Doc) error) error {
	for s := (Selection{Author: author, Limit: authorItemsBatch}); w.List != nil; {
		page, err := w.List.List(ctx, s)
		if err != nil {
			return err
		}
		for _, doc := range page.Items {
			if feed.IsPost(doc.ID) {
				continue
			}
			if err := put(doc); err != nil {
				return err
			}
		}
		if page.Next == "" {
			return nil
		}
		s.Cursor = page.Next
	}
	return nil
}

// removing removes the items of a list that match.
type removing struct {
	list  Lister
	items Writer
	pause time.Duration // between two pages, for other writers
	most  int           // it ends when it has removed as many, after the page; 0 means no limit
	match func(feed.Item) bool
}

// run removes, page by page, the items that still match when they are removed. It returns their
// number, also if an error ends it early, and whether it has ended at its limit. It continues past items
// that cannot be removed, and its error names the first of them. An item that another writer has already
// removed is not an error.
func (r removing) run(ctx context.Context, s Selection) (removed int, more bool, err error) {
	stuck, first := 0, error(nil)
	defer func() {
		if stuck > 0 {
			err = errors.Join(err, fmt.Errorf("%d items could not be removed, the first because: %w", stuck, first))
		}
	}()
	for {
		page, err := r.list.List(ctx, s)
		if err != nil {
			return removed, false, err
		}
		ids := convert.Each(page.Items, func(d feed.Doc) string { return d.ID })
		all, err := r.items.Update(ctx, ids, r.change)
		for i, u := range all {
			if u.Removed {
				removed++
			} else if !errors.Is(u.Err, feed.ErrChanged) && !errors.Is(u.Err, feed.ErrNotFound) {
				stuck, first = stuck+1, cmp.Or(first, fmt.Errorf("%s: %w", ids[i], u.Err))
			}
		}
		if err != nil || page.Next == "" {
			return removed, false, err
		}
		if r.most > 0 && removed >= r.most {
			return removed, true, nil
		}
		s.Cursor = page.Next
		if err := periodic.Pause(ctx, r.pause); err != nil {
			return removed, false, err
		}
	}
}

func (r removing) change(it feed.Item) (feed.Item, error) {
	if r.match(it) {
		return it, RemoveItem
	}
	return it, feed.ErrChanged
}
