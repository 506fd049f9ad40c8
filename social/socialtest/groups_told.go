package socialtest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
)

// postByEvent creates a post by an event with the current time, and lets a second pass.
func (e *env) postByEvent(id, author string, a social.Audience) social.Post {
	e.Helper()
	p, created, err := e.CreatePost(e.ctx, social.Post{ID: id, Author: author, Caption: id, Audience: a, CreatedAt: e.now.Unix()}, social.Creation{At: e.now})
	e.ok(err)
	require.True(e, created)
	e.pass(time.Second)
	return p.Post
}

// groupsTaken creates a group with an id that posts of another system already use for a circle that
// the system has not sent.
func groupsTaken(e *env) {
	e.cardsOf("x", "y", "z")
	all := social.CircleTerms{History: social.HistoryAll}
	before := e.postByEvent("post:before", "x", inCircles("friends"))
	e.group("friends", "y", all, "z")
	after := e.postByEvent("post:after", "x", inCircles("friends"))
	for _, p := range []social.Post{before, after} {
		e.sees(false, "friends", "y", p)
		e.sees(false, "friends", "z", p)
	}
	e.sees(true, "friends", "z", e.postByEvent("post:y", "y", inCircles("friends")))

	// The new circle does not include the members of the other one either.
	must[bool](e)(e.AddMember(e.ctx, "work", "x", "", e.now))
	e.group("work", "y", all)
	require.Equal(e, []string{"y"}, e.list(e.Members, "work"))
	must[bool](e)(e.AddMember(e.ctx, "family", "x", "", e.now))
	e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: "family", Owner: "y"}, nil, here)))
	require.Empty(e, e.list(e.Members, "family"))

	// Posts of the owner from before the circle was created here are visible to its members.
	own := e.postByEvent("post:own", "x", inCircles("kin"))
	e.pass(time.Second)
	e.putCircle("kin", "x", "z")
	e.sees(true, "kin", "z", own)

	// Members' posts to a group of another system are visible, also those that arrive before it.
	posted := e.postByEvent("post:z", "z", inCircles("club"))
	e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: "club", Owner: "y", CircleTerms: social.CircleTerms{Kind: social.KindGroup, History: social.HistoryAll}}, []string{"z"}, e.now)))
	e.pass(time.Second)
	for _, p := range []social.Post{posted, e.postByEvent("post:again", "z", inCircles("club"))} {
		e.sees(true, "club", "y", p)
	}
}

// groupsTold applies events about a group out of order.
func groupsTold(e *env) {
	e.cardsOf("o", "m", "b")
	at := func(seconds int) time.Time { return e.now.Add(time.Duration(seconds-100) * time.Second) }
	e.block("b", "o")
	group := social.Circle{ID: "g", Owner: "o", CircleTerms: social.CircleTerms{Kind: social.KindGroup}}
	// Members, one of them across a block, and the removal of the owner arrive first.
	must[bool](e)(e.AddMember(e.ctx, "g", "b", "", at(12)))
	must[bool](e)(e.AddMember(e.ctx, "g", "m", "", at(12)))
	must[bool](e)(e.RemoveMember(e.ctx, "g", "o", "", at(13)))
	e.ok(second(e.PutCircle(e.ctx, group, nil, at(10))))
	require.Equal(e, []string{"m", "o"}, e.list(e.Members, "g"))
	require.Equal(e, 2, must[social.Circle](e)(e.Circle(e.ctx, "g")).Size)
	// A late deletion from before the group was created again.
	e.ok(second(e.PutCircle(e.ctx, group, nil, at(30))))
	e.ok(e.DropCircle(e.ctx, "g", "", at(20)))
	require.Equal(e, []string{"o"}, e.list(e.Members, "g"))
	e.sees(true, "g", "o", e.postByEvent("post:o", "o", inCircles("g")))
}

// groupsLeft checks members who leave and join again, with events in any order: posts from before
// the last joining are removed from the list.
func groupsLeft(e *env) {
	e.cardsOf("o", "m")
	e.group("g", "o", social.CircleTerms{})
	at := e.now
	must[bool](e)(e.AddMember(e.ctx, "g", "m", "", at))
	e.pass(time.Second)
	p := e.post("o", inCircles("g"))
	e.sees(true, "g", "m", p)
	e.pass(10 * time.Second)
	must[bool](e)(e.AddMember(e.ctx, "g", "m", "", e.now))
	e.sees(true, "g", "m", p)
	e.dirty()
	must[bool](e)(e.RemoveMember(e.ctx, "g", "m", "", at.Add(5*time.Second)))
	e.sees(false, "g", "m", p)
	require.Contains(e, e.dirty(), "member g/m")
}
