package catalog

import (
	"context"
	"errors"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/intake"
)

// newerBatch stores items that are newer than those that are stored.
type newerBatch struct{ itemBatch }

// Put implements [intake.Batch].
func (b *newerBatch) Put(ctx context.Context) ([]error, error) {
	all := b.items
	b.items = nil
	errs, newest, order := sift(all)
	some := those(all, order)
	of, err := persist(ctx, len(some), func(left []int) ([]error, error) { return putNewer(ctx, b.in.w, those(some, left)) })
	outcome := make(map[int]error, len(order))
	for k, i := range order {
		outcome[i] = of[k]
	}
	for i := range all {
		if errs[i] == nil { // where the newest is kept out, so are those before it
			errs[i] = outcome[newest[all[i].ID]]
		}
	}
	return errs, err
}

// sift finds the newest item of each id, and its place in the order of first mention. The
// errors are of items that come after one that is not older.
func sift(all []feed.Item) (errs []error, newest map[string]int, order []int) {
	errs, newest = make([]error, len(all)), make(map[string]int, len(all))
	place := make(map[string]int, len(all))
	for i, it := range all {
		before, twice := newest[it.ID]
		switch {
		case !twice:
			place[it.ID] = len(order)
			order = append(order, i)
		case all[before].UpdateTime >= it.UpdateTime:
			errs[i] = intake.ErrKept
			continue
		default:
			order[place[it.ID]] = i
		}
		newest[it.ID] = i
	}
	return errs, newest, order
}

// putNewer stores those of the items, whose ids are distinct, that are newer than what is
// stored, as [Writer]'s Put does.
func putNewer(ctx context.Context, w Writer, items []feed.Item) ([]error, error) {
	ids, byID := make([]string, len(items)), make(map[string]feed.Item, len(items))
	for i, it := range items {
		// Several authors or languages of what is stored do not stay.
		it.AuthorIDs, it.Langs = []string{}, []string{}
		ids[i], byID[it.ID] = it.ID, it
	}
	updated, err := w.Update(ctx, ids, func(stored feed.Item) (feed.Item, error) {
		if stored.UpdateTime >= byID[stored.ID].UpdateTime {
			return feed.Item{}, intake.ErrKept
		}
		return byID[stored.ID], nil
	})
	if err != nil {
		return nil, err
	}
	errs := make([]error, len(items))
	var fresh []feed.Item
	var places []int
	for i := range updated {
		if errs[i] = updated[i].Err; errors.Is(errs[i], feed.ErrNotFound) {
			fresh, places = append(fresh, items[i]), append(places, i)
		}
	}
	if len(fresh) == 0 {
		return errs, nil
	}
	put, err := w.Put(ctx, fresh)
	for k, i := range places {
		errs[i] = err
		if put != nil {
			errs[i] = put[k]
		}
	}
	return errs, err
}
