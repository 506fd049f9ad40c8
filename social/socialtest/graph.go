package socialtest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

func follows(e *env) {
	m := newModel()
	changed := must[bool](e)(e.Follow(e.ctx, "a", "b", here))
	require.True(e, changed)
	require.False(e, must[bool](e)(e.Follow(e.ctx, "a", "b", here)))
	require.False(e, must[bool](e)(e.Unfollow(e.ctx, "b", "a", here)), "there is no follow to remove")
	for _, author := range []string{"c", "d", "e"} {
		e.follow("a", author)
	}
	e.follow("c", "b")
	require.True(e, must[bool](e)(e.Unfollow(e.ctx, "a", "c", here)))
	require.False(e, must[bool](e)(e.Unfollow(e.ctx, "a", "c", here)))
	for _, pair := range [][2]string{{"a", "b"}, {"a", "d"}, {"a", "e"}, {"c", "b"}} {
		m.follows[pair] = true
	}
	e.check(m, []string{"a", "b", "c", "d", "e"})
	for _, bad := range [][2]string{{"a", "a"}, {social.Server, "a"}, {"a b", "c"}, {"a", ""}} {
		_, err := e.Follow(e.ctx, bad[0], bad[1], here)
		require.Error(e, err, bad)
		if bad[0] != bad[1] {
			require.ErrorIs(e, err, feed.ErrBadID, bad)
			continue
		}
		require.ErrorIs(e, err, feed.ErrInvalid, bad)
	}
	_, err := e.Follow(e.ctx, "a", "z", e.now.Add(time.Hour))
	require.ErrorIs(e, err, feed.ErrInvalid, "the time is in the future")
}

func followServer(e *env) {
	e.follow("a", social.Server)
	p := e.post("b", public())
	e.post("b", followers())
	require.Equal(e, social.Domain, e.card("a", p.ID).Reason)
	require.Equal(e, []string{p.ID}, entryIDs(must[[]social.Entry](e)(e.Pull(e.ctx, social.PullQuery{Reader: "a", N: 5, Whole: true}))))
	require.Equal(e, []string{social.Server}, must[[]string](e)(e.Following(e.ctx, "a", "", "", 5)))
	_, err := e.Author(e.ctx, "a", social.Server)
	require.ErrorIs(e, err, feed.ErrNotFound, "it is not an agent")
	e.unfollow("a", social.Server)
	require.Equal(e, social.NoReason, e.card("a", p.ID).Reason)
}

// followLimit reaches the limit of follows, with the last of them made over many concurrent
// connections.
func followLimit(e *env) {
	const workers, each = 16, 30
	edges := make([]social.Edge, social.MaxFollowees-workers*each/2)
	for i := range edges {
		edges[i] = social.Edge{Agent: "a", Author: fmt.Sprintf("author%04d", i)}
	}
	changed, rejected, err := e.FollowAll(e.ctx, edges, here)
	require.NoError(e, err)
	require.Empty(e, rejected)
	require.Equal(e, len(edges), changed)
	var refused atomic.Int64
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for i := range each {
				_, err := e.Follow(e.ctx, "a", fmt.Sprintf("more%04d", w*each+i), here)
				if errors.Is(err, feed.ErrLimit) {
					refused.Add(1)
					continue
				}
				if !assert.NoError(e, err) {
					return
				}
			}
		})
	}
	group.Wait()
	require.Equal(e, int64(workers*each/2), refused.Load())
	require.Len(e, must[[]string](e)(e.Following(e.ctx, "a", "", "", 10_000)), social.MaxFollowees)
	_, err = e.Follow(e.ctx, "a", "one-more", here)
	require.ErrorIs(e, err, feed.ErrLimit)
	require.False(e, must[bool](e)(e.Follow(e.ctx, "a", "author0000", here)), "a follow that exists does not count against the limit")
	e.unfollow("a", "author0000")
	e.follow("a", "one-more")
	last := e.post("author7000", followers())
	first := e.post("author0001", followers())
	got := must[[]social.Entry](e)(e.Pull(e.ctx, social.PullQuery{Reader: "a", N: 501}))
	require.Equal(e, []string{first.ID, last.ID}, entryIDs(got))
}

