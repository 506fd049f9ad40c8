package socialtest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
)

// mutual has two agents follow each other as of now.
func (e *env) mutual(one, other string) {
	e.Helper()
	e.follow(one, other)
	e.follow(other, one)
}

func (e *env) friends(agent string) []string {
	e.Helper()
	return must[[]string](e)(e.Friends(e.ctx, agent, "", 100))
}

// chooses stores a card with a choice about the author's follows.
func (e *env) chooses(author string, yes bool) {
	e.Helper()
	e.ok(e.PutAuthor(e.ctx, social.Author{ID: author, SuggestFromFollows: &yes}, here))
}

// friends checks who counts as a friend of r: only who has followed r and been followed by r for a
// week, as of the later follow.
func friends(e *env) {
	e.follow("r", "followed")
	e.follow("follower", "r")
	e.mutual("r", "friend")
	e.mutual("r", "parted")
	e.mutual("r", "returned")
	e.mutual("r", "blocked")
	e.mutual("r", "blocks")
	e.mutual("r", "unblocked")
	e.mutual("r", "erased")
	e.follow("r", "late")
	e.follow("r", social.Server)
	e.pass(time.Hour)
	e.follow("late", "r")
	e.unfollow("parted", "r")
	e.unfollow("r", "returned")
	e.follow("r", "returned")
	e.block("r", "blocked")
	e.block("blocks", "r")
	e.block("unblocked", "r")
	must[bool](e)(e.Unblock(e.ctx, "unblocked", "r"))
	e.mutual("r", "unblocked")
	e.ok(e.EraseAgent(e.ctx, "erased"))
	e.pass(social.FriendsAfter - time.Hour - time.Second)
	require.Empty(e, e.friends("r"))
	e.pass(time.Second)
	require.Equal(e, []string{"friend"}, e.friends("r"))
	require.Equal(e, []string{"r"}, e.friends("friend"))
	e.mutual("r", "friend")
	require.Equal(e, []string{"friend"}, e.friends("r"), "a follow that exists keeps its time")
	e.pass(time.Hour + time.Second)
	require.Equal(e, []string{"friend", "late", "returned", "unblocked"}, e.friends("r"))
	require.Equal(e, []string{"late", "returned"}, must[[]string](e)(e.Friends(e.ctx, "r", "friend", 2)))
	e.eraseAll("erased")
	e.follow("erased", "r")
	require.NotContains(e, e.friends("r"), "erased", "the agent who has the id now")
	e.ok(e.EraseAuthor(e.ctx, "r"))
	require.Empty(e, e.friends("r"), "the erased author's followers are gone")
}

// friendsOfOthers checks that events of other systems have their own times, and that a follow that
// is reported again counts from the later time.
func friendsOfOthers(e *env) {
	long, lately := e.now.Add(-social.FriendsAfter), e.now.Add(-time.Hour)
	for _, friend := range []string{"old", "again"} {
		must[bool](e)(e.Follow(e.ctx, "r", friend, long))
		must[bool](e)(e.Follow(e.ctx, friend, "r", long))
	}
	must[bool](e)(e.Follow(e.ctx, "r", "new", lately))
	must[bool](e)(e.Follow(e.ctx, "new", "r", long))
	require.Equal(e, []string{"again", "old"}, e.friends("r"))
	must[bool](e)(e.Follow(e.ctx, "again", "r", lately))
	require.Equal(e, []string{"old"}, e.friends("r"))
	// An earlier time has no effect on a follow made here.
	e.mutual("r", "here")
	must[bool](e)(e.Follow(e.ctx, "r", "here", long))
	must[bool](e)(e.Follow(e.ctx, "here", "r", long))
	require.Equal(e, []string{"old"}, e.friends("r"))
}

// refusals checks whose follows may be a reason for suggestions: by choice, otherwise of everybody
// except those who have posts, but none for everybody.
func refusals(e *env) {
	all := []string{"no", "no_public", "private", "private_circle", "private_yes", "public", "quiet", "replies", "yes"}
	for _, friend := range all {
		e.mutual("r", friend)
	}
	e.pass(social.FriendsAfter)
	root := e.post("public", public())
	e.post("public", followers())
	e.post("no_public", public())
	e.post("private", followers())
	e.post("private_yes", followers())
	e.putCircle("c1", "private_circle", "r")
	e.post("private_circle", inCircles("c1"))
	e.create(social.Post{Author: "replies", Caption: "x", ReplyTo: root.ID})
	for friend, yes := range map[string]bool{"no": false, "no_public": false, "private_yes": true, "yes": true} {
		e.chooses(friend, yes)
	}
	require.Equal(e, []string{"private_yes", "public", "quiet", "replies", "yes"}, e.friends("r"))
	e.post("private", public())
	e.ok(e.DeletePost(e.ctx, root.ID, "public", here))
	require.Equal(e, []string{"private", "private_yes", "quiet", "replies", "yes"}, e.friends("r"), "what they have posted now")
	e.chooses("yes", false)
	e.chooses("no", true)
	require.Equal(e, []string{"no", "private", "private_yes", "quiet", "replies"}, e.friends("r"))
}

