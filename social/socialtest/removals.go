package socialtest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// reasonBy is the reason that an agent gives in the random operations.
func reasonBy(agent string) string { return "by " + agent }

// forgetReasons removes the reasons that an erased agent has given.
func (m *model) forgetReasons(agent string) {
	for _, of := range m.removed {
		for circle, r := range of {
			if r.Reason == reasonBy(agent) {
				r.Reason = ""
				of[circle] = r
			}
		}
	}
}

// doRemove has an agent, often one who may, remove a post or a reply.
func (w *walk) doRemove() {
	p := w.any()
	if p == nil {
		return
	}
	by, circle := w.agent(), ""
	root := p
	if p.IsReply() {
		root = w.m.posts[p.Root]
	}
	groups := slices.DeleteFunc(slices.Clone(root.Audience.Circles), func(id string) bool {
		return w.m.circles[id] == nil || !w.m.circles[id].group || w.m.ended[[2]string{root.ID, id}]
	})
	if len(groups) > 0 && w.r.IntN(3) > 0 {
		by = w.m.circles[groups[w.r.IntN(len(groups))]].owner
	}
	if w.r.IntN(4) == 0 {
		circle = fmt.Sprintf("c%d", w.r.IntN(4))
	}
	owned := slices.DeleteFunc(slices.Clone(groups), func(id string) bool { return w.m.circles[id].owner != by || circle != "" && circle != id })
	who := social.ByGroupOwner
	switch {
	case p.IsReply() && circle == "" && by == root.Author && !root.Remote():
		owned, who = []string{""}, social.ByPostAuthor
	case p.IsReply() && root.Audience.Reach() > social.Addressed:
		owned = nil
	}
	visible := w.m.decide(by, p).Visible
	gone := p.Deleted || root.Deleted
	err := w.RemovePost(w.ctx, p.ID, by, circle, reasonBy(by))
	switch {
	case gone:
		require.ErrorIs(w, err, feed.ErrNotFound)
		return
	case len(owned) == 0 && w.removedBefore(p, by, circle):
		require.NoError(w, err)
		return
	case len(owned) == 0 && !visible:
		require.ErrorIs(w, err, feed.ErrNotFound)
		return
	case len(owned) == 0:
		require.ErrorIs(w, err, feed.ErrForbidden)
		return
	}
	require.NoError(w, err)
	w.m.remove(p, owned, social.Removal{By: who, Reason: reasonBy(by), At: w.clock().Unix()})
	got := w.row(p.ID)
	require.Equal(w, p.Removed, got.Removed)
	require.Equal(w, p.Audience, got.Audience)
}

// removedBefore reports whether an agent repeats a removal of a post from a group.
func (w *walk) removedBefore(p *social.Post, by, circle string) bool {
	for id := range w.m.removed[p.ID] {
		c := w.m.circles[id]
		if !p.IsReply() && c != nil && c.owner == by && (circle == "" || circle == id) && !w.m.ended[[2]string{p.ID, id}] {
			return true
		}
	}
	return false
}

func (m *model) remove(p *social.Post, from []string, r social.Removal) {
	if m.removed[p.ID] == nil {
		m.removed[p.ID] = map[string]social.Removal{}
	}
	for _, circle := range from {
		_, before := m.removed[p.ID][circle]
		if !before {
			r.Circle = circle
			m.removed[p.ID][circle] = r
		}
	}
	root := p
	if p.IsReply() {
		root = m.posts[p.Root]
	}
	left := slices.ContainsFunc(root.Audience.Circles, func(id string) bool {
		_, without := m.removed[p.ID][id]
		c := m.circles[id]
		return c != nil && (c.group || c.owner == root.Author) && !m.ended[[2]string{root.ID, id}] && !without
	})
	_, whole := m.removed[p.ID][""]
	everywhere := whole || root.Audience.Reach() == social.Addressed && !left
	if was, ok := m.hidden[p.ID]; ok {
		was.removed = was.removed || everywhere
		m.hidden[p.ID] = was
	}
	p.Removed = p.Removed || everywhere
	if !p.IsReply() {
		p.Closed = true
		p.Audience.Circles = slices.DeleteFunc(slices.Clone(p.Audience.Circles), func(id string) bool { return slices.Contains(from, id) })
		if len(p.Audience.Circles) == 0 {
			p.Audience.Circles = nil
		}
	}
}