func followAll(e *env) {
	e.follow("r1", "a")
	e.follow("kept", "b")
	e.block("a", "blocked")
	e.pass(time.Minute)
	e.dirty()
	edges := []social.Edge{
		{Agent: "r1", Author: "a"},
		{Agent: "r1", Author: "b"},
		{Agent: "r1", Author: "b"},
		{Agent: "r1", Author: "r1"},
		{Agent: "r2", Author: "a"},
		{Agent: "blocked", Author: "a"},
		{Agent: "r2", Author: "no name"},
		{Agent: "b", Author: "r1"},
		{Agent: "r2", Author: social.Server},
		{Agent: social.Server, Author: "r2"},
		{Agent: "r3", Author: "a"},
		{Agent: "r4", Author: "a"},
	}
	changed, rejected, err := e.FollowAll(e.ctx, edges, here)
	require.NoError(e, err)
	require.Equal(e, 6, changed)
	want := map[int]error{3: feed.ErrInvalid, 5: feed.ErrForbidden, 6: feed.ErrBadID, 9: feed.ErrBadID}
	require.Len(e, rejected, len(want))
	for i, r := range rejected {
		require.ErrorIs(e, r.Err, want[r.Index], "%+v", edges[r.Index])
		require.True(e, i == 0 || rejected[i-1].Index < r.Index)
	}
	m := newModel()
	for _, pair := range [][2]string{{"r1", "a"}, {"kept", "b"}, {"r1", "b"}, {"r2", "a"}, {"b", "r1"}, {"r3", "a"}, {"r4", "a"}, {"r2", social.Server}} {
		m.follows[pair] = true
	}
	m.blocks[[2]string{"a", "blocked"}] = true
	agents := []string{"a", "b", "r1", "r2", "r3", "r4", "blocked", "kept"}
	e.check(m, agents)
	require.ElementsMatch(e, []string{"pair */r1", "pair */r2", "pair */b", "pair */r3", "pair */r4", "author a"}, e.dirty(),
		"one for each agent; the fourth follower makes a celebrity")

	// The same again changes nothing, nor do follows older than an unfollow.
	changed, _, err = e.FollowAll(e.ctx, edges, here)
	require.NoError(e, err)
	require.Zero(e, changed)
	at := e.now
	e.pass(time.Minute)
	e.unfollow("r1", "b")
	changed, _, err = e.FollowAll(e.ctx, edges, at)
	require.NoError(e, err)
	require.Zero(e, changed)
	delete(m.follows, [2]string{"r1", "b"})
	e.check(m, agents)

	_, _, err = e.FollowAll(e.ctx, edges, e.now.Add(time.Hour))
	require.ErrorIs(e, err, feed.ErrInvalid, "the time is in the future")
	_, _, err = e.FollowAll(e.ctx, make([]social.Edge, social.MaxEdges+1), here)
	require.ErrorIs(e, err, feed.ErrInvalid, "too many")
	changed, rejected, err = e.FollowAll(e.ctx, nil, here)
	require.NoError(e, err)
	require.Zero(e, changed)
	require.Empty(e, rejected)
}

// followAllRace concurrently imports one network in several orders, while single follows are added
// and removed.
func followAllRace(e *env) {
	const agents, parts = 40, 8
	var all []social.Edge
	for i := range agents {
		for _, step := range []int{1, 2, 5, 11} {
			all = append(all, social.Edge{Agent: fmt.Sprintf("agent%d", i), Author: fmt.Sprintf("agent%d", (i+step)%agents)})
		}
	}
	var changed atomic.Int64
	var group sync.WaitGroup
	for p := range parts {
		group.Go(func() {
			r := rand.New(rand.NewPCG(uint64(p), 7))
			mine := slices.Clone(all)
			r.Shuffle(len(mine), func(i, j int) { mine[i], mine[j] = mine[j], mine[i] })
			for part := range slices.Chunk(mine, 30) {
				n, rejected, err := e.FollowAll(e.ctx, part, here)
				if !assert.NoError(e, err) || !assert.Empty(e, rejected) {
					return
				}
				changed.Add(int64(n))
				agent, author := fmt.Sprintf("single%d", r.IntN(3)), fmt.Sprintf("agent%d", r.IntN(agents))
				_, err = e.Follow(e.ctx, agent, author, here)
				_, endErr := e.Unfollow(e.ctx, agent, author, here)
				if !assert.NoError(e, errors.Join(err, endErr)) {
					return
				}
			}
		})
	}
	group.Wait()
	require.Equal(e, int64(len(all)), changed.Load(), "each follow is reported as new once")
	for i := range agents {
		agent := fmt.Sprintf("agent%d", i)
		require.Len(e, must[[]string](e)(e.Followers(e.ctx, agent, "", "", 100)), 4)
		require.Equal(e, int64(4), e.info("", agent).Followers)
		require.Equal(e, int64(4), e.info("", agent).Following)
	}
}

