package socialtest

import (
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// shut is a way in which "b", who has replied to a post of "a", comes to be outside of its audience.
type shut struct {
	name     string
	audience social.Audience
	mentions []string
	out      func(e *env, root social.Post)
	seesRoot bool // b still sees the root post
}

// shuts lists them. b follows a, is in a's circle "mine", and with a in the group "ours" of "o".
var shuts = []shut{
	{"blocked by the author of the root", public(), nil, func(e *env, _ social.Post) { e.block("a", "b") }, false},
	{"blocks the author of the root", public(), nil, func(e *env, _ social.Post) { e.block("b", "a") }, false},
	{"unfollows", followers(), nil, func(e *env, _ social.Post) { e.unfollow("b", "a") }, false},
	{"removed from the circle", inCircles("mine"), nil, func(e *env, _ social.Post) { e.removeMember("mine", "b", "a") }, false},
	{"leaves the circle", inCircles("mine"), nil, func(e *env, _ social.Post) { e.removeMember("mine", "b", "b") }, false},
	{"removed from the group", inCircles("ours"), nil, func(e *env, _ social.Post) { e.removeMember("ours", "b", "o") }, false},
	{"leaves the group", inCircles("ours"), nil, func(e *env, _ social.Post) { e.removeMember("ours", "b", "b") }, false},
	{"leaves the group, and is mentioned", inCircles("ours"), []string{"b"}, func(e *env, _ social.Post) { e.removeMember("ours", "b", "b") }, true},
	{"leaves a group of a post to followers, too", social.Audience{Followers: true, Circles: []string{"ours"}}, nil, func(e *env, _ social.Post) {
		e.removeMember("ours", "b", "b")
		e.unfollow("b", "a")
	}, false},
	{"deletion of the circle", inCircles("mine"), nil, func(e *env, _ social.Post) { e.ok(e.DropCircle(e.ctx, "mine", "a", here)) }, false},
	{"deletion of the group", inCircles("ours"), nil, func(e *env, _ social.Post) { e.ok(e.DropCircle(e.ctx, "ours", "o", here)) }, false},
	{"another audience", public(), nil, func(e *env, root social.Post) {
		root.Audience = inCircles("mine")
		e.removeMember("mine", "b", "a")
		e.event(root, 0)
	}, false},
	{"no mention", social.Audience{}, []string{"b"}, func(e *env, root social.Post) {
		root.Mentions = nil
		e.event(root, 0)
	}, false},
}

func (e *env) removeMember(circle, agent, by string) {
	e.Helper()
	must[bool](e)(e.RemoveMember(e.ctx, circle, agent, by, here))
}

// repliedBefore creates a post with a reply of b and one of c, and then shuts b out.
func (e *env) repliedBefore(s shut) (root, own, other social.Post) {
	e.Helper()
	for _, agents := range [][2]string{{"a", "b"}, {"b", "a"}} {
		must[bool](e)(e.Unblock(e.ctx, agents[0], agents[1]))
	}
	for _, agent := range []string{"b", "c"} {
		e.follow(agent, "a")
	}
	e.putCircle("mine", "a", "b", "c")
	e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: "ours", Owner: "o", CircleTerms: social.CircleTerms{Kind: social.KindGroup}}, []string{"a", "b", "c"}, here)))
	e.pass(time.Second)
	root = e.post("a", s.audience, append([]string{"c"}, s.mentions...)...)
	if len(s.audience.Circles) > 0 {
		root = e.post("a", s.audience, s.mentions...)
	}
	own, other = e.reply("b", root.ID), e.reply("c", root.ID)
	s.out(e, root)
	e.pass(time.Second)
	return root, own, other
}

// repliesShutOut checks that the author of a reply sees it in every list and by its id, and may edit
// and delete it, whatever happened since. It may not be replied to by them.
func repliesShutOut(e *env) {
	for _, s := range shuts {
		root, own, _ := e.repliedBefore(s)
		c := e.card("b", own.ID)
		require.True(e, c.Visible, s.name)
		require.False(e, c.CanReply, s.name)
		require.Equal(e, s.seesRoot, e.card("b", root.ID).Visible, s.name)
		require.Contains(e, e.grid("b", "b"), own.ID, s.name)
		require.Equal(e, []string{own.ID}, e.under("b", root.ID, true), s.name)
		e.info("b", "b")
		caption := "sorry"
		_, err := e.EditPost(e.ctx, own.ID, "b", social.Edit{Caption: &caption}, here)
		require.NoError(e, err, s.name)
		require.Contains(e, string(e.card("b", own.ID).Content), caption, s.name)
		refused := feed.ErrNotFound
		if s.seesRoot {
			refused = feed.ErrForbidden
		}
		require.ErrorIs(e, third2(e.CreatePost(e.ctx, reply("b", root.ID), social.Creation{})), refused, s.name)
		require.ErrorIs(e, third2(e.CreatePost(e.ctx, reply("b", own.ID), social.Creation{})), feed.ErrForbidden, s.name)
		e.ok(e.DeletePost(e.ctx, own.ID, "b", here))
		require.NotContains(e, e.grid("b", "b"), own.ID, s.name)
		require.EqualValues(e, 1, e.row(root.ID).Comments, s.name)
	}
	// Nobody sees a reply after its root post.
	root := e.post("a", public())
	own := e.reply("c", root.ID)
	e.ok(e.DeletePost(e.ctx, root.ID, "a", here))
	require.False(e, e.card("c", own.ID).Visible)
	require.NotContains(e, e.grid("c", "c"), own.ID)
}

