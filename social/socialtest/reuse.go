package socialtest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// reuses are checks that create a thing, refer to it, delete it and create another with the same
// id: no reference to the first may apply to the second. They have the names by which
// docs/security.md lists them; see [CheckReferences].
var reuses = map[string]func(e *env){
	"likes of a post":             likesOfReused,
	"likes of a post, any order":  likesInAnyOrder,
	"likes by an agent":           likesByErased,
	"likes of an author":          affinityToErased,
	"counts and edits of a post":  changesOfReused,
	"mentions":                    mentionsOfErased,
	"grants":                      grantsToErased,
	"follows":                     followsOfErased,
	"members of a circle":         membersOfReused,
	"posts to a circle":           postsToReused,
	"posts to a circle, later":    postsToPurged,
	"memberships of an agent":     membershipsOfErased,
	"circles of an owner":         circlesOfErased,
	"posts of an author":          postsOfErased,
	"invitations to a group":      invitationsOfReused,
	"posts to a group":            groupsOfReused,
	"blocks":                      blocksOfErased,
	"changes":                     changesOfErased,
	"notifications":               notificationsOfErased,
	"memberships across a block":  membersBlocked,
	"idempotency keys":            keysOfReused,
	"promotions":                  promotionsOfReused,
	"images":                      imagesOfReused,
	"an erasure is not forgotten": erasureStays,
	"replies":                     repliesOfReused,
	"replies, any order":          repliesInAnyOrder,
	"replies of an agent":         repliesOfErased,
	"replies, purged":             repliesPurged,
	"suggestions":                 suggestionsOfErased,
	"moderated posts":             holdsThenEnds,
	"reports":                     reportsOfAgents,
	"authors of public posts":     publicAuthorsOfReused,
	"removals":                    removalsOfReused,
	"refusals":                    refusalsOfErased,
	"mutes":                       mutesOfErased,
	"groups of an owner":          inherited,
}

// event creates a post by an event with a time in the past.
func (e *env) event(p social.Post, ago time.Duration) {
	e.Helper()
	p.CreatedAt = e.now.Add(-ago).Unix()
	_, created, err := e.CreatePost(e.ctx, p, social.Creation{At: e.now.Add(-ago)})
	require.NoError(e, err)
	require.True(e, created)
}

// deleted deletes a post by an event with a time in the past.
func (e *env) deleted(id string, ago time.Duration) {
	e.Helper()
	e.ok(e.DeletePost(e.ctx, id, "", e.now.Add(-ago)))
}

// swept purges all expired data.
func (e *env) swept() {
	e.Helper()
	for e.purgeRows(2) > 0 {
	}
}

// cardsOf stores cards of authors, so that the authors are known independent of their other data.
func (e *env) cardsOf(authors ...string) {
	e.Helper()
	for _, author := range authors {
		e.ok(e.PutAuthor(e.ctx, social.Author{ID: author, Name: "x"}, here))
	}
}

const reused = "post:reused"

func likesOfReused(e *env) {
	p := social.Post{ID: reused, Author: "a", Caption: "Help the animal shelter", Audience: public()}
	e.event(p, 100*time.Second)
	for _, agent := range []string{"l", "m", "n", "o", "p"} {
		e.like(agent, reused) // now, later than the times of the events
	}
	require.True(e, e.card("l", reused).HasLiked)
	e.deleted(reused, 50*time.Second)
	p.Caption = "Buy my coin"
	e.event(p, 40*time.Second)
	none := func() {
		e.Helper()
		c := e.card("l", reused)
		require.True(e, c.Visible)
		require.Zero(e, c.Likes)
		require.False(e, c.HasLiked)
	}
	none()
	require.Zero(e, e.unlike("m", reused), "a like from before the deletion does not count")
	none()
	card, changed, err := e.Like(e.ctx, "n", reused)
	require.NoError(e, err)
	require.True(e, changed)
	require.Equal(e, int64(1), card.Likes)
	require.True(e, e.card("n", reused).HasLiked)
	e.swept()
	require.Equal(e, int64(1), e.card("n", reused).Likes)
	require.True(e, e.card("n", reused).HasLiked, "the cleanup removes only old likes")
	require.Zero(e, e.unlike("n", reused))
	none()
}

