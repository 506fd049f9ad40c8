package socialtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social"
)

// shuffles applies the same events in many orders, some of them twice, each time to another
// subject, and compares the outcome with that in order of time. Events come in pairs with the same
// time.
func (e *env) shuffles(n int, events []func(subject int, at time.Time), state func(subject int) string) {
	e.Helper()
	seed := uint64(time.Now().UnixNano())
	r := rand.New(rand.NewPCG(seed, 1))
	start := e.now
	e.pass(time.Hour)
	apply := func(subject int, order []int, with []int) string {
		for _, i := range order {
			events[with[i]](subject, start.Add(time.Duration(i/2)*time.Second))
		}
		return state(subject)
	}
	subject := 0
	for range testenv.Schedules(n) {
		// with has the events in order of time, order the order of arrival.
		with := make([]int, 8)
		for i := range with {
			with[i] = r.IntN(len(events))
		}
		order := []int{0, 1, 2, 3, 4, 5, 6, 7}
		want := apply(subject, order, with)
		subject++
		for range 6 {
			order = append(r.Perm(len(with)), r.IntN(8), r.IntN(8))
			got := apply(subject, order, with)
			require.Equal(e, want, got, "seed %d: events %v in the order %v", seed, with, order)
			subject++
		}
	}
}

func postEvents(e *env) {
	id := func(subject int) string { return fmt.Sprintf("post:%d", subject) }
	must0 := func(err error) {
		e.Helper()
		if err != nil {
			require.ErrorIs(e, err, feed.ErrNotFound)
		}
	}
	creation := func(caption string) func(int, time.Time) {
		return func(s int, at time.Time) {
			p := social.Post{
				ID: id(s), Author: "a", CreatedAt: 1000, Caption: caption, Tags: []string{caption}, Audience: public(),
				Images: []social.Image{{URL: "/media/k", Alt: caption}},
			}
			_, _, err := e.CreatePost(e.ctx, p, social.Creation{At: at})
			must0(err)
		}
	}
	change := func(edit social.Edit) func(int, time.Time) {
		return func(s int, at time.Time) {
			_, err := e.EditPost(e.ctx, id(s), "", edit, at)
			must0(err)
		}
	}
	text := func(s string) *string { return &s }
	list := func(s ...string) *[]string { return &s }
	e.shuffles(60, []func(int, time.Time){
		creation("created"),
		// Two creations with the same time count as one that arrived twice.
		func(s int, at time.Time) { creation("created again")(s, at.Add(time.Millisecond)) },
		change(social.Edit{Caption: text("caption 1")}),
		change(social.Edit{Caption: text("caption 2"), Tags: list("both")}),
		change(social.Edit{Tags: list("x", "y")}),
		change(social.Edit{Alts: list("alt 1")}),
		change(social.Edit{Alts: list("alt 2")}),
		func(s int, at time.Time) { must0(e.DeletePost(e.ctx, id(s), "", at)) },
		func(s int, at time.Time) { must0(e.SetCounts(e.ctx, id(s), social.Counts{Likes: 1, Comments: 2}, at)) },
		func(s int, at time.Time) { must0(e.SetCounts(e.ctx, id(s), social.Counts{Likes: 2, Comments: 1}, at)) },
	}, func(s int) string {
		c := e.card("", id(s))
		return fmt.Sprint(c.Visible, c.Likes, c.Comments, stripID(string(c.Content), id(s)))
	})
}

// stripID makes the content of two posts comparable.
func stripID(content, id string) string {
	if len(content) < len(id)+8 {
		return content
	}
	return content[len(`{"id":"`)+len(id):]
}

func followEvents(e *env) {
	name := func(s int) string { return fmt.Sprintf("agent%d", s) }
	e.shuffles(40, []func(int, time.Time){
		func(s int, at time.Time) { must[bool](e)(e.Follow(e.ctx, name(s), "a", at)) },
		func(s int, at time.Time) { must[bool](e)(e.Unfollow(e.ctx, name(s), "a", at)) },
	}, func(s int) string {
		return fmt.Sprint(must[[]string](e)(e.Following(e.ctx, name(s), "", "", 5)))
	})
	all := must[[]string](e)(e.Followers(e.ctx, "a", "", "", 10_000))
	require.Equal(e, int64(len(all)), must[social.Celebrity](e)(e.Celebrity(e.ctx, "a")).Followers)
}

func circleEvents(e *env) {
	id := func(s int) string { return fmt.Sprintf("c%d", s) }
	put := func(name string, members []string) func(int, time.Time) {
		return func(s int, at time.Time) {
			e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: id(s), Owner: "a", Name: name}, members, at)))
		}
	}
	add := func(agent string) func(int, time.Time) {
		return func(s int, at time.Time) { must[bool](e)(e.AddMember(e.ctx, id(s), agent, "", at)) }
	}
	remove := func(agent string) func(int, time.Time) {
		return func(s int, at time.Time) { must[bool](e)(e.RemoveMember(e.ctx, id(s), agent, "", at)) }
	}
	e.shuffles(60, []func(int, time.Time){
		put("", nil), put("", []string{"x", "y"}), put("", []string{}), put("", []string{"y", "z"}),
		add("x"), add("z"), remove("x"), remove("y"),
		func(s int, at time.Time) { e.ok(e.DropCircle(e.ctx, id(s), "", at)) },
	}, func(s int) string {
		c, err := e.Circle(e.ctx, id(s))
		return fmt.Sprint(e.list(e.Members, id(s)), c.Size, err == nil)
	})
}

