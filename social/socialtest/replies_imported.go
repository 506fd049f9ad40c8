package socialtest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// imported creates a reply by an event with a time in the past.
func (e *env) imported(id, author, to string, ago time.Duration) error {
	p := reply(author, to)
	p.ID, p.CreatedAt = id, e.now.Add(-ago).Unix()
	_, _, err := e.CreatePost(e.ctx, p, social.Creation{At: e.now.Add(-ago)})
	return err
}

// repliesImported reports a thread by events, some of them twice: it is as one that was written here.
func repliesImported(e *env) {
	root := social.Post{ID: "post:root", Author: "a", Caption: "x", Audience: public(), Reply: social.RightFollowers}
	e.event(root, 100*time.Hour)
	e.follow("b", "a")
	e.follow("c", "a")
	e.dirty()
	for range 2 {
		e.ok(e.imported("post:1", "b", root.ID, 90*time.Hour))
		require.Equal(e, int64(1), e.card("", root.ID).Comments)
	}
	require.Equal(e, []string{"count " + root.ID}, e.dirty(), "a reply is in no list and has no item")
	e.ok(e.imported("post:2", "c", "post:1", 80*time.Hour))
	e.ok(e.imported("post:0", "b", "post:2", 85*time.Hour))
	require.Equal(e, [2]int64{3, 2}, [2]int64{e.card("", root.ID).Comments, e.card("", root.ID).Commenters})
	require.Equal(e, []string{"post:1", "post:0", "post:2"}, e.under("s", root.ID, true), "by their own times")
	for _, id := range []string{"post:0", "post:1", "post:2"} {
		c, p := e.card("s", id), e.row(id)
		require.True(e, c.Visible)
		require.False(e, c.CanReply, "the rights are those of the root post")
		require.Equal(e, root.ID, p.Root)
		require.Equal(e, social.RightFollowers, p.Reply)
	}
	here := e.reply("b", "post:2")
	require.Equal(e, root.ID, here.Root)

	// A later event replaces the text, and nothing else.
	p := reply("b", root.ID)
	p.ID, p.Caption = "post:1", "again"
	e.event(p, time.Hour)
	require.Contains(e, string(e.card("", "post:1").Content), "again")
	require.Equal(e, [2]int64{4, 2}, [2]int64{e.card("", root.ID).Comments, e.card("", root.ID).Commenters})
	require.Equal(e, e.now.Add(-time.Hour).Unix(), e.row("post:1").CreatedAt)

	// A deletion that came first, and edits.
	e.deleted("post:3", 10*time.Minute)
	_, _, err := e.CreatePost(e.ctx, social.Post{ID: "post:3", Author: "b", Caption: "x", ReplyTo: root.ID, CreatedAt: 1}, social.Creation{At: e.now.Add(-time.Hour)})
	require.ErrorIs(e, err, feed.ErrNotFound, "it is deleted")
	text, none := "edited", social.RightNone
	_, err = e.EditPost(e.ctx, "post:4", "", social.Edit{Caption: &text, Reply: &none}, e.now)
	require.NoError(e, err)
	e.ok(e.imported("post:4", "c", root.ID, time.Hour))
	require.Equal(e, "edited", e.row("post:4").Caption)
	require.Equal(e, social.RightFollowers, e.row("post:4").Reply)
	for _, id := range []string{"post:0", "post:1", "post:2", "post:4", here.ID} {
		e.deleted(id, 0)
	}
	require.Zero(e, e.card("", root.ID).Comments)

	// A thread in a group is seen by its members.
	e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: "g", Owner: "a", CircleTerms: social.CircleTerms{Kind: social.KindGroup}}, []string{"m"}, e.now.Add(-99*time.Hour))))
	e.event(social.Post{ID: "post:g", Author: "a", Caption: "x", Audience: inCircles("g")}, 80*time.Hour)
	e.ok(e.imported("post:in_group", "m", "post:g", 70*time.Hour))
	require.True(e, e.card("m", "post:in_group").Visible)
	require.False(e, e.card("s", "post:in_group").Visible)
}

// repliesNotImported reports replies that cannot be: nothing of them is stored.
func repliesNotImported(e *env) {
	e.event(social.Post{ID: "post:root", Author: "a", Caption: "x", Audience: public()}, 100*time.Hour)
	e.event(social.Post{ID: "post:other", Author: "a", Caption: "x", Audience: public()}, 100*time.Hour)
	e.event(social.Post{ID: "post:closed", Author: "a", Caption: "x", Audience: followers()}, 100*time.Hour)
	e.event(social.Post{ID: "post:none", Author: "a", Caption: "x", Audience: public(), Reply: social.RightNone}, 100*time.Hour)
	e.event(social.Post{ID: "post:gone", Author: "a", Caption: "x", Audience: public()}, 100*time.Hour)
	e.deleted("post:gone", 50*time.Hour)
	e.event(social.Post{ID: "post:reused", Author: "a", Caption: "x", Audience: public()}, 100*time.Hour)
	e.deleted("post:reused", 50*time.Hour)
	e.event(social.Post{ID: "post:reused", Author: "a", Caption: "x", Audience: public()}, 40*time.Hour)
	e.ok(e.imported("post:reply", "b", "post:root", 90*time.Hour))
	for to, kind := range map[string]error{
		"post:unknown": feed.ErrRule, "post:new": feed.ErrRule, "post:closed": feed.ErrRule, "post:none": feed.ErrForbidden, "post:gone": feed.ErrRule, "post:reused": feed.ErrRule,
	} {
		err := e.imported("post:new", "b", to, 60*time.Hour)
		require.ErrorIs(e, err, kind, to)
		require.NotErrorIs(e, err, feed.ErrNotFound, to)
		require.False(e, e.card("b", "post:new").Visible)
	}
	for _, to := range []string{"post:other", "post:reply"} {
		require.ErrorIs(e, e.imported("post:reply", "b", to, time.Hour), feed.ErrRule, "it stays where it is")
		require.ErrorIs(e, e.imported("post:other", "a", to, time.Hour), feed.ErrRule, "a post does not become a reply")
	}
	require.ErrorIs(e, e.imported("post:reply", "c", "post:root", time.Hour), feed.ErrForbidden, "it belongs to another author")
	require.Equal(e, int64(1), e.card("", "post:root").Comments)
	require.Zero(e, e.card("", "post:other").Comments)
	require.Zero(e, e.card("", "post:reused").Comments)
	e.ok(e.imported("post:new", "b", "post:reused", 30*time.Hour))
	require.Equal(e, int64(1), e.card("", "post:reused").Comments)

	// Repeating an event for a reply whose root post was deleted since is harmless.
	e.deleted("post:root", 0)
	e.ok(e.imported("post:reply", "b", "post:root", 90*time.Hour))
}
