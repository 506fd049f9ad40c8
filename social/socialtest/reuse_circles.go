package socialtest

import (
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
)

// successors are the ways in which somebody uses the id of a deleted circle again. a is the author
// of the posts to the first one.
var successors = map[string]social.Circle{
	"nobody":                {},
	"the author, a circle":  {Owner: "a"},
	"the author, a group":   {Owner: "a", CircleTerms: social.CircleTerms{Kind: social.KindGroup}},
	"a stranger, a circle":  {Owner: "s"},
	"a stranger, a group":   {Owner: "s", CircleTerms: social.CircleTerms{Kind: social.KindGroup}},
	"a member, a circle":    {Owner: "m"},
	"the owner, as before":  {Owner: "o", CircleTerms: social.CircleTerms{Kind: social.KindGroup}},
	"a stranger, an event":  {Owner: "s", CircleTerms: social.CircleTerms{Kind: social.KindEvent}},
	"the author, an event":  {Owner: "a", CircleTerms: social.CircleTerms{Kind: social.KindEvent}},
	"the author, all posts": {Owner: "a", CircleTerms: social.CircleTerms{Kind: social.KindGroup, History: social.HistoryAll}},
}

// reusedCircles checks that who uses the id of a circle again changes nothing for the posts to the
// earlier circle: the author of a plain circle's post is in its audience, and the author of a
// group's only while they are a member. In the end the circle ends in the same way again.
func reusedCircles(e *env) {
	n := 0
	for name, next := range successors {
		for _, kind := range []social.CircleKind{social.KindCircle, social.KindGroup} {
			n++
			id, name := fmt.Sprintf("c%d", n), fmt.Sprintf("%s after a %s", name, kind)
			owner := "a"
			if kind == social.KindGroup {
				owner = "o"
			}
			e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: id, Owner: owner, CircleTerms: social.CircleTerms{Kind: kind}}, nil, here)))
			for _, agent := range []string{"a", "m"} {
				must[bool](e)(e.AddMember(e.ctx, id, agent, "", here))
			}
			e.pass(time.Second)
			root := e.post("a", inCircles(id))
			other := e.reply("m", root.ID)
			e.ok(e.DropCircle(e.ctx, id, owner, here))
			e.pass(time.Second)
			e.sameThread(name+", deleted", root, other, kind == social.KindCircle)
			if next.Owner == "" {
				continue
			}
			put := next
			put.ID = id
			if put.Kind == social.KindEvent {
				put.Until = e.clock().Add(time.Hour).Unix()
			}
			e.ok(second(e.PutCircle(e.ctx, put, nil, here)))
			e.pass(time.Second)
			e.sameThread(name, root, other, kind == social.KindCircle)
			e.ok(e.DropCircle(e.ctx, id, put.Owner, here))
			e.sameThread(name+", deleted again", root, other, kind == social.KindCircle)
		}
	}
}

// sameThread checks whether the author of a post to a circle is in its audience, and that nobody
// else is.
func (e *env) sameThread(name string, root, other social.Post, inAudience bool) {
	e.Helper()
	c := e.card("a", root.ID)
	require.True(e, c.Visible, name)
	require.Equal(e, inAudience, c.Replies, "%s: the author reads the replies", name)
	require.Equal(e, inAudience, c.CanReply, name)
	require.Equal(e, inAudience, e.card("a", other.ID).Visible, name)
	want := []string{}
	if inAudience {
		want = []string{other.ID}
	}
	require.Equal(e, want, append([]string{}, e.under("a", root.ID, false)...), name)
	for _, agent := range []string{"s", "o", "m"} {
		require.False(e, e.card(agent, root.ID).Visible, "%s: %s", name, agent)
	}
}
