package socialtest

import (
	"fmt"
	"sync"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

func reply(author, to string) social.Post {
	return social.Post{Author: author, Caption: "a reply by " + author, ReplyTo: to}
}

// reply creates a reply and lets a second pass.
func (e *env) reply(author, to string) social.Post {
	e.Helper()
	p := e.create(reply(author, to))
	e.pass(time.Second)
	return p
}

// under lists the replies under a post.
func (e *env) under(reader, root string, oldest bool) []string {
	e.Helper()
	return entryIDs(must[[]social.Entry](e)(e.Replies(e.ctx, social.RepliesQuery{Reader: reader, Post: root, N: 100, Oldest: oldest, Own: !e.card(reader, root).Replies})))
}

// repliesOfEnded deletes a reply after its root, for which it does not count any more.
func repliesOfEnded(e *env) {
	root := e.post("a", public())
	r := e.reply("b", root.ID)
	e.ok(e.DeletePost(e.ctx, root.ID, "a", here))
	e.dirty()
	e.ok(e.DeletePost(e.ctx, r.ID, "", here))
	require.NotContains(e, e.dirty(), "count "+root.ID)
}

// replies checks a thread from its first reply to the deletion of its root.
func replies(e *env) {
	root := e.post("a", public())
	e.dirty()
	first := e.reply("b", root.ID)
	require.Equal(e, []string{"count " + root.ID}, e.dirty(), "a reply is in no list and has no item")
	second := e.reply("c", first.ID)
	third := e.reply("b", second.ID)
	require.Equal(e, root.ID, third.Root)
	require.Equal(e, second.ID, third.ReplyTo)
	require.Equal(e, []string{first.ID, second.ID, third.ID}, e.under("", root.ID, true))
	require.Equal(e, []string{third.ID, second.ID, first.ID}, e.under("s", root.ID, false))
	require.Empty(e, e.under("", first.ID, true), "all replies are under the root post")
	for _, reader := range []string{"", "a", "b", "s"} {
		c := e.card(reader, root.ID)
		require.Equal(e, int64(3), c.Comments)
		require.Equal(e, int64(2), c.Commenters, "an agent who replies twice counts once")
		c = e.card(reader, third.ID)
		require.True(e, c.Visible)
		require.False(e, c.Public, "a cached reply would outlive its root post")
		require.Equal(e, social.NoReason, c.Reason)
		require.Contains(e, string(c.Content), `"reply_to":"`+second.ID+`"`)
	}
	require.Equal(e, []string{third.ID, first.ID}, entryIDs(must[[]social.Entry](e)(e.Grid(e.ctx, "", "b", social.Position{}, 9))))
	require.Zero(e, e.info("b", "b").Posts)
	require.Empty(e, must[[]social.Entry](e)(e.Pull(e.ctx, social.PullQuery{Reader: "b", N: 9, Whole: true})))
	require.Empty(e, e.receivers(first.ID, "", 9))

	e.ok(e.DeletePost(e.ctx, first.ID, "b", here))
	require.Equal(e, []string{"count " + root.ID}, e.dirty())
	require.Equal(e, [2]int64{2, 2}, [2]int64{e.card("", root.ID).Comments, e.card("", root.ID).Commenters})
	e.ok(e.DeletePost(e.ctx, third.ID, "b", here))
	require.Equal(e, [2]int64{1, 1}, [2]int64{e.card("", root.ID).Comments, e.card("", root.ID).Commenters})
	caption := "edited"
	require.Equal(e, "edited", e.edited(second.ID, "c", social.Edit{Caption: &caption}).Caption)
	require.EqualValues(e, 1, e.like("s", second.ID))
	require.NotContains(e, e.dirty(), "index "+second.ID)

	e.ok(e.DeletePost(e.ctx, root.ID, "a", here))
	require.False(e, e.card("c", second.ID).Visible, "a reply ends with its root post")
	require.Empty(e, e.under("c", root.ID, true))
	require.Empty(e, must[[]social.Entry](e)(e.Grid(e.ctx, "c", "c", social.Position{}, 9)))
	require.ErrorIs(e, third2(e.CreatePost(e.ctx, reply("c", second.ID), social.Creation{})), feed.ErrNotFound)
	_, err := e.EditPost(e.ctx, second.ID, "c", social.Edit{Caption: &caption}, here)
	require.ErrorIs(e, err, feed.ErrNotFound)
	require.ErrorIs(e, e.DeletePost(e.ctx, second.ID, "c", here), feed.ErrNotFound)
	e.swept()
	require.True(e, e.row(second.ID).Deleted)
}

func third2[A, B any](_ A, _ B, err error) error { return err }

// whoMayReply checks every right to reply, for agents with and without it.
func whoMayReply(e *env) {
	e.follow("follower", "a")
	e.putCircle("c", "a", "member")
	e.block("a", "blocked")
	for _, tt := range []struct {
		right   social.Right
		a       social.Audience
		by      string
		refused error
		reason  string
	}{
		{social.RightPublic, public(), "stranger", nil, ""},
		{social.RightPublic, public(), "blocked", feed.ErrNotFound, "not found"},
		{social.RightFollowers, public(), "stranger", feed.ErrForbidden, "followers"},
		{social.RightFollowers, public(), "follower", nil, ""},
		{social.RightFollowers, public(), "a", nil, ""},
		{social.RightNone, public(), "a", feed.ErrForbidden, "nobody"},
		{social.RightAudience, social.Audience{Public: true, Circles: []string{"c"}}, "follower", feed.ErrForbidden, "audience"},
		{social.RightAudience, social.Audience{Public: true, Circles: []string{"c"}}, "member", nil, ""},
		{social.RightPublic, followers(), "stranger", feed.ErrNotFound, "not found"},
		{social.RightPublic, inCircles("c"), "follower", feed.ErrNotFound, "not found"},
		{social.RightPublic, inCircles("c"), "member", nil, ""},
	} {
		root := e.create(social.Post{Author: "a", Caption: "x", Audience: tt.a, Reply: tt.right})
		_, _, err := e.CreatePost(e.ctx, reply(tt.by, root.ID), social.Creation{})
		if tt.refused == nil {
			require.NoError(e, err, "%s may reply to %+v", tt.by, root)
			require.Equal(e, int64(1), e.card("a", root.ID).Comments)
			continue
		}
		require.ErrorIs(e, err, tt.refused, "%s must not reply to %+v", tt.by, root)
		require.ErrorContains(e, err, tt.reason)
		require.Zero(e, e.card("a", root.ID).Comments)
	}
	require.ErrorIs(e, third2(e.CreatePost(e.ctx, reply("b", "post:unknown"), social.Creation{})), feed.ErrNotFound)
}

// badReplies checks replies with fields that no reply may have.
func badReplies(e *env) {
	root := e.post("a", public())
	for name, p := range map[string]social.Post{
		"an audience":   {Author: "b", Caption: "x", ReplyTo: root.ID, Audience: public()},
		"circles":       {Author: "b", Caption: "x", ReplyTo: root.ID, Audience: inCircles("c")},
		"no content":    {Author: "b", ReplyTo: root.ID},
		"another's":     {Author: "b", Caption: "x", ReplyTo: root.ID, Origin: "example.com"},
		"no post's id":  {Author: "b", Caption: "x", ReplyTo: "item_1"},
		"a root of its": {Author: "b", Caption: "x", Root: root.ID},
	} {
		got, _, err := e.CreatePost(e.ctx, p, social.Creation{})
		if p.ReplyTo == "" {
			require.False(e, got.IsReply(), name)
			continue
		}
		require.ErrorIs(e, err, feed.ErrRule, name)
	}
	e.ok(third2(e.CreatePost(e.ctx, reply("b", root.ID), social.Creation{Key: "k"})))
	_, created, err := e.CreatePost(e.ctx, reply("b", root.ID), social.Creation{Key: "k"})
	require.NoError(e, err)
	require.False(e, created)
	require.ErrorIs(e, third2(e.CreatePost(e.ctx, social.Post{Author: "b", Caption: "a reply by b"}, social.Creation{Key: "k"})), feed.ErrConflict)
}

// repliesOfErased checks that an agent's replies, and the replies under their posts, are deleted
// with the agent.
func repliesOfErased(e *env) {
	theirs, other := e.post("x", public()), e.post("a", public())
	under := e.reply("b", theirs.ID)
	by, mentions := e.reply("x", other.ID), reply("b", other.ID)
	mentions.Mentions = []string{"x", "y"}
	mentioning := e.create(mentions)
	require.Equal(e, int64(2), e.card("", other.ID).Comments)
	require.Equal(e, social.NoReason, e.card("x", mentioning.ID).Reason)
	e.ok(e.EraseAgent(e.ctx, "x"))
	for _, id := range []string{under.ID, by.ID} {
		require.False(e, e.card("b", id).Visible)
	}
	for !must[bool](e)(e.EraseSome(e.ctx, "x", 1, nil)) {
	}
	require.True(e, e.row(under.ID).Deleted)
	require.True(e, e.row(by.ID).Deleted)
	require.Equal(e, [2]int64{1, 1}, [2]int64{e.card("", other.ID).Comments, e.card("", other.ID).Commenters})
	require.Equal(e, []string{"y"}, e.row(mentioning.ID).Mentions)
}

// repliesOfReused checks that replies under a post are not under a new one with the same id.
func repliesOfReused(e *env) {
	p := social.Post{ID: reused, Author: "a", Caption: "Help the animal shelter", Audience: public()}
	e.event(p, 100*time.Second)
	old := e.reply("b", reused)
	e.deleted(reused, 50*time.Second)
	require.False(e, e.card("b", old.ID).Visible)
	e.event(p, 40*time.Second)
	none := func(why string) {
		e.Helper()
		require.Zero(e, e.card("b", reused).Comments, why)
		require.False(e, e.card("b", old.ID).Visible, why)
		require.Empty(e, e.under("b", reused, true), why)
		require.Empty(e, must[[]social.Entry](e)(e.Grid(e.ctx, "", "b", social.Position{}, 9)), why)
	}
	none("made again")
	fresh := e.reply("c", reused)
	require.Equal(e, [2]int64{1, 1}, [2]int64{e.card("", reused).Comments, e.card("", reused).Commenters})
	e.ok(e.DeletePost(e.ctx, old.ID, "", here))
	require.Equal(e, int64(1), e.card("", reused).Comments, "a reply from before the deletion does not count")
	e.swept()
	require.Equal(e, []string{fresh.ID}, e.under("b", reused, true))
	e.ok(e.DeletePost(e.ctx, fresh.ID, "c", here))
	none("its reply deleted")
}

// repliesInAnyOrder receives the second creation before the deletion of the first post.
func repliesInAnyOrder(e *env) {
	p := social.Post{ID: reused, Author: "a", Caption: "first", Audience: public()}
	e.event(p, 100*time.Second)
	old := e.reply("b", reused)
	e.event(p, 40*time.Second)
	fresh := e.reply("c", reused)
	require.Equal(e, int64(2), e.card("", reused).Comments, "the event may be a repetition for the same post")
	e.deleted(reused, 50*time.Second)
	require.Equal(e, [2]int64{1, 1}, [2]int64{e.card("", reused).Comments, e.card("", reused).Commenters})
	require.True(e, e.card("", fresh.ID).Visible, "it refers to the current post")
	require.False(e, e.card("", old.ID).Visible)
	e.swept()
	require.Equal(e, int64(1), e.card("", reused).Comments)
}

// repliedAtOnce lets several writers reply to each other's posts, while some replies are deleted
// and some writers erased.
func repliedAtOnce(e *env) {
	const writers, each = 4, 6
	roots := []string{e.post("w0", public()).ID, e.post("w1", public()).ID}
	var group sync.WaitGroup
	for w := range writers {
		author := fmt.Sprintf("w%d", w)
		group.Go(func() {
			for i := range each {
				p, _, err := e.CreatePost(e.ctx, reply(author, roots[i%2]), social.Creation{})
				if assert.NoError(e, err) && i < 2 {
					assert.NoError(e, e.DeletePost(e.ctx, p.ID, author, here))
				}
			}
			if w > 1 {
				assert.NoError(e, e.EraseAgent(e.ctx, author))
				for done := false; !done; {
					var err error
					done, err = e.EraseSome(e.ctx, author, 2, nil)
					if !assert.NoError(e, err) {
						return
					}
				}
			}
		})
	}
	group.Wait()
	for _, root := range roots {
		c := e.card("", root)
		require.Equal(e, [2]int64{4, 1}, [2]int64{c.Comments, c.Commenters}, "of the two repliers, one is the author")
		require.Len(e, e.under("", root, true), 4)
	}
}
