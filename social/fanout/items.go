package fanout

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

const (
	// itemBatch is how many posts are indexed, or counted, in one bulk request.
	itemBatch = 200
	// itemRounds limits how often posts are written that change meanwhile.
	itemRounds = 3
)

// items updates the items and cached cards of posts, for the kinds index and count: public posts
// have both, other posts neither, and those of an author who does not want to be recommended have no
// item. It reads the posts again after it has written, because two jobs
// may write the same item, and the one that writes later may have read earlier.
func (f *Fanout) items(ctx context.Context, list []jobs.Job) []error {
	errs := make([]error, len(list))
	at := make(map[string]int, len(list))
	ids := make([]string, len(list))
	for i, j := range list {
		at[j.Key], ids[i] = i, j.Key
	}
	for round := 0; len(ids) > 0 && round < itemRounds; round++ {
		written, left, err := f.itemsOnce(ctx, ids)
		if err != nil {
			return failed(ctx, list, err, f.items)
		}
		for i, id := range ids {
			errs[at[id]] = written[i]
		}
		ids = left
	}
	return errs
}

// itemsOnce updates the items and cached cards of posts. It returns an error for each, and the posts that have
// changed meanwhile.
func (f *Fanout) itemsOnce(ctx context.Context, ids []string) (written []error, changed []string, err error) {
	posts, err := f.d.Store.PostsByID(ctx, ids)
	if err != nil {
		return nil, nil, err
	}
	if err := f.keep(ctx, posts); err != nil {
		return nil, nil, err
	}
	written, err = f.writeItems(ctx, ids, posts)
	if err != nil {
		return nil, nil, err
	}
	now, err := f.d.Store.PostStates(ctx, ids)
	if err != nil {
		return nil, nil, err
	}
	for i, state := range now {
		if state != posts[i].State() {
			changed = append(changed, ids[i])
		}
	}
	return written, changed, nil
}

// writeItems writes or removes the items of posts. It returns an error for each post, and an
// error that concerns all of them.
func (f *Fanout) writeItems(ctx context.Context, ids []string, posts []social.Post) ([]error, error) {
	errs := make([]error, len(posts))
	var items []feed.Item
	var which []int
	for i := range posts {
		p := &posts[i]
		if !hasItem(p) {
			if err := f.d.Items.Remove(ctx, ids[i]); err != nil && !errors.Is(err, feed.ErrNotFound) {
				errs[i] = waits(fmt.Errorf("remove the item: %w", err))
			}
			continue
		}
		it := item(p)
		errs[i] = it.Validate()
		if errs[i] == nil {
			items, which = append(items, it), append(which, i)
		}
	}
	if len(items) == 0 {
		return errs, nil
	}
	if err := f.endItems(ctx, posts); err != nil {
		return errs, err
	}
	refused, err := f.d.Items.Put(ctx, items)
	for i, err := range refused {
		switch {
		case errors.Is(err, catalog.ErrUnavailable):
			errs[which[i]] = waits(err)
		case err != nil:
			errs[which[i]] = errors.New("the catalog refuses the item") // err may quote content
		}
	}
	return errs, err
}

// recommend writes the items of an author's posts, or removes them if the author does not want to be
// recommended. Until then, feeds leave out what recall proposes of them.
func (f *Fanout) recommend(ctx context.Context, j jobs.Job) error {
	var below social.Position
	for {
		list, err := f.d.Store.Newest(ctx, []string{j.Key}, below, itemBatch)
		if err != nil {
			return err
		}
		posts := convert.Each(list, func(e social.Entry) jobs.Job { return jobs.Job{Key: e.ID} })
		if err := errors.Join(f.items(ctx, posts)...); err != nil || len(list) < itemBatch {
			return err
		}
		below = list[len(list)-1].Position
	}
}

// endItems removes the items, with their counts, of posts that were deleted and created again
// before a job had removed the item. Such an item has a different time than its post.
func (f *Fanout) endItems(ctx context.Context, posts []social.Post) error {
	made := map[string]int64{}
	for i := range posts {
		p := &posts[i]
		if p.Again && p.Audience.Public {
			made[p.ID] = p.CreatedAt
		}
	}
	if len(made) == 0 {
		return nil
	}
	all, err := f.d.Items.Update(ctx, slices.Sorted(maps.Keys(made)), func(it feed.Item) (feed.Item, error) {
		if it.UpdateTime == made[it.ID] {
			return it, feed.ErrChanged // it belongs to this post
		}
		return it, catalog.RemoveItem
	})
	if err != nil {
		return waits(err)
	}
	for _, u := range all {
		if errors.Is(u.Err, catalog.ErrUnavailable) {
			return waits(u.Err)
		}
	}
	return nil
}

// item returns the catalog item by which recall finds a public post, with the counts that make it
// popular. The post's content comes from the store.
func item(p *social.Post) feed.Item {
	return feed.Item{
		ID: p.ID, Title: p.Title(), Summary: p.Caption, Tags: p.AllTags(), AuthorID: p.Author,
		Likes: p.Likers, Comments: p.Commenters, UpdateTime: p.CreatedAt,
	}
}