func blocks(e *env) {
	m := newModel()
	for _, pair := range [][2]string{{"a", "b"}, {"b", "a"}, {"c", "a"}, {"a", "d"}} {
		e.follow(pair[0], pair[1])
		m.follows[pair] = true
	}
	post := e.post("b", public(), "a")
	m.posts[post.ID] = &post
	require.True(e, must[bool](e)(e.Block(e.ctx, "a", "b")))
	require.False(e, must[bool](e)(e.Block(e.ctx, "a", "b")))
	must[bool](e)(e.Block(e.ctx, "d", "a"))
	for _, pair := range [][2]string{{"a", "b"}, {"b", "a"}, {"a", "d"}} {
		delete(m.follows, pair)
		_, err := e.Follow(e.ctx, pair[0], pair[1], here)
		require.ErrorIs(e, err, feed.ErrForbidden, pair)
	}
	m.blocks[[2]string{"a", "b"}], m.blocks[[2]string{"d", "a"}] = true, true
	e.check(m, []string{"a", "b", "c", "d"})
	_, _, err := e.Like(e.ctx, "a", post.ID)
	require.ErrorIs(e, err, feed.ErrNotFound)
	require.Equal(e, social.AuthorInfo{Author: social.Author{ID: "b"}, IsBlocked: true}, e.info("a", "b"), "no other fields are returned")
	_, err = e.Author(e.ctx, "b", "a")
	require.ErrorIs(e, err, feed.ErrNotFound, "a blocked agent does not learn of the block")
	require.Equal(e, []string{"b"}, e.list(e.blockedBy, "a"))
	require.Equal(e, []string{"a"}, e.list(e.blockedBy, "d"))
	require.Empty(e, e.list(e.blockedBy, "b"), "the blocked agent has no block")

	must[bool](e)(e.Block(e.ctx, "b", "a"))
	require.True(e, e.info("b", "a").IsBlocked, "each agent has a separate block")
	require.Equal(e, []string{"b", "x", "y"}, func() []string {
		must[bool](e)(e.Block(e.ctx, "a", "y"))
		must[bool](e)(e.Block(e.ctx, "a", "x"))
		return e.list(e.blockedBy, "a")
	}())
	require.Equal(e, []string{"x"}, must[[]string](e)(e.Blocked(e.ctx, "a", "b", 1)))
	require.True(e, e.info("a", "x").IsBlocked, "unknown agents can be blocked")
	require.True(e, must[bool](e)(e.Unblock(e.ctx, "a", "b")))
	require.False(e, must[bool](e)(e.Unblock(e.ctx, "a", "b")))
	_, err = e.Follow(e.ctx, "a", "b", here)
	require.ErrorIs(e, err, feed.ErrForbidden, "the other agent's block stays")
	must[bool](e)(e.Unblock(e.ctx, "b", "a"))
	delete(m.blocks, [2]string{"a", "b"})
	e.check(m, []string{"a", "b", "c", "d"}) // the follows are not restored
	_, err = e.Follow(e.ctx, "a", "b", e.now.Add(-time.Hour))
	require.NoError(e, err)
	e.check(m, []string{"a", "b", "c", "d"}) // nor by an earlier event
	e.follow("a", "b")
	m.follows[[2]string{"a", "b"}] = true
	e.check(m, []string{"a", "b", "c", "d"})
	_, err = e.Block(e.ctx, "a", "a")
	require.ErrorIs(e, err, feed.ErrInvalid)
}

// plain holds the terms of a circle.
var plain = social.CircleTerms{Kind: social.KindCircle}

