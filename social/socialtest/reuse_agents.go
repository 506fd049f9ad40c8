package socialtest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// erasedThen erases an agent, and calls check after that, after their data was removed, and after
// the tombstones were purged.
func (e *env) erasedThen(agent string, check func()) {
	e.Helper()
	e.pass(time.Second)
	e.ok(e.EraseAgent(e.ctx, agent))
	check()
	e.eraseAll(agent)
	check()
	e.pass(social.TombstoneLives + time.Hour)
	e.swept()
	check()
}

func mentionsOfErased(e *env) {
	direct := e.post("a", social.Audience{}, "b", "c")
	open := e.post("a", public(), "b")
	require.Equal(e, social.Mention, e.card("b", direct.ID).Reason)
	e.erasedThen("b", func() {
		e.Helper()
		require.False(e, e.card("b", direct.ID).Visible)
		require.Equal(e, social.NoReason, e.card("b", open.ID).Reason)
		require.False(e, must[[]social.ListStatus](e)(e.ListStatuses(e.ctx, "b", []string{open.ID}))[0].Listed)
		require.ErrorIs(e, third(e.Like(e.ctx, "b", direct.ID)), feed.ErrNotFound)
		require.True(e, e.card("c", direct.ID).Visible, "other mentions stay")
	})
	require.Equal(e, []string{"c"}, e.row(direct.ID).Mentions, "the erased agent is no longer a mention for anyone")
	require.NotContains(e, string(e.card("c", direct.ID).Content), `"b"`)
	require.True(e, e.card("b", e.post("a", social.Audience{}, "b").ID).Visible, "a new post addressed to the id's next agent")
}

func grantsToErased(e *env) {
	p := e.create(social.Post{Author: "a", Origin: "example.com", Caption: "x", Audience: public(), React: social.RightAudience, Grants: []string{"b", "c"}})
	require.True(e, e.card("b", p.ID).CanReact)
	e.erasedThen("b", func() {
		e.Helper()
		require.False(e, e.card("b", p.ID).CanReact)
		require.ErrorIs(e, third(e.Like(e.ctx, "b", p.ID)), feed.ErrForbidden)
		require.True(e, e.card("c", p.ID).CanReact)
	})
}

func followsOfErased(e *env) {
	e.cardsOf("a", "b")
	e.follow("b", "a")
	e.follow("b", social.Server)
	e.follow("f", "b")
	ofA, open := e.post("a", followers()), e.post("c", public())
	e.pass(time.Second)
	e.ok(e.EraseAgent(e.ctx, "b"))
	e.pass(time.Second)
	e.cardsOf("b")
	for range 2 {
		require.False(e, e.card("b", ofA.ID).Visible)
		require.Equal(e, social.NoReason, e.card("b", open.ID).Reason)
		require.False(e, e.info("b", "a").IsFollowing)
		require.False(e, e.card("f", e.post("b", followers()).ID).Visible, "followers of the id's previous agent do not follow the next")
		require.Zero(e, e.info("f", "b").Posts)
		for _, list := range [][]string{e.list(e.Following, "b"), e.list(e.Followers, "b"), e.list(e.Following, "f"), e.list(e.Followers, "a")} {
			require.Empty(e, list)
		}
		e.eraseAll("b")
	}
	// A new agent with the id, before all data was removed.
	e.follow("b", "a")
	e.follow("f", "b")
	e.ok(e.EraseAgent(e.ctx, "b"))
	require.True(e, must[bool](e)(e.Follow(e.ctx, "b", "a", here)), "the follow is new")
	require.True(e, must[bool](e)(e.Follow(e.ctx, "f", "b", here)))
	e.eraseAll("b")
	require.Equal(e, []string{"a"}, e.list(e.Following, "b"))
	require.Equal(e, []string{"f"}, e.list(e.Followers, "b"))
	info := e.info("f", "b")
	require.Equal(e, [2]int64{1, 1}, [2]int64{info.Followers, info.Following})
	require.Equal(e, int64(1), e.info("", "a").Followers)
}

