package socialtest

import (
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
)

// apart are the differences between the clocks of two servers that the checks use, and jumps.
var apart = []time.Duration{-365 * 24 * time.Hour, -time.Minute, -time.Millisecond, time.Millisecond, time.Minute, 365 * 24 * time.Hour}

// by calls do as a server whose clock differs.
func (e *env) by(apart time.Duration, do func()) {
	e.Helper()
	e.pass(apart)
	do()
	e.pass(-apart)
}

// joinedApart checks that a member of a group sees the posts since they joined and no earlier ones,
// if the posts, the joining and the group come from servers whose clocks differ.
func joinedApart(e *env) {
	e.cardsOf("o", "x")
	for i, d := range apart {
		g, before, after := fmt.Sprint("g", i), fmt.Sprint("before", i), fmt.Sprint("after", i)
		join := func(member string) {
			e.invited(g, member)
			require.True(e, must[bool](e)(e.AddMember(e.ctx, g, member, member, here)))
		}
		post := func() social.Post { return e.create(social.Post{Author: "o", Caption: "x", Audience: inCircles(g)}) }
		e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: g, Owner: "o", CircleTerms: social.CircleTerms{Kind: social.KindGroup}}, []string{"x"}, here)))
		first := post()
		e.by(d, func() { join(before) })
		second := post()
		var third social.Post
		e.by(d, func() { third = post() })
		join(after)
		last := post()
		for _, reader := range []string{"o", "x"} {
			for _, p := range []social.Post{first, second, third, last} {
				e.sees(true, g, reader, p)
			}
		}
		for reader, want := range map[string][4]bool{before: {false, true, true, true}, after: {false, false, false, true}} {
			for j, p := range []social.Post{first, second, third, last} {
				e.sees(want[j], g, reader, p)
			}
		}
	}
}

// groupsApart checks a group whose members and posts partly come from another system, the clock of
// which differs from the server's by as much as it may, or is far behind.
func groupsApart(e *env) {
	for i, d := range []time.Duration{-time.Hour, -time.Second, time.Second, 30 * time.Second} {
		e.cardsOf("o")
		g, told, local := fmt.Sprint("g", i), fmt.Sprint("told", i), fmt.Sprint("local", i)
		theirs := func() time.Time { return e.now.Add(d) }
		e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: g, Owner: "o", CircleTerms: social.CircleTerms{Kind: social.KindGroup}}, nil, theirs())))
		e.pass(time.Millisecond)
		first := e.create(social.Post{Author: "o", Caption: "x", Audience: inCircles(g)})
		must[bool](e)(e.AddMember(e.ctx, g, told, "", theirs()))
		e.sees(false, g, told, first)
		e.sees(true, g, told, e.create(social.Post{Author: "o", Caption: "y", Audience: inCircles(g)}))
		e.pass(time.Second)
		reported, _, err := e.CreatePost(e.ctx, social.Post{ID: "post:" + g, Author: "o", Caption: "z", Audience: inCircles(g), CreatedAt: theirs().Unix()}, social.Creation{At: theirs()})
		e.ok(err)
		e.sees(true, g, "o", reported.Post)
		e.invited(g, local)
		require.True(e, must[bool](e)(e.AddMember(e.ctx, g, local, local, here)))
		e.sees(false, g, local, reported.Post)
		e.sees(true, g, local, e.create(social.Post{Author: "o", Caption: "last", Audience: inCircles(g)}))
		e.pass(time.Minute)
	}
}

// reported checks that the times of another system alone decide what its members see of its posts,
// in whatever order they arrive, and that a later change of an old post does not show it.
func reportedInAnyOrder(e *env) {
	e.cardsOf("o", "m")
	at := func(seconds int) time.Time { return e.now.Add(time.Duration(seconds-100) * time.Second) }
	tell := []func(g string){
		func(g string) {
			e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: g, Owner: "o", CircleTerms: social.CircleTerms{Kind: social.KindGroup}}, nil, at(0))))
		},
		func(g string) { must[bool](e)(e.AddMember(e.ctx, g, "m", "", at(20))) },
		func(g string) { e.postOf(g, "early", at(10), at(10)) },
		func(g string) { e.postOf(g, "late", at(30), at(30)) },
		func(g string) { e.postOf(g, "changed", at(10), at(40)) },
	}
	for n, order := range [][]int{{0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {3, 0, 4, 1, 2}, {0, 4, 2, 3, 1}, {1, 3, 0, 2, 4}} {
		g := fmt.Sprint("g", n)
		for _, i := range order {
			tell[i](g)
		}
		for caption, want := range map[string]bool{"early": false, "late": true, "changed": false} {
			e.sees(want, g, "m", e.row("post:"+g+caption))
			e.sees(true, g, "o", e.row("post:"+g+caption))
		}
	}
}

// postOf has an event report a post of o, as of a time.
func (e *env) postOf(circle, caption string, created, at time.Time) {
	e.Helper()
	_, _, err := e.CreatePost(e.ctx, social.Post{
		ID: "post:" + circle + caption, Author: "o", Caption: caption, Audience: inCircles(circle), CreatedAt: created.Unix(),
	}, social.Creation{At: at})
	e.ok(err)
}

// postOfSecondLife checks that a post reaches only the circle that its author may post to, not a
// later one with the same id.
func secondLife(e *env) {
	for i, d := range apart {
		g := fmt.Sprint("g", i)
		terms := social.CircleTerms{Kind: social.KindGroup, History: social.HistoryAll}
		put := func(owner, member string) {
			e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: g, Owner: owner, CircleTerms: terms}, []string{member}, here)))
		}
		e.cardsOf("o", "p")
		var old social.Post
		e.by(d, func() {
			put("o", "m")
			old = e.create(social.Post{Author: "m", Caption: "x", Audience: inCircles(g)})
			e.invited(g, "i")
		})
		e.ok(e.DropCircle(e.ctx, g, "o", here))
		put("p", "m")
		e.sees(false, g, "p", old)
		require.Equal(e, social.NoRole, roleOf(e.CircleFor(e.ctx, g, "i")), "an invitation to the earlier group")
		e.sees(true, g, "p", e.create(social.Post{Author: "m", Caption: "y", Audience: inCircles(g)}))
	}
}

// reportedThenTaken checks that a post which an event reported, from a clock that is ahead, does not
// appear in a group that somebody creates here afterwards.
func reportedThenTaken(e *env) {
	e.cardsOf("o", "p")
	ahead := e.now.Add(20 * time.Second)
	e.postOf("g", "x", ahead, ahead)
	terms := social.CircleTerms{Kind: social.KindGroup, History: social.HistoryAll}
	e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: "g", Owner: "p", CircleTerms: terms}, nil, here)))
	e.sees(false, "g", "p", e.row("post:gx"))
	// The same after the group that it belonged to was deleted here.
	e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: "h", Owner: "o", CircleTerms: terms}, nil, e.now.Add(-time.Second))))
	e.postOf("h", "x", ahead, ahead)
	e.ok(e.DropCircle(e.ctx, "h", "", here))
	e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: "h", Owner: "p", CircleTerms: terms}, nil, here)))
	e.sees(false, "h", "p", e.row("post:hx"))
}