// clockAhead checks events of a sender with a clock that is ahead, by up to the limit and by more.
func clockAhead(e *env) {
	for i, ahead := range []time.Duration{time.Microsecond, 500 * time.Millisecond, feed.MaxClockSkew, feed.MaxClockSkew + time.Microsecond, time.Hour} {
		takes := ahead <= feed.MaxClockSkew
		at, name := e.now.Add(ahead), fmt.Sprintf("%s ahead", ahead)
		check := func(what string, err error) {
			e.Helper()
			if takes {
				require.NoError(e, err, "%s, %s", what, name)
				return
			}
			require.ErrorIs(e, err, feed.ErrInvalid, "%s, %s", what, name)
			require.ErrorContains(e, err, "ahead", "%s, %s", what, name)
		}
		a, b, c := fmt.Sprint("a", i), fmt.Sprint("b", i), fmt.Sprint("c", i)
		check("follow", second(e.Follow(e.ctx, b, a, at)))
		check("unfollow", second(e.Unfollow(e.ctx, b, a, at)))
		_, _, err := e.FollowAll(e.ctx, []social.Edge{{Agent: c, Author: a}}, at)
		check("follows", err)
		check("circle", second(e.PutCircle(e.ctx, social.Circle{ID: c, Owner: a}, []string{b}, at)))
		check("member", second(e.AddMember(e.ctx, c, "d", "", at)))
		check("no member", second(e.RemoveMember(e.ctx, c, b, "", at)))
		check("card", e.PutAuthor(e.ctx, social.Author{ID: a, Name: "A"}, at))
		p, _, err := e.CreatePost(e.ctx, social.Post{ID: "post:" + a, Author: a, CreatedAt: at.Unix(), Caption: "x", Audience: public()}, social.Creation{At: at})
		check("post", err)
		if takes {
			require.LessOrEqual(e, p.CreatedAt, e.now.Unix(), "created_at is not in the future")
		}
		_, _, err = e.CreatePost(e.ctx, social.Post{ID: "post:of-" + a, Author: a, CreatedAt: at.Unix() + 1, Caption: "x", Audience: public()}, social.Creation{At: e.now})
		if !takes {
			check("post of now with a time that lies ahead", err)
		}
		check("counts", e.SetCounts(e.ctx, "post:"+a, social.Counts{Likes: 3}, at))
		caption := "edited"
		_, err = e.EditPost(e.ctx, "post:"+a, "", social.Edit{Caption: &caption}, at)
		check("edit", err)
		check("deletion", e.DeletePost(e.ctx, "post:"+a, "", at))
		check("no circle", e.DropCircle(e.ctx, c, "", at))
	}
}

// clocksApart checks that local changes take effect after events that are ahead of this server's
// clock, and after changes on a server whose clock is ahead.
func clocksApart(e *env) {
	e.pass(time.Hour)
	ahead := e.now
	must[bool](e)(e.Follow(e.ctx, "f", "a", ahead))
	e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: "c", Owner: "a"}, []string{"x"}, ahead)))
	must[bool](e)(e.AddMember(e.ctx, "c", "y", "", ahead))
	p, _, err := e.CreatePost(e.ctx, social.Post{ID: "post:1", Author: "a", CreatedAt: 9, Caption: "x", Audience: public()}, social.Creation{At: ahead})
	require.NoError(e, err)
	e.ok(e.PutAuthor(e.ctx, social.Author{ID: "a", Name: "Old"}, ahead))
	e.pass(-30 * time.Minute)
	require.True(e, must[bool](e)(e.Unfollow(e.ctx, "f", "a", here)))
	require.Empty(e, e.list(e.Followers, "a"))
	require.True(e, must[bool](e)(e.Follow(e.ctx, "f", "a", here)), "and once more in the same microsecond")
	require.True(e, must[bool](e)(e.Unfollow(e.ctx, "f", "a", here)))
	e.ok(e.PutAuthor(e.ctx, social.Author{ID: "a", Name: "New"}, here))
	require.Equal(e, "New", e.info("", "a").Name)
	e.putCircle("c", "a", "z")
	require.Equal(e, []string{"z"}, e.list(e.Members, "c"))
	caption := "edited"
	require.Equal(e, caption, e.edited(p.ID, "a", social.Edit{Caption: &caption}).Caption)
	e.ok(e.DeletePost(e.ctx, p.ID, "a", here))
	require.False(e, e.card("", p.ID).Visible)
	e.ok(e.DropCircle(e.ctx, "c", "a", here))
	e.putCircle("c", "a")
	require.Empty(e, e.list(e.Members, "c"))
	e.ok(e.EraseAgent(e.ctx, "a"))
	e.eraseAll("a")
	require.True(e, slices.Equal([]string{}, e.list(e.Followers, "a")))
}
