package socialtest

import (
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

func authors(e *env) {
	_, err := e.Author(e.ctx, "", "a")
	require.ErrorIs(e, err, feed.ErrNotFound)
	require.Equal(e, social.AuthorInfo{Author: social.Author{ID: "a"}}, e.info("a", "a"), "a reader finds itself, however new")
	card := social.Author{ID: "a", Name: "Ada", ImageURL: "https://example.com/a.png", Bio: "Counts."}
	e.ok(e.PutAuthor(e.ctx, card, here))
	require.Equal(e, social.AuthorInfo{Author: card}, e.info("", "a"))
	e.putCircle("c1", "a", "m")
	e.post("a", public())
	e.post("a", followers())
	e.post("a", inCircles("c1"))
	e.post("a", social.Audience{}, "mentioned")
	e.follow("f", "a")
	e.follow("a", "x")
	for reader, want := range map[string]int64{"": 1, "stranger": 1, "x": 1, "f": 2, "m": 2, "mentioned": 2, "a": 4} {
		got := e.info(reader, "a")
		require.Equal(e, social.AuthorInfo{Author: card, Posts: want, Followers: 1, Following: 1, IsFollowing: reader == "f", FollowsYou: reader == "x"}, got, "%q", reader)
	}
	e.post("quiet", social.Audience{})
	_, err = e.Author(e.ctx, "stranger", "quiet")
	require.ErrorIs(e, err, feed.ErrNotFound, "a stranger must not learn of the author")

	at := e.now
	e.pass(time.Second)
	newer := card
	newer.Name = "Ada L."
	e.ok(e.PutAuthor(e.ctx, newer, e.now))
	e.ok(e.PutAuthor(e.ctx, card, at))
	require.Equal(e, "Ada L.", e.info("", "a").Name, "an older event changes nothing")
	newer.Bio = ""
	e.ok(e.PutAuthor(e.ctx, newer, here))
	require.Empty(e, e.info("", "a").Bio)
	for _, bad := range []social.Author{{ID: social.Server}, {ID: "a b"}} {
		require.ErrorIs(e, e.PutAuthor(e.ctx, bad, here), feed.ErrBadID)
	}
	require.ErrorIs(e, e.PutAuthor(e.ctx, social.Author{ID: "a", Name: strings.Repeat("x", 300)}, here), feed.ErrInvalid)
}

// agentCards reads the cards of people in every relation to a reader.
func agentCards(e *env) {
	all := []string{"author", "friend", "fan", "blocked", "blocker", "both", "unknown", "erased", "author", "me"}
	for _, id := range []string{"author", "friend", "fan", "blocked", "blocker", "both", "erased"} {
		e.ok(e.PutAuthor(e.ctx, social.Author{ID: id, Name: "Name of " + id, ImageURL: "https://example.com/" + id, Bio: "not in lists"}, here))
	}
	for _, edge := range [][2]string{{"me", "author"}, {"me", "friend"}, {"friend", "me"}, {"fan", "me"}, {"me", "erased"}, {"erased", "me"}, {"x", "author"}} {
		e.follow(edge[0], edge[1])
	}
	for _, pair := range [][2]string{{"me", "blocked"}, {"blocker", "me"}, {"me", "both"}, {"both", "me"}} {
		e.ok(second(e.Block(e.ctx, pair[0], pair[1])))
	}
	e.pass(time.Second)
	e.ok(e.EraseAgent(e.ctx, "erased"))
	card := func(id string) api.AgentCard {
		return api.AgentCard{PostAuthor: api.PostAuthor{ID: id, Name: "Name of " + id, ImageURL: "https://example.com/" + id}}
	}
	only := func(id string) api.AgentCard { return api.AgentCard{PostAuthor: api.PostAuthor{ID: id}} }
	author, friend, fan, blocked, both, erased, me := card("author"), card("friend"), card("fan"), card("blocked"), only("both"), only("erased"), only("me")
	author.Followers, author.IsFollowing = 2, true
	friend.Followers, friend.Following, friend.IsFollowing, friend.FollowsYou = 1, 1, true, true
	fan.Following, fan.FollowsYou = 1, true
	blocked.IsBlocked, both.IsBlocked = true, true
	erased.Followers, erased.Following = 1, 1 // until a job has removed their follows
	me.Followers, me.Following = 3, 3
	want := []api.AgentCard{author, friend, fan, blocked, only("blocker"), both, only("unknown"), erased, author, me}
	require.Equal(e, want, must[[]api.AgentCard](e)(e.AgentCards(e.ctx, "me", all)))

	for i := range want {
		want[i].IsFollowing, want[i].FollowsYou, want[i].IsBlocked = false, false, false
	}
	want[4], want[5] = card("blocker"), card("both")
	require.Equal(e, want, must[[]api.AgentCard](e)(e.AgentCards(e.ctx, "", all)), "without a reader")
	require.Empty(e, must[[]api.AgentCard](e)(e.AgentCards(e.ctx, "me", nil)))
	for _, id := range all { // a card and the author's page say the same
		info, err := e.Author(e.ctx, "me", id)
		if err == nil && !info.IsBlocked {
			got := must[[]api.AgentCard](e)(e.AgentCards(e.ctx, "me", []string{id}))[0]
			require.Equal(e, [3]any{info.Name, info.IsFollowing, info.FollowsYou}, [3]any{got.Name, got.IsFollowing, got.FollowsYou}, id)
		}
	}
}

func celebrities(e *env) {
	of := func() social.Celebrity { return must[social.Celebrity](e)(e.Celebrity(e.ctx, "a")) }
	set := func(from, to social.Delivery) bool { return must[bool](e)(e.SetDelivery(e.ctx, "a", from, to)) }
	require.Equal(e, social.Celebrity{Author: "a", Delivery: social.Push}, of())
	require.False(e, set(social.Push, social.Both), "the author is unknown")
	for i := range celebrityAt - 1 {
		e.follow(fmt.Sprintf("f%d", i), "a")
	}
	require.NotContains(e, e.dirty(), "author a")
	e.follow("f9", "a")
	require.Contains(e, e.dirty(), "author a", "they have crossed the upper threshold")
	e.pass(time.Second)
	require.True(e, set(social.Push, social.Both))
	require.False(e, set(social.Push, social.Both), "another server was faster")
	require.Equal(e, social.Celebrity{Author: "a", Delivery: social.Both, Since: e.now, Followers: celebrityAt}, of())
	require.Equal(e, social.Pulled{Authors: []string{"a"}}, must[social.Pulled](e)(e.Celebrities(e.ctx, "f9")))
	require.Empty(e, e.dirty())
	e.follow("stranger", social.Server)
	require.Equal(e, []social.Pulled{{Server: true}, {Authors: []string{"a"}}, {}, {Authors: []string{"a"}}},
		must[[]social.Pulled](e)(e.CelebritiesOf(e.ctx, []string{"stranger", "f9", "a", "f9"})))
	require.Empty(e, must[[]social.Pulled](e)(e.CelebritiesOf(e.ctx, nil)))
	e.dirty()
	rebuilt(e)

	// During the change the number of followers crosses back.
	e.unfollow("f0", "a")
	e.unfollow("f1", "a")
	require.NotContains(e, e.dirty(), "author a")
	require.True(e, set(social.Both, social.Pull))
	require.Equal(e, []string{"author a"}, e.dirty(), "the crossing is detected once the change to pull is complete")
	p := e.post("a", followers())
	require.Empty(e, must[[]social.Entry](e)(e.Pull(e.ctx, social.PullQuery{Reader: "f9", N: 5})), "it is not in their list")
	require.Equal(e, []string{p.ID}, entryIDs(must[[]social.Entry](e)(e.Pull(e.ctx, social.PullQuery{Reader: "f9", N: 5, Whole: true}))))
	e.dirty()
	e.follow("f0", "a")
	require.NotContains(e, e.dirty(), "author a", "no change between the thresholds")
	e.unfollow("f0", "a")
	require.Contains(e, e.dirty(), "author a", "they have crossed the lower threshold")
	require.True(e, set(social.Pull, social.Both))
	require.True(e, set(social.Both, social.Push))
	require.Empty(e, e.dirty())
}

// rebuilt checks that a reader's list is reported as being rebuilt while its job waits or runs.
func rebuilt(e *env) {
	tells := func() bool {
		list := must[[]social.Pulled](e)(e.CelebritiesOf(e.ctx, []string{"f9", "stranger"}))
		require.Equal(e, []social.Pulled{{Authors: []string{"a"}, Rebuilt: list[0].Rebuilt}, {Server: true}}, list)
		return list[0].Rebuilt
	}
	key := jobs.PairKey(jobs.Everybody, "f9")
	require.NoError(e, e.Enqueue(e.ctx, jobs.Spec{Kind: jobs.AuthorAgent, Key: jobs.PairKey("a", "f9")}, jobs.Spec{Kind: jobs.Member, Key: key}))
	require.False(e, tells(), "jobs of other lists do not count")
	require.NoError(e, e.Enqueue(e.ctx, jobs.Spec{Kind: jobs.AuthorAgent, Key: key}))
	require.True(e, tells(), "the job is pending")
	job := must[jobs.Job](e)(e.LeaseKey(e.ctx, jobs.AuthorAgent, key, time.Minute))
	require.True(e, tells(), "the job is running")
	must[jobs.State](e)(e.Fail(e.ctx, job, jobs.Failure{After: time.Hour}))
	require.True(e, tells(), "the job has failed")
	job = must[jobs.Job](e)(e.LeaseKey(e.ctx, jobs.AuthorAgent, key, time.Minute))
	must[[]jobs.State](e)(e.Done(e.ctx, job))
	require.False(e, tells(), "the job is completed")
	e.dirty()
}

// busy creates an agent with all kinds of data.
func (e *env) busy(agent string) {
	e.Helper()
	e.ok(e.PutAuthor(e.ctx, social.Author{ID: agent, Name: "Name of " + agent}, here))
	for _, f := range []string{"f1", "f2"} {
		e.follow(f, agent)
		e.follow(agent, f)
		e.putCircle("of-"+f, f, agent)
	}
	e.putCircle("mine", agent, "f1", "f2")
	for range 5 {
		e.post(agent, public())
		e.post(agent, inCircles("mine"))
	}
	for range 3 {
		e.like(agent, e.post("f1", public()).ID)
	}
	e.block(agent, "blocked")
	e.block("blocker", agent)
	_, _, err := e.CreatePost(e.ctx, social.Post{Author: agent, Caption: "x", Audience: public()}, social.Creation{Key: "k"})
	require.NoError(e, err)
}

// eraseAll calls EraseSome until it is done.
func (e *env) eraseAll(agent string) {
	e.Helper()
	for range 200 {
		if must[bool](e)(e.EraseSome(e.ctx, agent, 2, nil)) {
			return
		}
	}
	require.Fail(e, "the erasure does not finish")
}

func eraseAuthor(e *env) {
	e.busy("a")
	posts := must[[]social.Entry](e)(e.Grid(e.ctx, "a", "a", social.Position{}, 100))
	require.Len(e, posts, 11)
	e.dirty()
	require.True(e, must[bool](e)(e.EraseSome(e.ctx, "a", 10, nil)), "no erasure was requested")
	e.ok(e.EraseAuthor(e.ctx, "a"))
	hidden := func() {
		e.Helper()
		for _, p := range posts {
			for _, reader := range []string{"", "a", "f1"} {
				require.False(e, e.card(reader, p.ID).Visible)
			}
		}
		require.ErrorIs(e, third(e.Like(e.ctx, "f1", posts[0].ID)), feed.ErrNotFound)
		info := e.info("f1", "a")
		require.Equal(e, social.Author{ID: "a"}, info.Author)
		require.Zero(e, info.Posts)
	}
	hidden() // before the job runs
	require.Equal(e, []string{"erase a"}, e.dirty())
	e.pass(time.Second)
	again := e.post("a", public())
	e.follow("f3", "a")
	e.ok(e.PutAuthor(e.ctx, social.Author{ID: "a", Name: "Back"}, here))
	e.eraseAll("a")
	require.Equal(e, "Back", e.info("", "a").Name)
	require.True(e, e.card("f3", again.ID).Visible, "later posts of the id are visible")
	require.Equal(e, []string{again.ID}, entryIDs(must[[]social.Entry](e)(e.Grid(e.ctx, "a", "a", social.Position{}, 100))))
	require.Equal(e, []string{"f3"}, e.list(e.Followers, "a"))
	require.Equal(e, []string{"f1", "f2"}, e.list(e.Following, "a"), "an author's follows stay")
	require.Equal(e, []string{"f1", "f2"}, e.list(e.Members, "mine"))
	dirty := e.dirty()
	for _, p := range posts {
		require.Contains(e, dirty, "deliver "+p.ID)
		require.True(e, e.row(p.ID).Deleted)
		require.Empty(e, e.row(p.ID).Caption)
	}
	require.Contains(e, dirty, "pair a/f1")
	// Events from before the erasure restore nothing.
	before := e.now.Add(-time.Hour)
	_, err := e.Follow(e.ctx, "f4", "a", before)
	require.NoError(e, err)
	require.Equal(e, []string{"f3"}, e.list(e.Followers, "a"))
	_, _, err = e.CreatePost(e.ctx, social.Post{ID: "post:late", Author: "a", CreatedAt: 9, Caption: "x", Audience: public()}, social.Creation{At: before})
	require.ErrorIs(e, err, feed.ErrNotFound)
	e.ok(e.PutAuthor(e.ctx, social.Author{ID: "a", Name: "Old"}, before))
	require.Equal(e, "Back", e.info("", "a").Name)
	e.ok(e.EraseAuthor(e.ctx, "unknown"))
	e.eraseAll("unknown")
}

func eraseAgent(e *env) {
	e.busy("a")
	e.ok(e.EraseAgent(e.ctx, "a"))
	e.eraseAll("a")
	_, err := e.Author(e.ctx, "", "a")
	require.ErrorIs(e, err, feed.ErrNotFound)
	for _, list := range [][]string{
		e.list(e.Followers, "a"), e.list(e.Following, "a"), e.list(e.Followers, "f1"), e.list(e.Members, "of-f1"), e.list(e.Members, "mine"),
	} {
		require.Empty(e, list)
	}
	require.Equal(e, int64(0), e.info("", "f1").Followers)
	_, err = e.Circle(e.ctx, "mine")
	require.ErrorIs(e, err, feed.ErrNotFound)
	for _, p := range must[[]social.Entry](e)(e.Grid(e.ctx, "", "f1", social.Position{}, 10)) {
		require.Zero(e, e.card("", p.ID).Likes)
	}
	dirty := strings.Join(e.dirty(), "\n")
	for _, want := range []string{"pair a/f1", "pair f1/a", "member mine/f1", "member of-f1/a", string(jobs.Count)} {
		require.Contains(e, dirty, want)
	}
	_, err = e.Follow(e.ctx, "blocked", "a", here)
	require.NoError(e, err, "their own blocks are gone")
	_, err = e.Follow(e.ctx, "blocker", "a", here)
	require.ErrorIs(e, err, feed.ErrForbidden, "blocks by others stay")
	_, created, err := e.CreatePost(e.ctx, social.Post{Author: "a", Caption: "y", Audience: public()}, social.Creation{Key: "k"})
	require.NoError(e, err)
	require.True(e, created, "their keys are gone")
}

// eraseAhead erases agents on a server with a clock behind that of the server on which the agents
// made their only change.
func eraseAhead(e *env) {
	p := e.post("author", public())
	e.pass(time.Hour)
	e.like("likes", p.ID)
	e.block("blocks", "author")
	e.follow("follows", "author")
	e.putCircle("c1", "owns", "belongs")
	e.post("posts", public())
	e.pass(-30 * time.Minute)
	for _, agent := range []string{"likes", "blocks", "follows", "owns", "belongs", "posts"} {
		e.ok(e.EraseAgent(e.ctx, agent))
		e.eraseAll(agent)
	}
	require.Zero(e, e.card("", p.ID).Likes)
	require.True(e, e.card("blocks", p.ID).Visible, "their own blocks are gone")
	require.Empty(e, e.list(e.Followers, "author"))
	_, err := e.Circle(e.ctx, "c1")
	require.ErrorIs(e, err, feed.ErrNotFound)
	require.Empty(e, must[[]social.Entry](e)(e.Grid(e.ctx, "", "posts", social.Position{}, 5)))
}