func membersOfReused(e *env) {
	at := e.now
	e.pass(time.Minute)
	e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: "c1", Owner: "o"}, []string{"x"}, at)))
	must[bool](e)(e.AddMember(e.ctx, "c1", "m", "o", here)) // later than the times of the events
	e.ok(e.DropCircle(e.ctx, "c1", "", at.Add(10*time.Second)))
	e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: "c1", Owner: "o"}, []string{"y"}, at.Add(20*time.Second))))
	require.Equal(e, []string{"y"}, e.list(e.Members, "c1"))
	require.Equal(e, 1, must[social.Circle](e)(e.Circle(e.ctx, "c1")).Size)
	e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: "c1", Owner: "o"}, []string{"m"}, at.Add(30*time.Second))))
	require.Equal(e, []string{"m"}, e.list(e.Members, "c1"), "only members who are named again")
}

func postsToReused(e *env) {
	at := e.now
	for name, drop := range map[string]func(id string){
		"here": func(id string) { e.ok(e.DropCircle(e.ctx, id, "o", here)) },
		// A late event: the circle had been dropped before the post was created.
		"told": func(id string) { e.ok(e.DropCircle(e.ctx, id, "", at.Add(10*time.Second))) },
	} {
		e.pass(time.Minute)
		e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: name, Owner: "o"}, []string{"m"}, at)))
		p := e.post("o", inCircles(name))
		require.True(e, e.card("m", p.ID).Visible)
		drop(name)
		require.False(e, e.card("m", p.ID).Visible)
		again := here
		if name == "told" {
			again = at.Add(20 * time.Second)
		}
		e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: name, Owner: "o"}, []string{"m", "x"}, again)))
		e.pass(time.Second)
		next := e.post("o", inCircles(name))
		for _, reader := range []string{"m", "x"} {
			require.False(e, e.card(reader, p.ID).Visible, "%s: it was addressed to others", name)
			require.False(e, must[[]social.ListStatus](e)(e.ListStatuses(e.ctx, reader, []string{p.ID}))[0].Listed)
			require.Equal(e, []string{next.ID}, entryIDs(must[[]social.Entry](e)(e.MemberEntries(e.ctx, name, reader, social.Position{}, 5))))
			require.True(e, e.card(reader, next.ID).Visible)
		}
		require.True(e, e.card("o", p.ID).Visible, "its author still sees it")
		require.Len(e, e.receivers(p.ID, "", 5), 1)
	}
	require.Equal(e, int64(2), e.info("x", "o").Posts)
}

// postsToPurged creates the circle again after all data of the first was purged.
func postsToPurged(e *env) {
	e.putCircle("c1", "o", "m")
	var posts []social.Post
	for range 3 {
		posts = append(posts, e.post("o", inCircles("c1")))
	}
	e.ok(e.DropCircle(e.ctx, "c1", "o", here))
	e.pass(social.TombstoneLives + time.Hour)
	e.swept()
	e.putCircle("c1", "o", "m", "x")
	for _, p := range posts {
		require.False(e, e.card("m", p.ID).Visible)
		require.False(e, e.card("x", p.ID).Visible)
	}
}

func membershipsOfErased(e *env) {
	e.cardsOf("o")
	e.putCircle("c1", "o", "b", "c")
	p := e.post("o", inCircles("c1"))
	e.pass(time.Second)
	e.ok(e.EraseAgent(e.ctx, "b"))
	for range 2 {
		require.False(e, e.card("b", p.ID).Visible)
		require.Zero(e, e.info("b", "o").Posts)
		require.Equal(e, []string{"c"}, e.list(e.Members, "c1"))
		e.eraseAll("b")
	}
	require.True(e, must[bool](e)(e.AddMember(e.ctx, "c1", "b", "o", here)))
	e.ok(e.EraseAgent(e.ctx, "b"))
	require.True(e, must[bool](e)(e.AddMember(e.ctx, "c1", "b", "o", here)), "the id's next agent, before the cleanup has finished")
	e.eraseAll("b")
	require.Equal(e, []string{"b", "c"}, e.list(e.Members, "c1"))
	require.Equal(e, 2, must[social.Circle](e)(e.Circle(e.ctx, "c1")).Size)
}