// removals checks what the owner of a group and the author of a post remove.
func removals(e *env) {
	e.cardsOf("o", "o2", "m", "troll", "x", "friend")
	e.group("g", "o", social.CircleTerms{}, "m", "troll", "x")
	e.group("h", "o2", social.CircleTerms{}, "m", "troll", "friend")
	e.block("o", "x") // the owner does not see what x posts, but removes it
	only, both := e.post("troll", inCircles("g"), "m", "friend"), e.post("troll", inCircles("g", "h"))
	wide := e.post("troll", social.Audience{Followers: true, Circles: []string{"g"}})
	e.follow("friend", "troll")
	_, _, err := e.CreatePost(e.ctx, social.Post{Author: "x", Caption: "x", Audience: inCircles("g")}, social.Creation{})
	require.ErrorIs(e, err, feed.ErrRule, "a block has ended the membership")
	e.dirty()

	for by, want := range map[string]error{"m": feed.ErrForbidden, "stranger": feed.ErrNotFound, "o2": feed.ErrNotFound} {
		require.ErrorIs(e, e.RemovePost(e.ctx, only.ID, by, "", ""), want, by)
	}
	require.ErrorIs(e, e.RemovePost(e.ctx, only.ID, "o", "h", ""), feed.ErrForbidden, "it is not in that group")
	require.ErrorIs(e, e.RemovePost(e.ctx, only.ID, "o", "", strings.Repeat("x", social.MaxReason+1)), feed.ErrInvalid)
	require.ErrorIs(e, e.RemovePost(e.ctx, only.ID, "", "", ""), feed.ErrInvalid, "an admin names the group")
	require.ErrorIs(e, e.RemovePost(e.ctx, "post:none", "o", "", ""), feed.ErrNotFound)
	at := e.clock().Unix()
	for range 2 {
		e.ok(e.RemovePost(e.ctx, only.ID, "o", "", "spam"))
		e.pass(time.Minute)
	}
	e.ok(e.RemovePost(e.ctx, both.ID, "", "g", ""))
	e.ok(e.RemovePost(e.ctx, wide.ID, "o", "g", "off topic"))
	require.Subset(e, e.dirty(), []string{"member g/m", "member g/o", "pair troll/friend", "pair troll/m"})
	for _, reader := range []string{"m", "friend", "o"} { // whom it mentions, too
		e.sees(false, "g", reader, only)
	}
	require.Equal(e, []social.Removal{{By: social.ByGroupOwner, Reason: "spam", At: at, Circle: "g"}}, e.card("troll", only.ID).Removed)
	require.Equal(e, social.Self, e.card("troll", only.ID).Reason)
	require.False(e, e.card("troll", only.ID).CanReply)
	e.sees(true, "h", "m", both)
	e.sees(false, "g", "o", both)
	require.Equal(e, []social.CircleRef{{ID: "h"}}, e.card("m", both.ID).Circles)
	require.Equal(e, social.ByAdmin, e.card("troll", both.ID).Removed[0].By)
	e.sees(false, "g", "m", wide)
	require.Equal(e, social.Follow, e.card("friend", wide.ID).Reason)
	for _, p := range []social.Post{only, both, wide} {
		for _, reader := range []string{"m", "o", "friend"} {
			require.Empty(e, e.card(reader, p.ID).Removed, "only its author learns of it")
		}
	}
	caption := "again"
	e.edited(only.ID, "troll", social.Edit{Caption: &caption})
	e.sees(false, "g", "m", only)
	e.ok(e.EraseAgent(e.ctx, "o"))
	require.Empty(e, e.card("troll", only.ID).Removed[0].Reason, "the reason is erased with who gave it")
	e.ok(e.EraseAgent(e.ctx, "troll"))
	for !must[bool](e)(e.EraseSome(e.ctx, "troll", 10, nil)) {
	}
	require.False(e, e.row(only.ID).Removed, "erased with its author")
}