// choices checks that an author's choice is stored, is shown only to the author, and ends with the
// card, but not with an event, which knows nothing of it.
func choices(e *env) {
	card := social.Author{ID: "a", Name: "Ada"}
	for _, yes := range []bool{false, true} {
		e.ok(e.PutAuthor(e.ctx, card, here))
		require.Nil(e, e.info("a", "a").SuggestFromFollows, "a card without a choice has none")
		e.chooses("a", yes)
		for range 2 {
			got := e.info("a", "a").SuggestFromFollows
			require.NotNil(e, got)
			require.Equal(e, yes, *got)
			for _, reader := range []string{"", "b"} {
				require.Nil(e, e.info(reader, "a").SuggestFromFollows, "%q", reader)
			}
			e.pass(time.Second)
			other := !yes
			e.ok(e.PutAuthor(e.ctx, social.Author{ID: "a", Name: "Ada L.", SuggestFromFollows: &other}, e.now))
			require.Equal(e, "Ada L.", e.info("a", "a").Name)
		}
		e.pass(time.Second)
		e.ok(e.EraseAuthor(e.ctx, "a"))
		e.ok(e.PutAuthor(e.ctx, card, e.now.Add(time.Second)))
		require.Nil(e, e.info("a", "a").SuggestFromFollows, "erased")
		e.pass(time.Minute)
	}
}

// newestAuthors checks that the authors of public posts are listed, the newest first, whatever
// happens to their posts.
func newestAuthors(e *env) {
	list := func(reader string, n int, except ...string) []string {
		e.Helper()
		ids := []string{}
		for _, a := range must[[]social.NewAuthor](e)(e.NewestAuthors(e.ctx, reader, except, n)) {
			require.Equal(e, a.Author, a.Newest.Author)
			require.True(e, a.Newest.Audience.Public)
			ids = append(ids, a.Author)
		}
		return ids
	}
	require.Empty(e, list("r", 10))
	first := e.post("ann", public())
	for _, author := range []string{"bob", "cleo", "dan", "r"} {
		e.post(author, public())
	}
	e.post("private", followers())
	e.create(social.Post{Author: "replies", Caption: "x", ReplyTo: first.ID})
	second := e.post("ann", public())
	require.Equal(e, []string{"dan", "cleo", "bob", "ann"}, list("r", 10))
	require.Equal(e, []string{"r", "dan"}, list("s", 2))
	require.Equal(e, []string{"cleo", "ann"}, list("r", 2, "dan", "bob"))
	require.Equal(e, second.ID, must[[]social.NewAuthor](e)(e.NewestAuthors(e.ctx, "r", []string{"bob", "cleo", "dan"}, 10))[0].Newest.ID)
	e.follow("r", "cleo")
	e.block("r", "bob")
	e.block("dan", "r")
	require.Equal(e, []string{"ann"}, list("r", 10))
	e.unfollow("r", "cleo")
	require.Equal(e, []string{"cleo", "ann"}, list("r", 10))
	e.ok(e.DeletePost(e.ctx, second.ID, "ann", here))
	require.Equal(e, []string{"cleo", "ann"}, list("r", 10))
	e.ok(e.DeletePost(e.ctx, first.ID, "ann", here))
	require.Equal(e, []string{"cleo"}, list("r", 10))
	e.ok(e.EraseAgent(e.ctx, "cleo"))
	require.Empty(e, list("r", 10))
	e.eraseAll("cleo")
	require.Empty(e, list("r", 10))
}

// publicAuthorsOfReused checks that an erased author is listed again only for posts made since.
func publicAuthorsOfReused(e *env) {
	list := func() []social.NewAuthor { return must[[]social.NewAuthor](e)(e.NewestAuthors(e.ctx, "r", nil, 10)) }
	e.post("a", public())
	require.Len(e, list(), 1)
	e.ok(e.EraseAuthor(e.ctx, "a"))
	require.Empty(e, list())
	e.eraseAll("a")
	require.Empty(e, list())
	p := e.post("a", public())
	require.Len(e, list(), 1)
	require.Equal(e, p.ID, list()[0].Newest.ID)
}
