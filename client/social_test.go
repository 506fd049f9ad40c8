package client_test

import (
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/client"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

func TestPostsOnRealServer(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	ana, admin := newPair(t, asShipped)
	ben := ana.As("u_2")
	require.NoError(t, ana.PutAuthor(ctx, "u_1", client.AuthorCard{Name: "Ana", Bio: "Rain"}))
	no := false
	require.NoError(t, ana.PutAuthor(ctx, "u_1", client.AuthorCard{Name: "Ana", SuggestFromFollows: &no}))
	card, err := ana.Author(ctx, "u_1")
	require.NoError(t, err)
	require.Equal(t, social.Author{ID: "u_1", Name: "Ana", SuggestFromFollows: &no}, card.Author)
	require.NoError(t, ana.PutAuthor(ctx, "u_1", client.AuthorCard{Name: "Ana"}))
	card, err = ana.Author(ctx, "u_1")
	require.NoError(t, err)
	require.Equal(t, social.Author{ID: "u_1", Name: "Ana"}, card.Author, "a card is replaced with all fields")
	circle, err := ana.PutCircle(ctx, "c1", client.CircleChange{Name: "Friends", Members: []string{"u_2"}})
	require.NoError(t, err)
	require.Equal(t, client.Circle{ID: "c1", Owner: "u_1", Name: "Friends", Size: 1, CircleTerms: social.CircleTerms{Kind: social.KindCircle}}, circle)

	page, err := ana.Circles(ctx, "", "", 10)
	require.NoError(t, err)
	require.Equal(t, client.CirclePage{Circles: []client.Circle{circle}}, page)
	post, err := ana.CreatePost(ctx, client.NewPost{Caption: "We meet at six #plans", Audience: &client.Audience{Circles: []string{"c1"}}, React: "audience"})
	require.NoError(t, err)
	require.Equal(t, []string{"plans"}, post.Tags)
	require.Equal(t, client.PostAuthor{ID: "u_1", Name: "Ana"}, post.Author)
	got, err := ben.Post(ctx, post.ID)
	require.NoError(t, err)
	require.Equal(t, &client.InFeed{Source: "following", Reason: "audience", CanReply: true, CanReact: true}, got.InFeed)
	_, err = ana.As("u_3").Post(ctx, post.ID)
	require.ErrorIs(t, err, client.ErrNotFound)

	likes, err := ben.LikePost(ctx, post.ID)
	require.NoError(t, err)
	require.Equal(t, client.Likes{Likes: 1, HasLiked: true}, likes)
	likes, err = ben.UnlikePost(ctx, post.ID)
	require.NoError(t, err)
	require.Equal(t, client.Likes{}, likes)

	reply, err := ben.CreatePost(ctx, client.NewPost{Caption: "I come", ReplyTo: post.ID})
	require.NoError(t, err)
	require.Equal(t, []string{post.ID, post.ID}, []string{reply.ReplyTo, reply.Root})
	thread, err := ana.Replies(ctx, post.ID, true, "", 0)
	require.NoError(t, err)
	require.Len(t, thread.Items, 1)
	require.Equal(t, "I come", thread.Items[0].Caption)
	thread, err = ana.Replies(ctx, post.ID, false, thread.NextCursor, 1)
	require.NoError(t, err)
	require.Empty(t, thread.Items)
	_, err = ana.As("u_3").Replies(ctx, post.ID, false, "", 1)
	require.ErrorIs(t, err, client.ErrNotFound)

	caption := "We meet at seven"
	post, err = ana.EditPost(ctx, post.ID, client.PostEdit{Caption: &caption})
	require.NoError(t, err)
	require.Equal(t, caption, post.Caption)
	_, err = ben.EditPost(ctx, post.ID, client.PostEdit{Caption: &caption})
	require.ErrorIs(t, err, client.ErrForbidden)
	hidden, err := admin.EditPost(ctx, post.ID, client.PostEdit{Caption: &caption})
	require.NoError(t, err)
	require.Zero(t, hidden, "an admin is nobody's reader")
	_, err = ana.CreatePost(ctx, client.NewPost{})
	require.ErrorIs(t, err, client.ErrUnprocessable)
	require.NoError(t, ana.DeletePost(ctx, post.ID))
	require.ErrorIs(t, ana.DeletePost(ctx, post.ID), client.ErrNotFound)

	changed, err := ana.AddMember(ctx, "c1", "u_3")
	require.NoError(t, err)
	require.True(t, changed)
	changed, err = ana.RemoveMember(ctx, "c1", "u_2")
	require.NoError(t, err)
	require.True(t, changed)
	members, err := ana.Members(ctx, "c1", "", 0)
	require.NoError(t, err)
	require.Equal(t, []string{"u_3"}, members.Agents)
	circle, err = ana.PutCircle(ctx, "c1", client.CircleChange{Members: []string{}})
	require.NoError(t, err)
	require.Zero(t, circle.Size)
	group := client.CircleChange{CircleTerms: social.CircleTerms{Kind: social.KindEvent}, Until: feed.Moment{Time: time.Unix(4e9, 0)}}
	circle, err = ana.PutCircle(ctx, "rowers", group)
	require.NoError(t, err)
	require.Equal(t, int64(4e9), circle.Until)
	changed, err = ana.Invite(ctx, "rowers", "u_2")
	require.NoError(t, err)
	require.True(t, changed)
	invited, err := ana.Invited(ctx, "rowers", "", 0)
	require.NoError(t, err)
	require.Equal(t, []string{"u_2"}, invited.Agents)
	changed, err = ben.AddMember(ctx, "rowers", "u_2")
	require.NoError(t, err)
	require.True(t, changed)
	_, err = ana.AddMember(ctx, "rowers", "u_9")
	require.ErrorIs(t, err, client.ErrForbidden)
	circle, err = ana.PatchCircle(ctx, "rowers", map[string]any{"name": "Rowers", "owner": "u_2"})
	require.NoError(t, err)
	require.Equal(t, [2]string{"Rowers", "u_2"}, [2]string{circle.Name, circle.Owner})
	for list, want := range map[client.Muted]string{client.MutedGroups: "rowers", client.MutedInviters: "u_2", client.MutedKinds: "like"} {
		changed, err = ana.Mute(ctx, "u_1", list, want)
		require.NoError(t, err)
		require.True(t, changed)
	}
	circle, err = ana.Circle(ctx, "rowers")
	require.NoError(t, err)
	require.True(t, circle.Muted)
	muted, err := ana.MutedCircles(ctx, "u_1", "", 0)
	require.NoError(t, err)
	require.Equal(t, client.CircleIDPage{Circles: []string{"rowers"}}, muted)
	end := time.Date(2100, 1, 2, 3, 4, 5, 0, time.UTC)
	changed, err = ana.MuteUntil(ctx, "u_1", client.MutedGroups, "rowers", end)
	require.NoError(t, err)
	require.True(t, changed)
	muted, err = ana.MutedCircles(ctx, "u_1", "", 0)
	require.NoError(t, err)
	require.Equal(t, client.CircleIDPage{Circles: []string{"rowers"}, Until: map[string]time.Time{"rowers": end}}, muted)
	_, err = ana.MuteUntil(ctx, "u_1", client.MutedInviters, "u_2", end)
	require.ErrorIs(t, err, client.ErrBadRequest)
	inviters, err := ana.MutedInvitations(ctx, "u_1", "", 0)
	require.NoError(t, err)
	require.Equal(t, []string{"u_2"}, inviters.Agents)
	kinds, err := ana.MutedNotifications(ctx, "u_1")
	require.NoError(t, err)
	require.Equal(t, []string{"like"}, kinds)
	_, err = ben.Follow(ctx, "u_2", "u_1")
	require.NoError(t, err)
	told, err := ana.Notifications(ctx, "u_1", "", 1)
	require.NoError(t, err)
	require.Equal(t, "u_2", told.Notices[0].Actors[0].ID)
	changed, err = ana.SeeNotifications(ctx, "u_1", told.Marker)
	require.NoError(t, err)
	require.True(t, changed)
	for list, value := range map[client.Muted]string{client.MutedGroups: "rowers", client.MutedInviters: "u_2", client.MutedKinds: "like"} {
		changed, err = ana.Unmute(ctx, "u_1", list, value)
		require.NoError(t, err)
		require.True(t, changed)
	}
	patched, err := ana.PatchAuthor(ctx, "u_1", map[string]any{"bio": nil})
	require.NoError(t, err)
	require.Equal(t, client.AuthorCard{Name: "Ana"}, patched)
	require.NoError(t, ana.PutAuthor(ctx, "u_1", client.AuthorCard{Name: "Ana", Recommend: new(bool)}))
	require.NoError(t, ana.PutAuthor(ctx, "u_1", client.AuthorCard{Name: "Ana B."}))
	patched, err = ana.PatchAuthor(ctx, "u_1", map[string]any{})
	require.NoError(t, err)
	require.Equal(t, client.AuthorCard{Name: "Ana B.", Recommend: new(bool)}, patched, "a card without the field leaves it")
	patched, err = ana.PatchAuthor(ctx, "u_1", map[string]any{"recommend": nil, "name": "Ana"})
	require.NoError(t, err)
	require.Equal(t, client.AuthorCard{Name: "Ana"}, patched)
	changed, err = ana.Withdraw(ctx, "rowers", "u_1")
	require.NoError(t, err)
	require.False(t, changed)
	changed, err = ana.RemoveMember(ctx, "rowers", "u_1")
	require.NoError(t, err)
	require.True(t, changed)
	circles, err := ana.Circles(ctx, "joined", "", 1)
	require.NoError(t, err)
	require.Empty(t, circles.Circles)
	require.NoError(t, ana.DeleteCircle(ctx, "c1"))
	_, err = ana.Circle(ctx, "c1")
	require.ErrorIs(t, err, client.ErrNotFound)
}

func TestFollowsOnRealServer(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	ana, admin := newPair(t, asShipped)
	ben := ana.As("u_2")
	require.NoError(t, ben.WarmTimeline(ctx))
	var want []string
	for range 3 {
		p, err := ana.CreatePost(ctx, client.NewPost{Caption: "Rain"})
		require.NoError(t, err)
		want = append([]string{p.ID}, want...)
	}
	changed, err := ben.Follow(ctx, "u_2", "u_1")
	require.NoError(t, err)
	require.True(t, changed)
	read := func(page func(cursor string) (client.PostPage, error)) (ids []string) {
		t.Helper()
		for cursor, more := "", true; more; {
			p, err := page(cursor)
			require.NoError(t, err)
			require.NotEmpty(t, p.Raw)
			for _, post := range p.Items {
				ids = append(ids, post.ID)
			}
			cursor, more = p.NextCursor, p.HasMore
		}
		return ids
	}
	require.Equal(t, want, read(func(cursor string) (client.PostPage, error) { return ben.Timeline(ctx, cursor, 2) }))
	require.Equal(t, want, read(func(cursor string) (client.PostPage, error) { return ben.AuthorPosts(ctx, "u_1", cursor, 2) }))
	for _, id := range slices.Backward(want) {
		_, err := ben.LikePost(ctx, id)
		require.NoError(t, err)
	}
	require.Equal(t, want, read(func(cursor string) (client.PostPage, error) { return ben.Likes(ctx, cursor, 2) }))
	for _, id := range []string{want[2], want[1], want[0], "story"} {
		_, err := ben.Mute(ctx, "u_2", client.MutedItems, id)
		require.NoError(t, err)
	}
	hidden, err := ben.MutedItems(ctx, client.Caller, "", 2)
	require.NoError(t, err)
	require.Len(t, hidden.Items, 2)
	require.Equal(t, client.MutedItem{ID: "story"}, hidden.Items[0])
	require.Equal(t, want[0], hidden.Items[1].ID)
	require.Equal(t, "Rain", hidden.Items[1].Item.Title)
	hidden, err = ben.MutedItems(ctx, "u_2", hidden.NextCursor, 2)
	require.NoError(t, err)
	require.Equal(t, want[2], hidden.Items[1].ID)
	require.Empty(t, hidden.NextCursor)
	tiles, err := ben.AuthorGrid(ctx, "u_1", "", 0)
	require.NoError(t, err)
	require.Len(t, tiles.Items, 3)
	require.Equal(t, want[0], tiles.Items[0].ID)

	author, err := ben.Author(ctx, "u_1")
	require.NoError(t, err)
	require.Equal(t, client.Author{Author: social.Author{ID: "u_1"}, Posts: 3, Followers: 1, IsFollowing: true}, author)
	_, err = admin.Follow(ctx, "u_2", "u_10")
	require.NoError(t, err)
	list, err := ben.Following(ctx, "u_2", "", 1)
	require.NoError(t, err)
	require.Equal(t, []string{"u_1"}, list.Agents)
	require.Equal(t, "u_1", list.Cards[0].ID)
	require.True(t, list.Cards[0].IsFollowing)
	list, err = ben.Following(ctx, "u_2", *list.NextAfter, 1)
	require.NoError(t, err)
	require.Equal(t, []string{"u_10"}, list.Agents)
	cards, err := ben.AuthorCards(ctx, []string{"u_10", "u_1", "unknown"})
	require.NoError(t, err)
	require.Equal(t, []string{"u_10", "u_1", "unknown"}, []string{cards[0].ID, cards[1].ID, cards[2].ID})
	require.Equal(t, []bool{true, true, false}, []bool{cards[0].IsFollowing, cards[1].IsFollowing, cards[2].IsFollowing})
	list, err = ana.Followers(ctx, "u_1", "", 0)
	require.NoError(t, err)
	require.Equal(t, []string{"u_2"}, list.Agents)

	changed, err = ana.Block(ctx, "u_1", "u_2")
	require.NoError(t, err)
	require.True(t, changed)
	_, err = ben.Follow(ctx, "u_2", "u_1")
	require.ErrorIs(t, err, client.ErrForbidden)
	require.Empty(t, read(func(cursor string) (client.PostPage, error) { return ben.Timeline(ctx, cursor, 2) }))
	_, err = ana.Unblock(ctx, "u_1", "u_2")
	require.NoError(t, err)
	changed, err = ben.Unfollow(ctx, "u_2", "u_1")
	require.NoError(t, err)
	require.False(t, changed, "the block has ended it")

	require.NoError(t, ana.DeleteAuthor(ctx, "u_1"))
	require.NoError(t, ana.DeleteAgent(ctx, "u_1"))
	_, err = ben.Post(ctx, want[0])
	require.ErrorIs(t, err, client.ErrNotFound)
}

// A group has a page; its owner removes posts, and the author of a post removes replies.
func TestGroupsOnRealServer(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	ana, admin := newPair(t, asShipped)
	ben := ana.As("u_2")
	_, err := ana.PutCircle(ctx, "rowers", client.CircleChange{Name: "Rowers", CircleTerms: social.CircleTerms{Kind: social.KindGroup, History: social.HistoryAll}})
	require.NoError(t, err)
	_, err = ana.Invite(ctx, "rowers", "u_2")
	require.NoError(t, err)
	_, err = ben.AddMember(ctx, "rowers", "u_2")
	require.NoError(t, err)
	publish := func(by *client.Client, p client.NewPost) string {
		t.Helper()
		p.Caption = "Rain"
		if p.ReplyTo == "" {
			p.Audience = &client.Audience{Circles: []string{"rowers"}}
		}
		post, err := by.CreatePost(ctx, p)
		require.NoError(t, err)
		return post.ID
	}
	post, mine := publish(ben, client.NewPost{}), publish(ana, client.NewPost{})
	reply, other := publish(ben, client.NewPost{ReplyTo: mine}), publish(ben, client.NewPost{ReplyTo: mine})
	page, err := ana.CirclePosts(ctx, "rowers", "", 0)
	require.NoError(t, err)
	require.Len(t, page.Items, 2)
	require.Equal(t, []client.CircleRef{{ID: "rowers", Name: "Rowers"}}, page.Items[0].InFeed.Circles)
	tiles, err := ben.CircleGrid(ctx, "rowers", "", 1)
	require.NoError(t, err)
	require.True(t, tiles.HasMore)
	list, err := ben.Circles(ctx, "joined", "", 0)
	require.NoError(t, err)
	require.Equal(t, page.Items[0].CreatedAt, list.Circles[0].NewestPostAt)

	require.NoError(t, ana.RemovePost(ctx, post, "rowers", "off topic"))
	require.NoError(t, ana.DeletePost(ctx, reply))
	require.NoError(t, admin.RemovePost(ctx, other, "", "rude"))
	for id, by := range map[string]string{post: social.ByGroupOwner, reply: social.ByPostAuthor, other: social.ByAdmin} {
		_, err := ana.Post(ctx, id)
		require.ErrorIs(t, err, client.ErrNotFound)
		p, err := ben.Post(ctx, id)
		require.NoError(t, err)
		require.Equal(t, by, p.InFeed.Removed[0].By)
	}
	require.ErrorIs(t, ben.RemovePost(ctx, mine, "", ""), client.ErrForbidden)
	none := social.RightNone
	closed, err := ana.EditPost(ctx, mine, client.PostEdit{Reply: &none})
	require.NoError(t, err)
	require.Equal(t, "none", closed.Reply)
	_, err = ana.CirclePosts(ctx, "never", "", 0)
	require.ErrorIs(t, err, client.ErrNotFound)
}

// A post whose response was lost is published only once.
func TestAnswerLostPublishesOnce(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	h, stop := embedded(asShipped)
	t.Cleanup(stop)
	lossy := &cutting{next: h}
	server := httptest.NewServer(lossy)
	t.Cleanup(server.Close)
	ana := connect(t, server.URL, client.WithAgent("u_1"), client.WithRetries(5, time.Millisecond))
	lossy.drops.Store(2)
	post, err := ana.CreatePost(ctx, client.NewPost{Caption: "Rain"})
	require.NoError(t, err)
	page, err := ana.AuthorPosts(ctx, "u_1", "", 0)
	require.NoError(t, err)
	require.Len(t, page.Items, 1)
	assert.Equal(t, post.ID, page.Items[0].ID)

	once := connect(t, server.URL, client.WithAgent("u_1"))
	_, err = once.CreatePost(ctx, client.NewPost{Caption: "Snow", Key: "k"})
	require.NoError(t, err)
	_, err = once.CreatePost(ctx, client.NewPost{Caption: "Hail", Key: "k"})
	require.ErrorIs(t, err, client.ErrConflict)
}

func TestPromotionsOnRealServer(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	ana, admin := newPair(t, asShipped)
	from := feed.Moment{Time: time.Now().Add(-time.Hour).Truncate(time.Second)}
	until := feed.Moment{Time: from.Add(48 * time.Hour)}
	change := client.PromotionChange{ItemID: "doc/1", From: from, Until: until, Tags: []string{"go"}, Langs: []string{"en"}}
	p, err := admin.PutPromotion(ctx, "a", change)
	require.NoError(t, err)
	want := client.Promotion{Promotion: social.Promotion{
		ID: "a", ItemID: "doc/1", From: from.Unix(), Until: until.Unix(), Weight: 1, Tags: []string{"go"}, Langs: []string{"en"},
	}, Why: "there is no item with this id"}
	require.Equal(t, want, p)
	post, err := ana.CreatePost(ctx, client.NewPost{Caption: "Rain at last"})
	require.NoError(t, err)
	_, err = admin.PutPromotion(ctx, "b", client.PromotionChange{ItemID: post.ID, From: from, Until: until, Weight: 2.5})
	require.NoError(t, err)
	page, err := admin.Promotions(ctx, "", 1)
	require.NoError(t, err)
	require.Equal(t, client.PromotionPage{Promotions: []client.Promotion{want}, NextAfter: new("a")}, page)
	page, err = admin.Promotions(ctx, *page.NextAfter, 0)
	require.NoError(t, err)
	require.Len(t, page.Promotions, 1)
	require.True(t, page.Promotions[0].Runs)
	require.Empty(t, page.NextAfter)
	got, err := admin.Promotion(ctx, "b")
	require.NoError(t, err)
	require.Equal(t, page.Promotions[0], got)
	require.NoError(t, admin.DeletePromotion(ctx, "a"))
	require.ErrorIs(t, admin.DeletePromotion(ctx, "a"), client.ErrNotFound)
	_, err = admin.PutPromotion(ctx, "b", client.PromotionChange{ItemID: "x", From: from, Until: from})
	require.ErrorContains(t, err, "until must be after from")
	_, err = ana.Promotions(ctx, "", 0)
	require.ErrorIs(t, err, client.ErrForbidden)
}