// likesInAnyOrder receives the second creation before the deletion of the first post.
func likesInAnyOrder(e *env) {
	p := social.Post{ID: reused, Author: "a", Caption: "first", Audience: public()}
	e.event(p, 100*time.Second)
	e.like("l", reused)
	p.Caption = "second"
	e.event(p, 40*time.Second)
	require.True(e, e.card("l", reused).HasLiked, "the event may be a repetition for the same post")
	e.like("m", reused)
	e.deleted(reused, 50*time.Second)
	c := e.card("m", reused)
	require.Equal(e, int64(1), c.Likes)
	require.True(e, c.HasLiked, "it refers to the current post")
	require.False(e, e.card("l", reused).HasLiked)
	e.swept()
	require.Equal(e, int64(1), e.card("m", reused).Likes)
}

func likesByErased(e *env) {
	p := e.post("a", public())
	e.like("l", p.ID)
	e.ok(e.EraseAgent(e.ctx, "l"))
	require.False(e, e.card("l", p.ID).HasLiked, "removed at once, before the cleanup")
	require.Empty(e, must[map[string]int](e)(e.Affinities(e.ctx, "l", time.Unix(1, 0))))
	card, changed, err := e.Like(e.ctx, "l", p.ID)
	require.NoError(e, err)
	require.True(e, changed, "the id belongs to a new agent")
	require.Equal(e, int64(1), card.Likes)
	e.eraseAll("l")
	require.True(e, e.card("l", p.ID).HasLiked)
	require.Equal(e, int64(1), e.card("l", p.ID).Likes)
}

func affinityToErased(e *env) {
	since := e.now
	e.like("l", e.post("a", public()).ID)
	e.pass(time.Second)
	e.ok(e.EraseAuthor(e.ctx, "a"))
	require.Empty(e, must[map[string]int](e)(e.Affinities(e.ctx, "l", since)))
	e.eraseAll("a")
	e.pass(time.Second)
	e.like("l", e.post("a", public()).ID)
	require.Equal(e, map[string]int{"a": 1}, must[map[string]int](e)(e.Affinities(e.ctx, "l", since)))
}

// changesOfReused checks counts and edits by events and by local calls.
func changesOfReused(e *env) {
	for _, here := range []bool{false, true} {
		p := social.Post{ID: reused, Author: "a", Caption: "first", Audience: public()}
		if here {
			p.ID += "-here"
		}
		e.event(p, 100*time.Second)
		at, edited := e.now.Add(-90*time.Second), "edited"
		if here {
			at = time.Time{}
		}
		e.ok(e.SetCounts(e.ctx, p.ID, social.Counts{Likes: 500, Comments: 80}, at))
		_, err := e.EditPost(e.ctx, p.ID, "", social.Edit{Caption: &edited, Tags: &[]string{"first"}}, at)
		require.NoError(e, err)
		e.deleted(p.ID, 50*time.Second)
		p.Caption = "second"
		e.event(p, 40*time.Second)
		c := e.card("l", p.ID)
		require.Zero(e, c.Likes, "here %v", here)
		require.Zero(e, c.Comments)
		require.Contains(e, string(c.Content), "second")
		require.NotContains(e, string(c.Content), "first")
		e.ok(e.SetCounts(e.ctx, p.ID, social.Counts{Likes: 7}, e.now.Add(-60*time.Second)))
		require.Zero(e, e.card("l", p.ID).Likes, "the event is older than the post")
		e.ok(e.SetCounts(e.ctx, p.ID, social.Counts{Likes: 2}, e.now.Add(-30*time.Second)))
		require.Equal(e, int64(2), e.card("l", p.ID).Likes)
	}
}

