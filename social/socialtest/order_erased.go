package socialtest

import (
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
)

// reference is something that refers to an agent's id, and that an erasure of the agent ends.
type reference struct {
	name string
	// refer makes it for an agent, and returns a check of whether it applies to the id.
	refer func(e *env, agent string) (applies func() bool)
}

// visible returns a check of whether a reader sees a post.
func visible(e *env, reader string, p social.Post) func() bool {
	return func() bool { return e.card(reader, p.ID).Visible }
}

// publish creates a post without letting time pass.
func (e *env) publish(author string, a social.Audience, mentions ...string) social.Post {
	return e.create(social.Post{Author: author, Caption: "by " + author, Audience: a, Mentions: mentions})
}

var referring = []reference{
	{"mention", func(e *env, b string) func() bool { return visible(e, b, e.publish("a", social.Audience{}, b)) }},
	{"grant", func(e *env, b string) func() bool {
		p := e.create(social.Post{Author: "a", Origin: "example.com", Caption: "x", Audience: public(), React: social.RightAudience, Grants: []string{b}})
		return func() bool { return e.card(b, p.ID).CanReact }
	}},
	{"mention of an event", func(e *env, b string) func() bool {
		p, _, err := e.CreatePost(e.ctx, social.Post{ID: "post:of" + b, Author: "a", Caption: "x", Mentions: []string{b}, CreatedAt: e.clock().Unix()}, social.Creation{At: e.clock()})
		e.ok(err)
		return visible(e, b, p.Post)
	}},
	{"follow", func(e *env, b string) func() bool {
		e.follow(b, "a")
		return visible(e, b, e.publish("a", followers()))
	}},
	{"follow of the server", func(e *env, b string) func() bool {
		e.follow(b, social.Server)
		p := e.publish("a", public())
		return func() bool { return e.card(b, p.ID).Reason == social.Domain }
	}},
	{"follower", func(e *env, b string) func() bool {
		e.follow("f", b)
		return func() bool { return e.info("f", b).IsFollowing }
	}},
	{"membership of a circle", func(e *env, b string) func() bool {
		must[bool](e)(e.AddMember(e.ctx, "c", b, "o", here))
		return visible(e, b, e.publish("o", inCircles("c")))
	}},
	{"membership of a replaced circle", func(e *env, b string) func() bool {
		e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: "r" + b, Owner: "o"}, []string{b}, here)))
		return visible(e, b, e.publish("o", inCircles("r"+b)))
	}},
	{"membership of a replaced group", func(e *env, b string) func() bool {
		e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: "s" + b, Owner: "o", CircleTerms: social.CircleTerms{Kind: social.KindGroup}}, []string{b}, here)))
		return visible(e, b, e.publish("o", inCircles("s"+b)))
	}},
	{"membership of a group", func(e *env, b string) func() bool {
		must[bool](e)(e.AddMember(e.ctx, "g", b, "", here))
		return visible(e, b, e.publish("o", inCircles("g")))
	}},
	{"invitation", func(e *env, b string) func() bool {
		must[bool](e)(e.Invite(e.ctx, "i", b, "o"))
		return func() bool { return roleOf(e.CircleFor(e.ctx, "i", b)) == social.RoleInvited }
	}},
	{"circle", func(e *env, b string) func() bool {
		e.putCircle("of"+b, b, "m")
		return func() bool { return roleOf(e.CircleFor(e.ctx, "of"+b, b)) == social.RoleOwner }
	}},
	{"post to an own circle", func(e *env, b string) func() bool {
		e.putCircle("of"+b, b, "m")
		return visible(e, "m", e.publish(b, inCircles("of"+b)))
	}},
	{"invitation to an own group", func(e *env, b string) func() bool {
		e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: "by" + b, Owner: b, CircleTerms: social.CircleTerms{Kind: social.KindGroup}}, nil, here)))
		must[bool](e)(e.Invite(e.ctx, "by"+b, "i", b))
		return func() bool { return roleOf(e.CircleFor(e.ctx, "by"+b, "i")) == social.RoleInvited }
	}},
	{"post", func(e *env, b string) func() bool { return visible(e, "f", e.publish(b, public())) }},
	{"like", func(e *env, b string) func() bool {
		p := e.publish("a", public())
		e.like(b, p.ID)
		return func() bool { return e.card(b, p.ID).HasLiked }
	}},
	{"likes of an author", func(e *env, b string) func() bool {
		e.like("f", e.publish(b, public()).ID)
		return func() bool { return must[map[string]int](e)(e.Affinities(e.ctx, "f", time.Unix(1, 0)))[b] > 0 }
	}},
	{"replies to an author", func(e *env, b string) func() bool {
		e.create(social.Post{Author: "f", Caption: "x", ReplyTo: e.publish(b, public()).ID})
		return func() bool { return must[map[string]int](e)(e.Affinities(e.ctx, "f", time.Unix(1, 0)))[b] > 0 }
	}},
	{"card", func(e *env, b string) func() bool {
		e.cardsOf(b)
		return func() bool { return e.info("", b).Name != "" }
	}},
	{"idempotency key", func(e *env, b string) func() bool {
		p := social.Post{Author: b, Caption: "x", Audience: public()}
		_, _, err := e.CreatePost(e.ctx, p, social.Creation{Key: "k"})
		e.ok(err)
		return func() bool {
			_, created, err := e.CreatePost(e.ctx, p, social.Creation{Key: "k"})
			return err == nil && !created
		}
	}},
}