// removalsFromWider checks that a removal widens nothing: an agent whom a post to followers and a
// group mentions does not get the replies of followers when the post leaves the group.
func removalsFromWider(e *env) {
	e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: "g", Owner: "o", CircleTerms: social.CircleTerms{Kind: social.KindGroup}}, []string{"a", "m"}, e.clock())))
	e.follow("f", "a")
	e.pass(time.Second)
	p := e.post("a", social.Audience{Followers: true, Circles: []string{"g"}}, "out")
	r := e.reply("f", p.ID)
	check := func(when string) {
		e.Helper()
		require.True(e, e.card("out", p.ID).Visible, when)
		require.False(e, e.card("out", p.ID).Replies, when)
		require.False(e, e.card("out", r.ID).Visible, when)
		require.True(e, e.card("f", r.ID).Visible, when)
		require.True(e, e.card("a", r.ID).Visible, when)
	}
	check("before")
	e.ok(e.RemovePost(e.ctx, p.ID, "o", "", ""))
	check("removed from the group")
	require.False(e, e.card("m", p.ID).Visible)

	again := social.Post{ID: p.ID, Author: "a", CreatedAt: p.CreatedAt, Caption: "again", Audience: p.Audience, Mentions: []string{"out"}}
	report := func() {
		e.Helper()
		e.pass(time.Second)
		e.ok(third(e.CreatePost(e.ctx, again, social.Creation{At: e.clock()})))
	}
	report()
	check("reported again")
	e.ok(e.DeletePost(e.ctx, r.ID, "f", here))
	report()
	r = e.reply("f", p.ID)
	check("reported again without replies")
}

// removedReplies checks that comments follow the removal of replies.
func removedReplies(e *env) {
	e.group("g", "o", social.CircleTerms{}, "a", "m", "n")
	e.group("h", "o2", social.CircleTerms{}, "a", "k", "m")
	root, shared, wide := e.post("a", inCircles("g")), e.post("a", inCircles("g", "h")), e.post("a", public())
	byOwner, byAuthor := e.reply("m", root.ID), e.reply("m", root.ID)
	kept := e.reply("n", root.ID)
	require.EqualValues(e, 3, e.card("n", root.ID).Comments)
	require.ErrorIs(e, e.RemovePost(e.ctx, byOwner.ID, "n", "", ""), feed.ErrForbidden)
	e.ok(e.RemovePost(e.ctx, byOwner.ID, "o", "", "rude"))
	e.ok(e.RemovePost(e.ctx, byAuthor.ID, "a", "", ""))
	e.ok(e.RemovePost(e.ctx, byAuthor.ID, "a", "", "again"))
	require.Contains(e, e.dirty(), "count "+root.ID)
	c := e.card("n", root.ID)
	require.EqualValues(e, []int64{1, 1}, []int64{c.Comments, c.Commenters})
	for _, r := range []social.Post{byOwner, byAuthor} {
		for reader, want := range map[string]bool{"m": true, "n": false, "o": false, "a": false} {
			require.Equal(e, want, e.card(reader, r.ID).Visible, reader)
			list := entryIDs(must[[]social.Entry](e)(e.Replies(e.ctx, social.RepliesQuery{Reader: reader, Post: root.ID, N: 9})))
			require.Equal(e, want, slices.Contains(list, r.ID), reader)
			require.Contains(e, list, kept.ID)
		}
	}
	require.Equal(e, []social.Removal{{By: social.ByPostAuthor, At: e.card("m", byAuthor.ID).Removed[0].At}}, e.card("m", byAuthor.ID).Removed)
	require.Equal(e, "g", e.card("m", byOwner.ID).Removed[0].Circle)
	_, _, err := e.CreatePost(e.ctx, social.Post{Author: "m", Caption: "x", ReplyTo: byOwner.ID}, social.Creation{})
	require.ErrorIs(e, err, feed.ErrForbidden)
	e.ok(e.DeletePost(e.ctx, byOwner.ID, "m", here))
	require.EqualValues(e, 1, e.card("n", root.ID).Comments, "it was not counted any more")

	// Through another group the reply stays visible.
	part := e.reply("m", shared.ID)
	e.ok(e.RemovePost(e.ctx, part.ID, "o", "", ""))
	for reader, want := range map[string]bool{"m": true, "n": false, "o": false, "k": true, "a": true} {
		require.Equal(e, want, e.card(reader, part.ID).Visible, reader)
	}
	require.EqualValues(e, 1, e.card("k", shared.ID).Comments)
	e.ok(e.RemovePost(e.ctx, part.ID, "o2", "", ""))
	require.False(e, e.card("k", part.ID).Visible)
	require.Zero(e, e.card("k", shared.ID).Comments)
	open := e.reply("stranger", wide.ID)
	require.ErrorIs(e, e.RemovePost(e.ctx, open.ID, "n", "", ""), feed.ErrForbidden)
	e.ok(e.RemovePost(e.ctx, open.ID, "", "", ""))
	require.Equal(e, social.ByAdmin, e.card("stranger", open.ID).Removed[0].By)
	require.Zero(e, e.card("", wide.ID).Comments)
	require.Empty(e, must[[]social.Entry](e)(e.Grid(e.ctx, "n", "stranger", social.Position{}, 9)))
	require.Len(e, must[[]social.Entry](e)(e.Grid(e.ctx, "stranger", "stranger", social.Position{}, 9)), 1)

	// What is removed is not counted again when its author is erased.
	last := e.post("a", inCircles("h"))
	gone := e.reply("k", last.ID)
	e.reply("m", last.ID)
	e.ok(e.RemovePost(e.ctx, gone.ID, "o2", "", ""))
	e.ok(e.EraseAgent(e.ctx, "k"))
	e.eraseAll("k")
	c = e.card("m", last.ID)
	require.EqualValues(e, []int64{1, 1}, []int64{c.Comments, c.Commenters})
}