// repliesOfOthers checks that who is shut out has no access to the replies of others.
func repliesOfOthers(e *env) {
	hidden := func(reader, name string, root, other social.Post) {
		e.Helper()
		require.False(e, e.card(reader, root.ID).Replies || e.card(reader, root.ID).CanReply, name)
		require.False(e, e.card(reader, other.ID).Visible, name)
		require.NotContains(e, e.under(reader, root.ID, true), other.ID, name)
		require.ErrorIs(e, third2(e.CreatePost(e.ctx, reply(reader, other.ID), social.Creation{})), feed.ErrNotFound, name)
		require.ErrorIs(e, third2(e.Like(e.ctx, reader, other.ID)), feed.ErrNotFound, name)
		card, _, err := e.Unlike(e.ctx, reader, other.ID)
		require.NoError(e, err)
		require.Equal(e, social.Card{ID: other.ID}, card, name)
	}
	for _, s := range shuts {
		root, _, other := e.repliedBefore(s)
		hidden("b", s.name, root, other)
		if !root.Audience.Public {
			require.NotContains(e, e.grid("b", "c"), other.ID, s.name)
		}
	}
	e.putCircle("mine", "a", "b")
	toCircle := e.post("a", inCircles("mine"), "m")
	hidden("m", "a mention outside of the circle", toCircle, e.reply("b", toCircle.ID))
	e.ok(e.DropCircle(e.ctx, "mine", "a", here))
	require.True(e, e.card("a", toCircle.ID).Replies, "the owner of a circle is in its audience")

	e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: "ours", Owner: "o", CircleTerms: social.CircleTerms{Kind: social.KindGroup}}, []string{"a", "b"}, here)))
	e.pass(time.Second)
	for name, c := range map[string]struct {
		audience social.Audience
		stays    bool
	}{
		"the author was removed from the group":                               {inCircles("ours"), false},
		"the author was removed from the group, and posted to followers, too": {social.Audience{Followers: true, Circles: []string{"ours"}}, true},
		"the author was removed from the group, and posted to everybody, too": {social.Audience{Public: true, Circles: []string{"ours"}}, true},
	} {
		must[bool](e)(e.AddMember(e.ctx, "ours", "a", "", here))
		root := e.post("a", c.audience)
		e.removeMember("ours", "a", "o")
		e.pass(time.Second)
		other := e.reply("b", root.ID)
		require.True(e, e.card("a", root.ID).Visible, name)
		require.Equal(e, c.stays, e.card("a", root.ID).Replies, name)
		if !c.stays {
			hidden("a", name, root, other)
		}
	}
}

// repliesOfPurged checks that the audience of a post does not widen when what is left of a group, or
// of grants, is removed.
func repliesOfPurged(e *env) {
	e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: "ours", Owner: "o", CircleTerms: social.CircleTerms{Kind: social.KindGroup}}, []string{"a", "b"}, here)))
	e.putCircle("mine", "a", "b")
	e.pass(time.Second)
	toGroup, toCircle := e.post("a", inCircles("ours"), "m"), e.post("a", inCircles("mine"), "m")
	e.reply("b", toGroup.ID)
	e.reply("b", toCircle.ID)
	granted := social.Post{ID: "post:g", Author: "a", Caption: "x", Origin: "example.com", Mentions: []string{"m", "n"}, Grants: []string{"n"}}
	e.event(granted, 0)
	e.pass(time.Second)
	e.reply("n", granted.ID)
	e.ok(e.DropCircle(e.ctx, "ours", "o", here))
	e.ok(e.DropCircle(e.ctx, "mine", "a", here))
	e.ok(e.EraseAgent(e.ctx, "n"))
	e.eraseAll("n")
	e.pass(social.TombstoneLives + time.Second)
	for range 4 {
		e.purgeRows(1)
		e.purgeRows(100)
	}
	e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: "ours", Owner: "x", CircleTerms: social.CircleTerms{Kind: social.KindGroup, History: social.HistoryAll}}, []string{"m"}, here)))
	for _, p := range []social.Post{toGroup, toCircle, granted} {
		require.True(e, e.card("m", p.ID).Visible)
		require.False(e, e.card("m", p.ID).Replies, p.ID)
		require.Empty(e, e.under("m", p.ID, true))
	}
	require.False(e, e.card("a", toGroup.ID).Replies)
	require.True(e, e.card("a", toCircle.ID).Replies)
}