// erasedApart checks for everything that refers to an agent's id that it ends with the agent, and
// that the same made afterwards counts for the id's next holder, if it is made and erased at servers
// whose clocks differ: before the data is removed, and afterwards.
func erasedApart(e *env) {
	e.cardsOf("a", "f", "o", "m")
	e.putCircle("c", "o")
	for _, id := range []string{"g", "i"} {
		e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: id, Owner: "o", CircleTerms: social.CircleTerms{Kind: social.KindGroup}}, nil, here)))
	}
	for i, d := range apart {
		for j, r := range referring {
			if d > time.Hour && r.name == "mention of an event" {
				continue // an event so far behind the erasure is from before it
			}
			agent := fmt.Sprintf("b%d.%d", i, j)
			name := fmt.Sprintf("%s, by a server %s ahead of the one that erases", r.name, d)
			e.cardsOf(agent)
			var before func() bool
			e.by(d, func() {
				before = r.refer(e, agent)
				require.True(e, before(), name)
			})
			e.ok(e.EraseAgent(e.ctx, agent))
			e.cardsOf(agent)
			ended := func() { e.Helper(); require.False(e, r.name != "card" && before(), name) }
			if r.name != "idempotency key" { // its check uses the key
				ended()
			}
			e.eraseAll(agent)
			ended()

			next := agent + "n"
			e.by(d, func() { e.ok(e.EraseAgent(e.ctx, next)); e.cardsOf(next) })
			if r.name == "mention of an event" {
				e.pass(d.Abs() + time.Minute)
			}
			after := r.refer(e, next)
			require.True(e, after(), "after: %s", name)
			e.eraseAll(next)
			require.True(e, after(), "after: %s", name)
		}
	}
}

// reportedErased checks that mentions and grants of a post which is reported again, and keeps its
// replies, count for whom they did, although the post comes from a server whose clock is ahead of the
// one that erases an agent.
func reportedErased(e *env) {
	e.cardsOf("a", "x", "y")
	e.ok(e.EraseAgent(e.ctx, "y"))
	e.eraseAll("y")
	e.follow("y", "a") // their id's next holder
	e.follow("x", "a")
	mentions := social.Post{ID: "post:mentions", Author: "a", Caption: "x", Mentions: []string{"x", "y"}}
	grants := social.Post{ID: "post:grants", Author: "a", Origin: "example.com", Caption: "x", Audience: followers(), Grants: []string{"x", "y"}, Reply: social.RightAudience}
	check := func(agent string, want bool) {
		e.Helper()
		got := [2]bool{e.card(agent, mentions.ID).Visible, e.card(agent, grants.ID).CanReply}
		require.Equal(e, [2]bool{want, want}, got, "%s: a mention, a grant", agent)
	}
	e.by(10*time.Minute, func() {
		for _, p := range []social.Post{mentions, grants} {
			e.create(p)
			e.reply("y", p.ID)
		}
	})
	check("x", true)
	check("y", true)
	e.ok(e.EraseAgent(e.ctx, "x"))
	e.pass(20 * time.Minute)
	e.follow("x", "a") // their id's next holder
	check("x", false)
	for _, p := range []social.Post{mentions, grants} {
		p.Caption = "reported again"
		e.event(p, 0)
	}
	check("x", false)
	check("y", true)
}