// removalsReported checks that no report of another system brings back what was removed.
func removalsReported(e *env) {
	e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: "g", Owner: "o", CircleTerms: social.CircleTerms{Kind: social.KindGroup}}, []string{"a", "m"}, e.clock())))
	e.pass(time.Second)
	report := func(audience social.Audience) social.Post {
		e.Helper()
		e.pass(time.Second)
		p := social.Post{ID: "post:p", Author: "a", CreatedAt: e.clock().Unix(), Caption: "x", Audience: audience, Mentions: []string{"n"}}
		got, _, err := e.CreatePost(e.ctx, p, social.Creation{At: e.clock()})
		e.ok(err)
		return got.Post
	}
	e.cardsOf("a")
	p := report(inCircles("g"))
	e.sees(true, "g", "m", p)
	e.reply("m", p.ID)
	e.ok(e.RemovePost(e.ctx, p.ID, "o", "", "no"))
	for _, audience := range []social.Audience{inCircles("g"), {Public: true, Circles: []string{"g"}}, {Followers: true}} {
		p = report(audience)
		for _, reader := range []string{"m", "n", "o", "", "stranger"} {
			require.False(e, e.card(reader, p.ID).Visible, "%s, reported with %+v", reader, audience)
		}
		require.Len(e, e.card("a", p.ID).Removed, 1)
		require.Zero(e, must[social.AuthorInfo](e)(e.Author(e.ctx, "n", "a")).Posts, "whom it mentions does not count it")
	}
	e.ok(e.DeletePost(e.ctx, p.ID, "", e.clock()))
	p = report(inCircles("g"))
	e.sees(false, "g", "m", p)
	e.ok(e.EraseAgent(e.ctx, "n"))
	for !must[bool](e)(e.EraseSome(e.ctx, "n", 10, nil)) {
	}
	require.Empty(e, e.row(p.ID).Mentions, "the mention is erased")
}