func circles(e *env) {
	_, err := e.Circle(e.ctx, "c1")
	require.ErrorIs(e, err, feed.ErrNotFound)
	members := func() []string { return e.list(e.Members, "c1") }
	e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: "c1", Owner: "a", Name: "Friends"}, []string{"b", "c", "b"}, here)))
	require.Equal(e, social.Circle{ID: "c1", Owner: "a", Name: "Friends", Size: 2, CircleTerms: plain}, must[social.Circle](e)(e.Circle(e.ctx, "c1")))
	e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: "c1", Owner: "a", Name: "Close friends"}, nil, here)))
	require.Equal(e, []string{"b", "c"}, members(), "nil leaves the members unchanged")
	require.ErrorIs(e, second(e.PutCircle(e.ctx, social.Circle{ID: "c1", Owner: "b"}, nil, here)), feed.ErrForbidden)
	require.True(e, must[bool](e)(e.AddMember(e.ctx, "c1", "d", "a", here)))
	require.False(e, must[bool](e)(e.AddMember(e.ctx, "c1", "d", "", here)))
	require.True(e, must[bool](e)(e.RemoveMember(e.ctx, "c1", "b", "a", here)))
	require.False(e, must[bool](e)(e.RemoveMember(e.ctx, "c1", "b", "a", here)))
	require.Equal(e, []string{"c", "d"}, members())
	for _, err := range []error{
		second(e.AddMember(e.ctx, "c1", "x", "b", here)), second(e.AddMember(e.ctx, "c1", "x", "x", here)),
		second(e.RemoveMember(e.ctx, "c1", "c", "d", here)), e.DropCircle(e.ctx, "c1", "c", here),
	} {
		require.ErrorIs(e, err, feed.ErrNotFound, "others, including members, do not learn that the circle exists")
	}
	require.ErrorIs(e, second(e.AddMember(e.ctx, "none", "x", "a", here)), feed.ErrNotFound)
	require.ErrorIs(e, second(e.AddMember(e.ctx, "c1", social.Server, "a", here)), feed.ErrBadID)
	require.True(e, must[bool](e)(e.RemoveMember(e.ctx, "c1", "c", "c", here)), "members may leave")
	require.Equal(e, []string{"d"}, members())
	for _, circle := range []string{"c1", "none"} {
		require.False(e, must[bool](e)(e.RemoveMember(e.ctx, circle, "c", "c", here)), "a non-member learns nothing about %s", circle)
	}
	e.putCircle("c1", "a", "d", "f")
	require.Equal(e, []string{"d", "f"}, members())
	require.Equal(e, 2, must[social.Circle](e)(e.Circle(e.ctx, "c1")).Size)

	p := e.post("a", inCircles("c1"))
	require.Equal(e, social.Member, e.card("f", p.ID).Reason)
	e.ok(e.DropCircle(e.ctx, "c1", "a", here))
	require.ErrorIs(e, e.DropCircle(e.ctx, "c1", "a", here), feed.ErrNotFound)
	require.False(e, e.card("f", p.ID).Visible)
	require.Empty(e, members())
	// Members of several circles are listed once, and do not shorten a page.
	e.putCircle("c2", "a", "k", "l", "m")
	e.putCircle("c3", "a", "k", "l", "m")
	both := e.post("a", inCircles("c2", "c3"))
	got := e.receivers(both.ID, "a", 2)
	require.Equal(e, []social.Receiver{{Agent: "k", Reason: social.Member}, {Agent: "l", Reason: social.Member}}, got)
	require.Equal(e, []string{both.ID}, entryIDs(must[[]social.Entry](e)(e.Pull(e.ctx, social.PullQuery{Reader: "k", N: 5}))))
	// The next circle with the same id has no access to the posts of this one.
	e.putCircle("c10", "a")
	e.putCircle("d1", "d", "a")
	list := []social.Circle{{ID: "c10", Owner: "a", CircleTerms: plain}, {ID: "c2", Owner: "a", Size: 3, CircleTerms: plain, NewestPostAt: both.CreatedAt}, {ID: "c3", Owner: "a", Size: 3, CircleTerms: plain, NewestPostAt: both.CreatedAt}}
	require.Equal(e, list, must[[]social.Circle](e)(e.CirclesOf(e.ctx, "a", social.RoleOwner, "", 10)), "neither dropped circles nor those of other owners")
	require.Equal(e, list[1:2], must[[]social.Circle](e)(e.CirclesOf(e.ctx, "a", social.RoleOwner, "c10", 1)))
	require.Empty(e, must[[]social.Circle](e)(e.CirclesOf(e.ctx, "k", social.RoleOwner, "", 10)))
	e.putCircle("c1", "z", "f")
	require.False(e, e.card("f", p.ID).Visible, "the id now belongs to another owner's circle")
	require.Empty(e, must[[]social.Entry](e)(e.Pull(e.ctx, social.PullQuery{Reader: "f", N: 5})))
	require.Equal(e, []social.Receiver{{Agent: "a", Reason: social.Self}}, e.receivers(p.ID, "", 5))
}