func circlesOfErased(e *env) {
	e.putCircle("c1", "b", "m")
	e.putCircle("c2", "b", "m")
	p := e.post("b", inCircles("c1"))
	e.pass(time.Second)
	e.ok(e.EraseAgent(e.ctx, "b"))
	e.pass(time.Second)
	require.Empty(e, must[[]social.Circle](e)(e.CirclesOf(e.ctx, "b", social.RoleOwner, "", 5)))
	require.ErrorIs(e, second(e.Circle(e.ctx, "c1")), feed.ErrNotFound)
	require.Empty(e, e.list(e.Members, "c1"))
	require.ErrorIs(e, second(e.AddMember(e.ctx, "c2", "x", "b", here)), feed.ErrNotFound)
	_, _, err := e.CreatePost(e.ctx, social.Post{Author: "b", Caption: "x", Audience: inCircles("c2")}, social.Creation{})
	require.ErrorIs(e, err, feed.ErrRule, "posts cannot be addressed to erased circles")
	e.putCircle("c1", "b", "x")
	next := e.post("b", inCircles("c1"))
	for range 2 {
		require.Equal(e, []string{"x"}, e.list(e.Members, "c1"))
		require.Equal(e, 1, must[social.Circle](e)(e.Circle(e.ctx, "c1")).Size)
		require.True(e, e.card("x", next.ID).Visible)
		require.False(e, e.card("m", next.ID).Visible)
		require.False(e, e.card("x", p.ID).Visible)
		e.eraseAll("b")
	}
	e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: "c3", Owner: "b"}, []string{"m"}, e.now.Add(-time.Hour))))
	require.ErrorIs(e, second(e.Circle(e.ctx, "c3")), feed.ErrNotFound, "an event from before the erasure")
}

// blocksOfErased checks that blocks by others stay: they protect those who made them.
func blocksOfErased(e *env) {
	p := e.post("a", public())
	e.block("b", "a")
	e.block("x", "b")
	e.pass(time.Second)
	e.erasedThen("b", func() {
		e.Helper()
		require.Empty(e, e.list(e.blockedBy, "b"))
		require.True(e, e.card("b", p.ID).Visible)
		require.Equal(e, []string{"b"}, e.list(e.blockedBy, "x"))
		require.ErrorIs(e, second(e.Follow(e.ctx, "b", "x", here)), feed.ErrForbidden)
	})
}

func membersBlocked(e *env) {
	e.putCircle("c1", "o", "y", "z")
	e.putCircle("c2", "y", "o", "z")
	e.putCircle("c3", "z", "o", "y")
	ofO, ofY, ofZ := e.post("o", inCircles("c1")), e.post("y", inCircles("c2")), e.post("z", inCircles("c3"))
	e.block("o", "y")
	must[bool](e)(e.Unblock(e.ctx, "o", "y"))
	require.False(e, e.card("y", ofO.ID).Visible)
	require.False(e, e.card("o", ofY.ID).Visible)
	require.Equal(e, []string{"z"}, e.list(e.Members, "c1"))
	require.Equal(e, []string{"z"}, e.list(e.Members, "c2"))
	require.Equal(e, 1, must[social.Circle](e)(e.Circle(e.ctx, "c1")).Size)
	require.True(e, e.card("y", ofZ.ID).Visible, "circles of other owners are unchanged")
	require.True(e, must[bool](e)(e.AddMember(e.ctx, "c1", "y", "o", here)), "they were removed and can be added again")
}

