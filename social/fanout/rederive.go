package fanout

import (
	"context"
	"fmt"
	"strings"

	"github.com/freshet/freshet/catalog"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// Derived are the stores of derived data that [Fanout.Rederive] needs besides those of a Fanout.
type Derived struct {
	// Items lists the items of posts. Nil means that they are in an index of others.
	Items catalog.Lister
	// DistrustLists makes servers drop all lists. Nil means that lists are in this process, which
	// builds them anew when it starts.
	DistrustLists func(ctx context.Context) error
}

// Rederived is the result of one step of [Fanout.Rederive].
type Rederived struct {
	Posts int    // public posts whose items are made again
	Items int    // items that belong to no public post, and are removed
	Next  string // cursor of the next step; "" after the last one
}

// The cursors of the steps: the lists at once, then posts after an id, then pages of items.
const (
	postsCursor = "posts/"
	itemsCursor = "items/"
)

// Rederive makes lists and items agree with the social store, whatever they contain, as after a
// restoration of one of them: lists are dropped, and built again when they are read; items of public posts
// are made again, and others removed, by jobs that come after all others. Each step reads about n posts or
// items. Errors wrap [feed.ErrInvalid] for a cursor that no step has returned, or are those of the stores;
// the step can be repeated.
func (f *Fanout) Rederive(ctx context.Context, d Derived, cursor string, n int) (Rederived, error) {
	after, isPosts := strings.CutPrefix(cursor, postsCursor)
	page, isItems := strings.CutPrefix(cursor, itemsCursor)
	switch {
	case cursor == "":
		done := Rederived{Next: postsCursor}
		if d.DistrustLists == nil {
			return done, nil
		}
		return done, d.DistrustLists(ctx)
	case isPosts:
		return f.rederivePosts(ctx, after, n)
	case isItems:
		return f.rederiveItems(ctx, d.Items, page, n)
	}
	return Rederived{}, fmt.Errorf("%w: cursor must be the next_cursor of an answer, or empty, not %.80q", feed.ErrInvalid, cursor)
}

func (f *Fanout) rederivePosts(ctx context.Context, after string, n int) (Rederived, error) {
	ids, last, err := f.d.Store.PublicPosts(ctx, after, n)
	if err != nil {
		return Rederived{}, err
	}
	done := Rederived{Posts: len(ids), Next: postsCursor + last}
	if last == "" {
		done.Next = itemsCursor
	}
	return done, f.reindex(ctx, ids)
}

// rederiveItems removes the items of a page that belong to no public post.
func (f *Fanout) rederiveItems(ctx context.Context, list catalog.Lister, cursor string, n int) (Rederived, error) {
	if list == nil {
		return Rederived{}, nil
	}
	page, err := list.List(ctx, catalog.Selection{Posts: true, Cursor: cursor, Limit: n})
	if err != nil {
		return Rederived{}, err
	}
	ids := convert.Each(page.Items, func(d feed.Doc) string { return d.ID })
	posts, err := f.d.Store.PostsByID(ctx, ids)
	if err != nil {
		return Rederived{}, err
	}
	var left []string
	for i, p := range posts {
		if !hasItem(&p) {
			left = append(left, ids[i])
		}
	}
	done := Rederived{Items: len(left)}
	if page.Next != "" {
		done.Next = itemsCursor + page.Next
	}
	return done, f.reindex(ctx, left)
}

// reindex marks posts whose items are made again, or removed.
func (f *Fanout) reindex(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	return f.d.Queue.Enqueue(ctx, convert.Each(ids, func(id string) jobs.Spec {
		return jobs.Spec{Kind: jobs.Index, Key: id, Priority: jobs.PriorityUpkeep}
	})...)
}

// hasItem reports whether a post is one that for-you finds.
func hasItem(p *social.Post) bool {
	return p.ID != "" && !p.Deleted && p.Audience.Public && !p.NotRecommended
}