func postsOfErased(e *env) {
	p := social.Post{ID: reused, Author: "a", Caption: "first", Audience: public(), Mentions: []string{"m"}}
	e.event(p, 10*time.Second)
	e.like("l", reused)
	e.pass(time.Second)
	e.ok(e.EraseAgent(e.ctx, "a"))
	require.False(e, e.card("a", reused).Visible, "the id's next agent does not own its old posts")
	e.pass(time.Second)
	p.Caption, p.Mentions = "second", nil
	e.event(p, 0)
	for range 2 {
		c := e.card("l", reused)
		require.True(e, c.Visible)
		require.Zero(e, c.Likes)
		require.False(e, c.HasLiked)
		require.Equal(e, social.NoReason, e.card("m", reused).Reason)
		e.eraseAll("a")
	}
	require.Equal(e, int64(1), e.info("l", "a").Posts)
}

func keysOfReused(e *env) {
	p := social.Post{Author: "a", Caption: "x", Audience: public()}
	first, _, err := e.CreatePost(e.ctx, p, social.Creation{Key: "k"})
	require.NoError(e, err)
	e.pass(time.Second)
	e.ok(e.DeletePost(e.ctx, first.ID, "a", here))
	e.pass(time.Second)
	e.event(social.Post{ID: first.ID, Author: "a", Caption: "another", Audience: public()}, 0)
	_, _, err = e.CreatePost(e.ctx, p, social.Creation{Key: "k"})
	require.ErrorIs(e, err, feed.ErrNotFound, "the post of the key was deleted")
	e.ok(e.EraseAgent(e.ctx, "a"))
	for _, want := range []bool{true, false} {
		got, created, err := e.CreatePost(e.ctx, p, social.Creation{Key: "k"})
		require.NoError(e, err)
		require.Equal(e, want, created, "the id's next agent has separate keys")
		require.NotEqual(e, first.ID, got.ID)
		e.eraseAll("a")
	}
}

func promotionsOfReused(e *env) {
	e.event(social.Post{ID: reused, Author: "a", Caption: "first", Audience: public()}, 100*time.Second)
	of := func(id, item string) social.Promotion {
		return social.Promotion{ID: id, ItemID: item, From: e.now.Unix(), Until: e.now.Add(time.Hour).Unix(), Weight: 1}
	}
	e.ok(e.PutPromotion(e.ctx, of("p1", reused)))
	e.ok(e.PutPromotion(e.ctx, of("p2", "item")))
	e.deleted(reused, 50*time.Second)
	require.Len(e, must[[]social.Promotion](e)(e.Promotions(e.ctx, "", 10)), 2, "an admin still sees the promotion")
	e.event(social.Post{ID: reused, Author: "a", Caption: "second", Audience: public()}, 40*time.Second)
	list := must[[]social.Promotion](e)(e.Promotions(e.ctx, "", 10))
	require.Len(e, list, 1)
	require.Equal(e, "p2", list[0].ID)
}

func imagesOfReused(e *env) {
	e.ok(e.ReserveFiles(e.ctx, reused, []string{"k"}))
	p := social.Post{ID: reused, Author: "a", Caption: "first", Audience: public(), Images: []social.Image{{URL: "/media/k", Width: 1, Height: 1}}}
	_, _, err := e.CreatePost(e.ctx, p, social.Creation{Files: 1})
	require.NoError(e, err)
	require.Equal(e, reused, must[string](e)(e.FileOwner(e.ctx, "k")))
	e.pass(time.Second)
	e.ok(e.DeletePost(e.ctx, reused, "a", here))
	e.pass(time.Second)
	e.event(social.Post{ID: reused, Author: "a", Caption: "second", Audience: public()}, 0)
	_, err = e.FileOwner(e.ctx, "k")
	require.ErrorIs(e, err, feed.ErrNotFound)
}