func circleLimit(e *env) {
	all := make([]string, social.MaxCircleMembers)
	for i := range all {
		all[i] = fmt.Sprintf("m%05d", i)
	}
	e.putCircle("c1", "a", all...)
	require.ErrorIs(e, second(e.AddMember(e.ctx, "c1", "more", "a", here)), feed.ErrLimit)
	require.ErrorIs(e, second(e.PutCircle(e.ctx, social.Circle{ID: "c2", Owner: "a"}, append(all, "more"), here)), feed.ErrLimit)
	_, err := e.Circle(e.ctx, "c2")
	require.ErrorIs(e, err, feed.ErrNotFound, "no partial change")
	p := e.post("a", inCircles("c1"), "mentioned")
	var got []string
	for after := ""; ; after = got[len(got)-1] {
		list := e.receivers(p.ID, after, 1000)
		for _, r := range list {
			got = append(got, r.Agent)
		}
		if len(list) < 1000 {
			break
		}
	}
	require.Equal(e, append([]string{"a"}, append(all, "mentioned")...), got)
}

func likes(e *env) {
	e.putCircle("c1", "a", "m")
	p := e.create(social.Post{Author: "a", Caption: "x", Audience: public(), React: social.RightAudience, Mentions: []string{"b"}})
	require.NoError(e, third(e.Like(e.ctx, "m", p.ID)), "without circles, the audience is everyone who sees it")
	p = e.create(social.Post{Author: "a", Caption: "x", Audience: social.Audience{Public: true, Circles: []string{"c1"}}, React: social.RightAudience})
	require.ErrorIs(e, third(e.Like(e.ctx, "b", p.ID)), feed.ErrForbidden, "with circles, the audience is their members")
	p = e.create(social.Post{Author: "a", Caption: "x", Audience: inCircles("c1"), React: social.RightAudience, Mentions: []string{"b"}})
	card, changed, err := e.Like(e.ctx, "m", p.ID)
	require.NoError(e, err)
	require.Equal(e, int64(1), card.Likes)
	require.True(e, changed)
	card, changed, err = e.Like(e.ctx, "m", p.ID)
	require.NoError(e, err)
	require.Equal(e, int64(1), card.Likes)
	require.False(e, changed)
	require.ErrorIs(e, third(e.Like(e.ctx, "b", p.ID)), feed.ErrForbidden)
	require.ErrorIs(e, third(e.Like(e.ctx, "stranger", p.ID)), feed.ErrNotFound)
	require.ErrorIs(e, third(e.Like(e.ctx, "m", "post:none")), feed.ErrNotFound)
	require.ErrorIs(e, third(e.Like(e.ctx, "m", "doc_1")), feed.ErrBadID)
	c := e.card("m", p.ID)
	require.True(e, c.HasLiked)
	require.Equal(e, int64(1), c.Likes)
	require.Equal(e, c, card)
	require.False(e, e.card("b", p.ID).HasLiked)
	card, changed, err = e.Unlike(e.ctx, "m", p.ID)
	require.NoError(e, err)
	require.Equal(e, e.card("m", p.ID), card)
	require.Zero(e, card.Likes)
	require.True(e, changed)
	card, changed, err = e.Unlike(e.ctx, "m", p.ID)
	require.NoError(e, err)
	require.Equal(e, e.card("m", p.ID), card)
	require.False(e, changed)
}

