package timeline

import (
	"cmp"
	"context"
	"slices"

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
	entries, err := t.stores.Posts.Replies(ctx, social.RepliesQuery{
		Reader: r.Reader, Post: r.Post, After: r.After, N: r.Limit + 1, Oldest: r.Oldest, Own: !root[0].Replies,
	})
	if err != nil {
		return page, err
	}
	read := &pageRead{t: t, agent: r.Reader}
	if len(entries) > 0 && r.Reader != "" {
		if err := read.readProfile(ctx); err != nil {
			return page, err
		}
	}
	if page, err = pageOf(ctx, t.stores.Posts, r.Reader, entries, r.Limit); err != nil {
		return page, err
	}
	page.begin(r.After, entries, !r.Oldest)
	if hidden && len(page.Posts) == 0 {
		return Page{}, feed.ErrNotFound
	}
	page.Posts = slices.DeleteFunc(page.Posts, func(c social.Card) bool { return read.mutes(&c) })
	return t.answer(ctx, "", page, read.missing)
}

// pageOf returns the page of the first limit entries; a further entry means that there is more.
func pageOf(ctx context.Context, posts social.Cards, reader string, entries []social.Entry, limit int) (page Page, err error) {
	page.HasMore = len(entries) > limit
	if page.HasMore {
		entries = entries[:limit]
	}
	known := convert.Each(entries, func(e social.Entry) social.PostVersion { return social.PostVersion{ID: e.ID} })
	all, err := posts.Cards(ctx, reader, known)
	if err != nil {
		return Page{}, err
	}
	for i := range all {
		if all[i].Visible { // since the entries were read, a post may have been deleted or hidden
			page.Next = entries[i].Position
		}
	}
	page.Posts = slices.DeleteFunc(all, func(c social.Card) bool { return !c.Readable() })
	return page, nil
}

// begin says where the page after one without visible posts begins. The store does not propose
// these posts again, so it may be where this page began.
func (p *Page) begin(from social.Position, entries []social.Entry, descending bool) {
	if p.HasMore && !p.passed(from, entries[len(entries)-2].Position, descending) {
		p.Next = from
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
	entries, err := t.stores.Posts.Grid(ctx, r.Reader, r.Author, r.Below, r.Limit+1)
	if err != nil {
		return page, err
	}
	if page, err = pageOf(ctx, t.stores.Posts, r.Reader, entries, r.Limit); err != nil {
		return page, err
	}
	page.begin(r.Below, entries, true)
	return t.answer(ctx, r.Reader, page, 0)
}