// closedReplies checks that the author of a post closes it for replies.
func closedReplies(e *env) {
	p := e.post("a", public())
	before := e.reply("m", p.ID)
	right := func(r social.Right) social.Edit { return social.Edit{Reply: &r} }
	edit := func(id, by string, r social.Right) error { return second(e.EditPost(e.ctx, id, by, right(r), here)) }
	require.ErrorIs(e, edit(p.ID, "a", "anybody"), feed.ErrRule)
	require.ErrorIs(e, edit(p.ID, "m", social.RightNone), feed.ErrForbidden)
	require.ErrorIs(e, edit(before.ID, "m", social.RightNone), feed.ErrRule, "a reply has no right of its own")
	e.ok(edit(p.ID, "a", social.RightFollowers))
	require.False(e, e.card("m", p.ID).CanReply)
	require.True(e, e.card("a", p.ID).CanReply)
	e.ok(edit(p.ID, "a", social.RightNone))
	require.Contains(e, e.dirty(), "index "+p.ID)
	for _, by := range []string{"a", "m"} {
		require.False(e, e.card(by, p.ID).CanReply)
		require.False(e, e.card(by, before.ID).CanReply)
		_, _, err := e.CreatePost(e.ctx, social.Post{Author: by, Caption: "x", ReplyTo: before.ID}, social.Creation{})
		require.ErrorIs(e, err, feed.ErrForbidden)
	}
	require.True(e, e.card("m", before.ID).Visible, "existing replies stay")
	require.EqualValues(e, 1, e.card("m", p.ID).Comments)
	require.Contains(e, string(e.card("m", p.ID).Content), `"reply":"none"`)
	require.Zero(e, e.row(p.ID).EditedAt, "its content was not edited")
	for _, r := range []social.Right{social.RightPublic, social.RightFollowers} {
		require.ErrorIs(e, edit(p.ID, "a", r), feed.ErrRule, "only an admin opens it again")
	}
	e.ok(edit(p.ID, "", social.RightPublic))
	require.True(e, e.card("m", p.ID).CanReply)
}

// removalsOfReused checks that removals end with the author of the post and with the group.
func removalsOfReused(e *env) {
	group := social.Circle{ID: "g", Owner: "o", CircleTerms: social.CircleTerms{Kind: social.KindGroup}}
	put := func() {
		e.Helper()
		e.pass(time.Second)
		e.ok(second(e.PutCircle(e.ctx, group, []string{"a", "m"}, e.clock())))
		e.pass(time.Second)
	}
	report := func(id string, audience social.Audience) social.Post {
		e.Helper()
		e.pass(time.Second)
		p := social.Post{ID: id, Author: "a", CreatedAt: e.clock().Unix(), Caption: "x", Audience: audience}
		return must[social.Written](e)(first(e.CreatePost(e.ctx, p, social.Creation{At: e.clock()}))).Post
	}
	put()
	wide, only := report("post:w", social.Audience{Followers: true, Circles: []string{"g"}}), report("post:p", inCircles("g"))
	for _, p := range []social.Post{wide, only} {
		e.ok(e.RemovePost(e.ctx, p.ID, "o", "", "no"))
	}
	e.ok(e.DropCircle(e.ctx, "g", "", e.clock()))
	put()
	wide = report(wide.ID, wide.Audience)
	e.sees(true, "g", "m", report(wide.ID, social.Audience{Followers: true, Circles: []string{"g"}}))
	e.ok(e.RemovePost(e.ctx, wide.ID, "o", "", "by the next group"))
	require.Equal(e, "by the next group", e.card("a", wide.ID).Removed[0].Reason)
	e.ok(e.EraseAgent(e.ctx, "o"))
	require.Equal(e, []social.Removal{{By: social.ByGroupOwner, At: e.clock().Unix(), Circle: "g"}}, e.card("a", wide.ID).Removed)
	require.False(e, e.card("m", only.ID).Visible)

	e.ok(e.EraseAgent(e.ctx, "a")) // another agent has the ids of author and posts
	group.Owner = "m"              // the group has passed to its last member
	put()
	e.sees(true, "g", "m", report(only.ID, inCircles("g")))
	require.Empty(e, e.card("a", only.ID).Removed)
	for !must[bool](e)(e.EraseSome(e.ctx, "a", 10, nil)) {
	}
	e.sees(true, "g", "m", e.row(only.ID))
}