// ownReactions checks that what authors do to their own posts is shown, and does not make them
// popular.
func ownReactions(e *env) {
	p := e.post("a", public())
	counts := func() [4]int64 {
		c, stored := e.card("b", p.ID), must[[]social.Post](e)(e.PostsByID(e.ctx, []string{p.ID}))[0]
		require.Equal(e, [4]int64{c.Likes, c.Comments, c.Likers, c.Commenters}, [4]int64{stored.Likes, stored.Comments, stored.Likers, stored.Commenters})
		return [4]int64{c.Likes, c.Likers, c.Comments, c.Commenters}
	}
	e.like("a", p.ID)
	own := e.reply("a", p.ID)
	again := e.reply("a", own.ID)
	require.Equal(e, [4]int64{1, 0, 2, 0}, counts())
	e.like("b", p.ID)
	e.reply("b", own.ID)
	e.reply("b", own.ID)
	require.Equal(e, [4]int64{2, 1, 4, 1}, counts())
	require.Equal(e, map[string]int{"a": 3}, must[map[string]int](e)(e.Affinities(e.ctx, "b", time.Unix(1, 0))))
	require.Empty(e, must[map[string]int](e)(e.Affinities(e.ctx, "a", time.Unix(1, 0))))
	e.ok(e.SetCounts(e.ctx, p.ID, social.Counts{Likes: 10, Comments: 5}, here))
	require.Equal(e, [4]int64{12, 11, 4, 1}, counts(), "of another system's, it is not known who did what")
	e.ok(e.DeletePost(e.ctx, own.ID, "a", here))
	require.Equal(e, [4]int64{12, 11, 3, 1}, counts())
	e.ok(e.DeletePost(e.ctx, again.ID, "a", here))
	card, _, err := e.Unlike(e.ctx, "a", p.ID)
	require.NoError(e, err)
	require.Equal(e, e.card("a", p.ID), card)
	require.Equal(e, [4]int64{11, 11, 2, 1}, counts())
	card, _, err = e.Like(e.ctx, "a", p.ID)
	require.NoError(e, err)
	require.Equal(e, e.card("a", p.ID), card)
	require.Equal(e, [4]int64{12, 11, 2, 1}, counts())
}

// likesOfHidden removes likes of posts that their agents may not see any more.
func likesOfHidden(e *env) {
	e.putCircle("c1", "a", "member", "stays")
	ended := map[string]func(p social.Post){
		"blocked":  func(social.Post) { e.block("a", "blocked") },
		"blocker":  func(social.Post) { e.block("blocker", "a") },
		"follower": func(social.Post) { e.unfollow("follower", "a") },
		"member":   func(social.Post) { must[bool](e)(e.RemoveMember(e.ctx, "c1", "member", "a", here)) },
		"reader":   func(p social.Post) { e.ok(e.DeletePost(e.ctx, p.ID, "", here)) },
	}
	for agent, end := range ended {
		e.follow(agent, "a")
		p := e.post("a", public())
		switch agent {
		case "follower":
			p = e.post("a", followers())
		case "member":
			p = e.post("a", inCircles("c1"))
		}
		e.like(agent, p.ID)
		e.like("a", p.ID)
		end(p)
		require.False(e, e.card(agent, p.ID).Visible)
		e.dirty()
		for _, want := range []bool{true, false} {
			card, changed, err := e.Unlike(e.ctx, agent, p.ID)
			require.NoError(e, err, agent)
			require.Equal(e, social.Card{ID: p.ID}, card, "%s must not learn the number of likes", agent)
			require.Equal(e, want, changed, agent)
			require.Equal(e, want, slices.Contains(e.dirty(), "count "+p.ID), agent)
		}
		require.Equal(e, int64(1), e.row(p.ID).Likes, agent)
	}
	for _, id := range []string{"post:none", e.post("a", followers()).ID} {
		card, changed, err := e.Unlike(e.ctx, "stranger", id)
		require.NoError(e, err)
		require.Equal(e, social.Card{ID: id}, card)
		require.False(e, changed)
	}
	require.ErrorIs(e, third(e.Unlike(e.ctx, "m", "doc_1")), feed.ErrBadID)
}

func first[T, U any](v T, _ U, err error) (T, error) { return v, err }
func second[T any](_ T, err error) error             { return err }
func third[T, U any](_ T, _ U, err error) error      { return err }
