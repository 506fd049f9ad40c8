package socialtest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

func (e *env) grid(reader, author string) []string {
	e.Helper()
	return entryIDs(must[[]social.Entry](e)(e.Grid(e.ctx, reader, author, social.Position{}, 9)))
}

// repliesHidden checks that replies under a root that is hidden from the reader appear neither in
// pages nor in cursors, and do not make their author known.
func repliesHidden(e *env) {
	root := social.Post{ID: "post:root", Author: "a", Caption: "x", Audience: public()}
	hidings := []struct {
		name string
		hide func()
	}{
		{"told anew, to fewer", func() {
			root.Audience = followers()
			e.event(root, 10*time.Second)
		}},
		{"blocked by the author of the root", func() { e.block("a", "s") }},
		{"deleted", func() { e.deleted(root.ID, 5*time.Second) }},
	}
	for i, h := range hidings {
		root.ID, root.Audience = root.ID+"_", public()
		e.event(root, 100*time.Second)
		e.follow("f", "a")
		replier := string(rune('p' + i))
		r := e.reply(replier, root.ID)
		require.Equal(e, []string{r.ID}, e.grid("s", replier), h.name)
		e.info("s", replier)
		h.hide()
		require.False(e, e.card("s", r.ID).Visible, h.name)
		require.Empty(e, e.grid("s", replier), h.name)
		_, err := e.Author(e.ctx, "s", replier)
		require.ErrorIs(e, err, feed.ErrNotFound, h.name)
		must[bool](e)(e.Unblock(e.ctx, "a", "s"))
	}
}

// repliesOfUnknown checks that an author is known by their replies until they are erased.
func repliesOfUnknown(e *env) {
	root := e.post("a", public())
	e.reply("b", root.ID)
	for _, reader := range []string{"", "s", "b"} {
		e.info(reader, "b")
	}
	e.ok(e.EraseAuthor(e.ctx, "b"))
	for _, reader := range []string{"", "s"} {
		_, err := e.Author(e.ctx, reader, "b")
		require.ErrorIs(e, err, feed.ErrNotFound)
	}
	require.Equal(e, social.AuthorInfo{Author: social.Author{ID: "b"}}, e.info("b", "b"), "who still finds itself")
	e.pass(time.Second)
	e.reply("b", root.ID)
	e.info("s", "b")
}

// repliesByEvents checks that an event with the id of a reply replaces the reply by a post if it is
// later, and otherwise changes nothing.
func repliesByEvents(e *env) {
	root := e.post("a", public())
	r := e.reply("b", root.ID)
	p := social.Post{ID: r.ID, Author: "b", Caption: "told late", CreatedAt: 9, Audience: public()}
	_, created, err := e.CreatePost(e.ctx, p, social.Creation{At: e.now.Add(-time.Hour)})
	require.NoError(e, err)
	require.False(e, created)
	require.Equal(e, [2]int64{1, 1}, [2]int64{e.card("", root.ID).Comments, e.card("", root.ID).Commenters})
	e.event(p, 0)
	require.Zero(e, e.card("", root.ID).Comments)
	require.Empty(e, e.under("", root.ID, true))
	require.Equal(e, int64(1), e.info("", "b").Posts)
	e.ok(e.DeletePost(e.ctx, r.ID, "b", here))
	require.Zero(e, e.card("", root.ID).Comments)
}

// repliesPurged checks that the tombstone of a post is purged after the replies under it.
func repliesPurged(e *env) {
	p := social.Post{ID: reused, Author: "a", Caption: "x", Audience: public()}
	e.event(p, 100*time.Second)
	var old []social.Post
	for range 5 {
		old = append(old, e.reply("b", reused))
	}
	e.deleted(reused, 0)
	e.pass(social.TombstoneLives + time.Second)
	e.purgeRows(1)
	e.purgeRows(1)
	e.event(p, time.Second)
	for _, r := range old {
		require.False(e, e.card("b", r.ID).Visible)
	}
	require.Empty(e, e.under("b", reused, true))
	require.Zero(e, e.card("b", reused).Comments)
}
