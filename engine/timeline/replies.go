package timeline

import (
	"cmp"
	"context"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/social"
)

// RepliesRequest asks for a page of the replies to a post.
type RepliesRequest struct {
	Reader string // "" means an anonymous reader, who sees public posts
	Post   string
	After  social.Position // position of the cursor; zero means from the first
	Limit  int             // 1 to [MaxLimit]
	Oldest bool            // oldest first; otherwise newest first
}

// Replies returns one page of the replies to a post, without those by authors, or with tags, that
// the reader has muted. A reader who is not in the audience of the post gets their own replies
// alone, even if they cannot see the post. Replies are not feed entries, so they are not recorded
// as shown. Errors wrap [feed.ErrNotFound] if the reader can see neither the post nor a reply of
// theirs, [feed.ErrBadLimit], [feed.ErrBadID] or [social.ErrUnavailable].
func (t *Timelines) Replies(ctx context.Context, r RepliesRequest) (page Page, err error) {
	if err := cmp.Or(feed.CheckLimit(r.Limit, MaxLimit), social.CheckPostID(r.Post)); err != nil {
		return page, err
	}
	ctx = t.cfg.Begin(ctx)
	root, err := t.stores.Posts.Cards(ctx, r.Reader, []social.PostVersion{{ID: r.Post}})
	if err != nil {
		return page, err
	}
	hidden := !root[0].Visible
	if hidden && r.Reader == "" {
		return page, feed.ErrNotFound
	}
	read := &pageRead{t: t, agent: r.Reader}
	knows := r.Reader == "" // the mutes, which only a post with replies needs
	err = read.fill(ctx, &page, pageSource{
		from: r.After, limit: r.Limit, ascending: r.Oldest,
		next: entriesOf(func(ctx context.Context, after social.Position, n int) ([]social.Entry, error) {
			entries, err := t.stores.Posts.Replies(ctx, social.RepliesQuery{
				Reader: r.Reader, Post: r.Post, After: after, N: n, Oldest: r.Oldest, Own: !root[0].Replies,
			})
			if err == nil && len(entries) > 0 && !knows {
				knows, err = true, read.readProfile(ctx)
			}
			return entries, err
		}),
		shows: func(c *social.Card, _ social.Position) bool { return c.Readable() && !read.mutes(c) },
	})
	if err != nil {
		return Page{}, err
	}
	if hidden && len(page.Posts) == 0 {
		return Page{}, feed.ErrNotFound
	}
	return t.answer(ctx, "", page, read.missing)
}

// entriesOf returns the positions of the entries of a store as the source of a page; a further entry
// means that there is more.
func entriesOf(read func(ctx context.Context, after social.Position, n int) ([]social.Entry, error)) func(context.Context, social.Position, int) ([]social.Position, bool, error) {
	return func(ctx context.Context, after social.Position, n int) ([]social.Position, bool, error) {
		entries, err := read(ctx, after, n+1)
		found := convert.Each(entries, func(e social.Entry) social.Position { return e.Position })
		return found[:min(n, len(found))], len(found) > n, err
	}
}

// AuthorRequest asks for a page of an author's posts, newest first.
type AuthorRequest struct {
	Reader string // "" means an anonymous reader, who sees public posts
	Author string
	Below  social.Position // position of the cursor; zero means from the newest
	Limit  int             // 1 to [MaxLimit]
}

// Author returns one page of an author's posts that the reader may see. Errors wrap
// [feed.ErrBadLimit], [feed.ErrBadID] or [social.ErrUnavailable].
func (t *Timelines) Author(ctx context.Context, r AuthorRequest) (page Page, err error) {
	if err := cmp.Or(feed.CheckLimit(r.Limit, MaxLimit), social.CheckAgent(r.Author)); err != nil {
		return page, err
	}
	ctx = t.cfg.Begin(ctx)
	read := &pageRead{t: t, agent: r.Reader}
	err = read.fill(ctx, &page, pageSource{
		from: r.Below, limit: r.Limit,
		next: entriesOf(func(ctx context.Context, after social.Position, n int) ([]social.Entry, error) {
			return t.stores.Posts.Grid(ctx, r.Reader, r.Author, after, n)
		}),
		shows: func(c *social.Card, _ social.Position) bool { return c.Readable() },
	})
	if err != nil {
		return Page{}, err
	}
	return t.answer(ctx, r.Reader, page, 0)
}