// repliesReportedLate checks that a post that is reported again stays older than the members who have
// joined its group since, and keeps to the group that it was addressed to.
func repliesReportedLate(e *env) {
	group := social.Circle{ID: "g", Owner: "a", CircleTerms: social.CircleTerms{Kind: social.KindGroup}}
	e.ok(second(e.PutCircle(e.ctx, group, []string{"m"}, here)))
	e.pass(time.Second)
	p := e.post("a", inCircles("g"))
	r := e.reply("m", p.ID)
	must[bool](e)(e.AddMember(e.ctx, "g", "late", "", here))
	e.pass(time.Second)
	p.Caption = "reported again"
	e.event(p, 0)
	require.True(e, e.card("m", r.ID).Visible)
	require.Contains(e, string(e.card("m", p.ID).Content), "reported again")
	for _, id := range []string{p.ID, r.ID} {
		require.False(e, e.card("late", id).Visible)
	}
	e.ok(e.DropCircle(e.ctx, "g", "a", here))
	e.ok(second(e.PutCircle(e.ctx, group, []string{"new"}, here)))
	e.pass(time.Second)
	e.event(p, 0)
	for _, reader := range []string{"new", "late"} {
		require.False(e, e.card(reader, r.ID).Visible)
	}
}

// repliesReported checks which audience a post has after another system has reported it again.
func repliesReported(e *env) {
	e.putCircle("c1", "a", "x1")
	e.putCircle("c2", "a", "x2")
	both, n := social.Audience{Followers: true, Circles: []string{"c1"}}, 0
	for name, c := range map[string]struct {
		stored, reported, want   social.Audience
		before, mentions, remain []string
	}{
		"wider: everybody":              {stored: followers(), reported: public(), want: followers()},
		"wider: everybody, of a circle": {stored: inCircles("c1"), reported: public(), want: inCircles("c1")},
		"wider: everybody, of mentions": {reported: public(), before: []string{"m"}, mentions: []string{"n"}, remain: []string{"m"}},
		"wider: followers":              {stored: inCircles("c1"), reported: followers(), want: inCircles("c1")},
		"wider: followers, too":         {stored: inCircles("c1"), reported: both, want: inCircles("c1")},
		"wider: another circle, too":    {stored: inCircles("c1"), reported: inCircles("c1", "c2"), want: inCircles("c1")},
		"wider: a mention":              {stored: followers(), reported: followers(), want: followers(), mentions: []string{"n"}},
		"a mention of a circle":         {stored: inCircles("c1"), reported: inCircles("c1"), want: inCircles("c1"), mentions: []string{"n"}, remain: []string{"n"}},
		"another circle":                {stored: inCircles("c1", "c2"), reported: social.Audience{Followers: true, Circles: []string{"c2"}}, want: inCircles("c2")},
		"a circle instead of followers": {stored: followers(), reported: inCircles("c1")},
		"another circle alone":          {stored: inCircles("c1"), reported: inCircles("c2")},
		"narrower: followers":           {stored: public(), reported: followers(), want: followers()},
		"narrower: a circle":            {stored: both, reported: inCircles("c1"), want: inCircles("c1")},
		"narrower: nobody":              {stored: inCircles("c1"), mentions: []string{"n"}, remain: []string{"n"}},
		"the same":                      {stored: both, reported: both, want: both, before: []string{"m"}, mentions: []string{"m"}, remain: []string{"m"}},
	} {
		n++
		p := social.Post{ID: fmt.Sprint("post:", n), Author: "a", Caption: "x", Audience: c.stored, Mentions: c.before}
		e.event(p, time.Minute)
		r := e.reply("a", p.ID)
		p.Audience, p.Mentions, p.Caption = c.reported, c.mentions, "reported again"
		e.event(p, 0)
		got := e.row(p.ID)
		require.Equal(e, c.want, got.Audience, name)
		require.Equal(e, c.remain, got.Mentions, name)
		require.Equal(e, "reported again", got.Caption, name)
		require.False(e, e.card("n", r.ID).Visible, name)

		// Without replies it has the audience that is reported.
		e.pass(time.Second)
		e.ok(e.DeletePost(e.ctx, r.ID, "a", here))
		e.event(p, 0)
		require.Equal(e, c.reported, e.row(p.ID).Audience, name)
	}
}