// invitationsOfReused checks that invitations end with the group, its owner and the invited agent.
func invitationsOfReused(e *env) {
	again := func(by string) {
		e.Helper()
		for range 2 {
			require.ErrorIs(e, second(e.AddMember(e.ctx, "g", "i", "i", here)), feed.ErrNotFound)
			require.Empty(e, must[[]social.Circle](e)(e.CirclesOf(e.ctx, "i", social.RoleInvited, "", 5)))
			e.eraseAll(by)
		}
	}
	e.group("g", "o", social.CircleTerms{})
	e.invited("g", "i")
	e.ok(e.DropCircle(e.ctx, "g", "o", here))
	e.group("g", "o", social.CircleTerms{})
	again("nobody")
	e.invited("g", "i")
	e.pass(time.Second)
	e.ok(e.EraseAgent(e.ctx, "i"))
	again("i")
	e.invited("g", "i")
	e.pass(time.Second)
	e.ok(e.EraseAgent(e.ctx, "o")) // there is no other member, so the group ends
	e.pass(time.Second)
	again("o")
	e.group("g", "o", social.CircleTerms{})
	again("o")
	e.invited("g", "i")
	e.join("g", "i")
}

// groupsOfReused checks that a new group with the same id does not show the posts of any member to
// the previous one.
func groupsOfReused(e *env) {
	e.cardsOf("o", "m", "n")
	for name, end := range map[string]func(){
		"dropped": func() { e.ok(e.DropCircle(e.ctx, "g", "o", here)) },
		"erased": func() {
			e.leave("g", "m") // nobody is left to own it
			e.ok(e.EraseAgent(e.ctx, "o"))
		},
		"purged": func() {
			e.ok(e.DropCircle(e.ctx, "g", "o", here))
			e.pass(social.TombstoneLives + time.Hour)
			e.swept()
		},
	} {
		e.group("g", "o", social.CircleTerms{History: social.HistoryAll}, "m")
		p := e.post("m", inCircles("g"))
		require.True(e, e.card("o", p.ID).Visible)
		end()
		e.pass(time.Second)
		require.False(e, e.card("o", p.ID).Visible, name)
		e.group("g", "n", social.CircleTerms{History: social.HistoryAll}, "m")
		for range 2 {
			e.sees(false, "g", "n", p)
			e.sees(false, "g", "o", p)
			require.True(e, e.card("m", p.ID).Visible, "their own post stays visible to them")
			e.eraseAll("o")
		}
		e.ok(e.DropCircle(e.ctx, "g", "n", here))
		e.cardsOf("o")
	}
	// An erased member's posts and membership end.
	e.group("g", "o", social.CircleTerms{}, "m")
	p := e.post("m", inCircles("g"))
	e.ok(e.EraseAgent(e.ctx, "m"))
	for range 2 {
		require.False(e, e.card("o", p.ID).Visible)
		_, _, err := e.CreatePost(e.ctx, social.Post{Author: "m", Caption: "x", Audience: inCircles("g")}, social.Creation{})
		require.ErrorIs(e, err, feed.ErrRule)
		require.Equal(e, social.NoRole, roleOf(e.CircleFor(e.ctx, "g", "m")))
		e.eraseAll("m")
	}
}

func roleOf(_ social.Circle, role social.Role, _ error) social.Role { return role }

// erasureStays checks events from before an erasure that arrive after the tombstones were purged.
func erasureStays(e *env) {
	before := e.now
	e.pass(time.Hour)
	e.ok(e.EraseAgent(e.ctx, "b"))
	e.eraseAll("b")
	e.pass(social.TombstoneLives + time.Hour)
	e.swept()
	_, _, err := e.CreatePost(e.ctx, social.Post{ID: reused, Author: "a", CreatedAt: 9, Caption: "x", Mentions: []string{"b"}}, social.Creation{At: before})
	require.NoError(e, err)
	require.False(e, e.card("b", reused).Visible)
	must[bool](e)(e.Follow(e.ctx, "b", "a", before))
	require.Empty(e, e.list(e.Following, "b"))
}
