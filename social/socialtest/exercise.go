package socialtest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
)

// Exercise calls every method of a backend at least once, on data that gives it work to do, so that
// a test can inspect the statements that were run.
func Exercise(t *testing.T, s Backend) {
	t.Helper()
	ctx := t.Context()
	exerciseChanges(t, s)
	caption := "y"
	for _, err := range []error{
		second(s.PutCircle(ctx, social.Circle{ID: "c", Owner: "a"}, []string{"b", "d"}, here)),
		s.PutAuthor(ctx, social.Author{ID: "a", Name: "A"}, here),
		second(s.Follow(ctx, "b", "a", here)), third(s.FollowAll(ctx, []social.Edge{{Agent: "b", Author: "f"}, {Agent: "e", Author: "f"}}, here)), second(s.Unfollow(ctx, "b", "x", here)), second(s.Block(ctx, "x", "a")), second(s.Unblock(ctx, "x", "a")),
		second(s.AddMember(ctx, "c", "e", "a", here)), second(s.RemoveMember(ctx, "c", "e", "a", here)),
	} {
		require.NoError(t, err)
	}
	audience := social.Audience{Public: true, Circles: []string{"c"}}
	p, _, err := s.CreatePost(ctx, social.Post{Author: "a", Caption: "x", Audience: audience, Mentions: []string{"m"}}, social.Creation{Key: "k"})
	require.NoError(t, err)
	_, _, err = s.CreatePost(ctx, social.Post{Author: "a", Caption: "x", Audience: audience, Mentions: []string{"m"}}, social.Creation{Key: "k"})
	require.NoError(t, err)
	_, _, err = s.Like(ctx, "b", p.ID)
	require.NoError(t, err)
	_, _, err = s.Unlike(ctx, "b", p.ID)
	require.NoError(t, err)
	exerciseAgain(t, s)
	exerciseReplies(t, s, p.ID)
	exerciseNotifications(t, s, p.ID)
	exerciseNarrow(t, s)
	exerciseGroups(t, s)
	_, err = s.Celebrities(ctx, "b")
	require.NoError(t, err)
	_, err = s.Affinities(ctx, "b", here)
	require.NoError(t, err)
	for _, err := range []error{
		second(s.EditPost(ctx, p.ID, "a", social.Edit{Caption: &caption}, here)), s.SetCounts(ctx, p.ID, social.Counts{Likes: 1}, here),
		second(s.Cards(ctx, "b", []social.PostVersion{{ID: p.ID}})), second(s.ListStatuses(ctx, "b", []string{p.ID})), second(s.PostsByID(ctx, []string{p.ID})), second(s.PostStates(ctx, []string{p.ID})),
		second(s.CardsOf(ctx, []social.Asked{{Reader: "b", ID: p.ID}})), second(s.CelebritiesOf(ctx, []string{"b", "e"})), second(s.NewestPublic(ctx, 5)), third(s.Late(ctx, 1, 5)),
		second(s.Pull(ctx, social.PullQuery{Reader: "b", N: 5, Whole: true})), second(s.Grid(ctx, "b", "a", social.Position{}, 5)),
		second(s.PairEntries(ctx, "a", "a", social.Position{}, 5)), second(s.MemberEntries(ctx, "c", "b", social.Position{}, 5)),
		second(s.Receivers(ctx, []social.ReceiverPage{{Post: p.ID}}, 5)), second(s.Author(ctx, "b", "a")), second(s.AgentCards(ctx, "b", []string{"a"})), second(s.Celebrity(ctx, "a")),
		second(s.SetDelivery(ctx, "a", social.Push, social.Both)), second(s.Following(ctx, "b", "", "", 5)), second(s.Blocked(ctx, "b", "", 5)), second(s.Followers(ctx, "a", "", "", 5)),
		second(s.Unsuggestable(ctx, "b", []string{"a"}, here)),
		second(s.Friends(ctx, "b", "", 5)), second(s.NewestAuthors(ctx, "b", []string{"x"}, 5)),
		third(s.Suggested(ctx, "b")), s.KeepSuggested(ctx, "b", nil, time.Unix(1_700_000_000, 0)), second(s.Members(ctx, "c", "", "", 5)), second(s.Circle(ctx, "c")), s.Ping(ctx),
		s.ReserveFiles(ctx, "post:none", []string{"k"}), s.ReserveFiles(ctx, social.AvatarOwner("a", avatarKeys[0]), avatarKeys[:1]), second(s.PutAvatar(ctx, "a", avatarKeys[0])), second(s.UnusedFiles(ctx, "post:none")), s.DropFiles(ctx, []string{"k"}),
		s.EraseAgent(ctx, "a"), second(s.ErasedAgents(ctx, 0, "", 5)), third(s.LastErasure(ctx, "a")), second(s.EraseSome(ctx, "a", 1000, nil)), second(s.Purge(ctx, 5)), third(s.PublicPosts(ctx, "", 5)), exerciseQueue(ctx, s),
	} {
		require.NoError(t, err)
	}
	_, err = s.FileOwner(ctx, "k")
	require.ErrorIs(t, err, feed.ErrNotFound)
	// A whole timeline has every source.
	_, err = s.Follow(ctx, "b", social.Server, here)
	require.NoError(t, err)
	_, err = s.Pull(ctx, social.PullQuery{Reader: "b", N: 5, Whole: true})
	require.NoError(t, err)
}

// exerciseGroups creates a group, in which agents are invited, join, decline, leave and mute, and
// erases its owner.
func exerciseGroups(t *testing.T, s Backend) {
	t.Helper()
	ctx := t.Context()
	for _, err := range []error{
		second(s.ChangeCircle(ctx, "gr", "go", social.CircleChange{CircleTerms: social.CircleTerms{Kind: social.KindGroup}})),
		second(s.Invite(ctx, "gr", "gi", "go")), second(s.Invite(ctx, "gr", "gj", "go")), second(s.Invited(ctx, "gr", "go", "", 5)), second(s.Withdraw(ctx, "gr", "gj", "gj")),
		second(s.AddMember(ctx, "gr", "gi", "gi", here)), second(s.AddMember(ctx, "gr", "gl", "", here)), second(s.RemoveMember(ctx, "gr", "gl", "gl", here)),
		second(s.Mute(ctx, "gi", social.MuteCircle, "gr", here)), second(s.Muted(ctx, "gi", social.MuteCircle, "", 5)), third(s.CircleFor(ctx, "gr", "gi")),
		second(s.PatchCircle(ctx, "gr", "go", owned("gi"))), second(s.Unmute(ctx, "gi", social.MuteCircle, "gr")), second(s.PatchAuthor(ctx, "gi", noChange)),
		s.EraseAgent(ctx, "gi"), second(s.EraseSome(ctx, "gi", 1000, nil)),
	} {
		require.NoError(t, err)
	}
	for _, role := range []social.Role{social.RoleOwner, social.RoleMember, social.RoleInvited} {
		_, err := s.CirclesOf(ctx, "go", role, "", 5)
		require.NoError(t, err)
	}
}

func noChange(a social.Author) (social.Author, error) { return a, nil }

// exerciseReplies replies to a post, and deletes one of the replies.
func exerciseReplies(t *testing.T, s Backend, root string) {
	t.Helper()
	ctx := t.Context()
	for range 2 {
		p, _, err := s.CreatePost(ctx, social.Post{Author: "b", Caption: "x", ReplyTo: root, Mentions: []string{"m", "a"}}, social.Creation{})
		require.NoError(t, err)
		for _, err := range []error{
			third(s.CreatePost(ctx, social.Post{Author: "a", Caption: "x", ReplyTo: p.ID}, social.Creation{})),
			second(s.Replies(ctx, social.RepliesQuery{Post: root, N: 5})), second(s.Replies(ctx, social.RepliesQuery{Post: root, N: 5, Oldest: true})),
			second(s.Cards(ctx, "b", []social.PostVersion{{ID: p.ID}})), second(s.Grid(ctx, "b", "b", social.Position{}, 5)), third(s.Like(ctx, "a", p.ID)),
		} {
			require.NoError(t, err)
		}
		root = p.ID
	}
	require.NoError(t, s.DeletePost(ctx, root, "b", here))
}

// exerciseNarrow reports a post with replies again, and has its group removed.
func exerciseNarrow(t *testing.T, s Backend) {
	t.Helper()
	ctx, at := t.Context(), time.Unix(1_700_000_000, 0)
	p := social.Post{ID: "post:narrow", Author: "h", CreatedAt: at.Unix(), Caption: "x", Audience: inCircles("g", "c"), Mentions: []string{"m"}}
	group := social.Circle{ID: "g", Owner: "h", CircleTerms: social.CircleTerms{Kind: social.KindGroup}}
	for _, err := range []error{
		second(s.PutCircle(ctx, group, nil, at.Add(-time.Hour))), third(s.CreatePost(ctx, p, social.Creation{At: at})),
		third(s.CreatePost(ctx, social.Post{Author: "h", Caption: "x", ReplyTo: p.ID}, social.Creation{})),
		second(s.Replies(ctx, social.RepliesQuery{Reader: "m", Post: p.ID, N: 5, Own: true})),
		second(s.Replies(ctx, social.RepliesQuery{Reader: "m", Post: p.ID, N: 5, Own: true, Oldest: true})),
		second(s.Grid(ctx, "h", "h", social.Position{}, 5)),
	} {
		require.NoError(t, err)
	}
	p.Audience.Circles = p.Audience.Circles[:1]
	require.NoError(t, third(s.CreatePost(ctx, p, social.Creation{At: at.Add(time.Second)})))
	p.Audience.Circles = nil
	require.NoError(t, third(s.CreatePost(ctx, p, social.Creation{At: at.Add(2 * time.Second)})))
}

// exerciseAgain creates a post again under the same id, with events in order and out of order.
func exerciseAgain(t *testing.T, s Backend) {
	t.Helper()
	ctx, at := t.Context(), time.Unix(1_700_000_000, 0)
	create := func(at time.Time) error {
		p := social.Post{ID: "post:again", Author: "g", CreatedAt: at.Unix(), Caption: "x", Audience: public()}
		return third(s.CreatePost(ctx, p, social.Creation{At: at}))
	}
	for _, err := range []error{
		create(at), third(s.Like(ctx, "h", "post:again")), s.DeletePost(ctx, "post:again", "", at.Add(time.Second)), create(at.Add(3 * time.Second)),
		s.DeletePost(ctx, "post:again", "", at.Add(2*time.Second)), second(s.Purge(ctx, 5)),
	} {
		require.NoError(t, err)
	}
}

// exerciseQueue calls the methods of the queue.
func exerciseQueue(ctx context.Context, s Backend) error {
	list, err := s.Lease(ctx, 3, time.Minute)
	if err != nil {
		return err
	}
	_, failErr := s.Fail(ctx, list[0], jobs.Failure{})
	for _, err := range []error{
		failErr, second(s.Renew(ctx, time.Minute, list[1])), second(s.Done(ctx, list[1])), s.Release(ctx, list[2]),
		second(s.LeaseKey(ctx, list[2].Kind, list[2].Key, time.Minute)), second(s.Reenqueue(ctx, time.Unix(1, 0), jobs.Kinds()...)),
		second(s.List(ctx, jobs.Filter{})), s.Retry(ctx, list[0].ID), s.Drop(ctx, list[0].ID), second(s.Stats(ctx)), second(s.Ages(ctx)), second(s.ReleaseUnknown(ctx)), second(s.Sweep(ctx, 5)),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// exerciseChanges reads pages of changes.
func exerciseChanges(t *testing.T, s Backend) {
	t.Helper()
	ctx := t.Context()
	for _, author := range []string{"c1", "c2", "c3"} {
		_, err := s.Follow(ctx, "c", author, here)
		require.NoError(t, err)
	}
	page, err := s.Changes(ctx, social.FromOldest, nil, 1)
	require.NoError(t, err)
	require.NotEmpty(t, page.Changes)
	_, err = s.Changes(ctx, page.Next, nil, 1)
	require.NoError(t, err)
}

// exerciseNotifications has an agent read about every kind of act.
func exerciseNotifications(t *testing.T, s Backend, post string) {
	t.Helper()
	ctx := t.Context()
	_, _, err := s.Like(ctx, "b", post)
	require.NoError(t, err)
	_, _, err = s.CreatePost(ctx, social.Post{Author: "b", Caption: "x", ReplyTo: post, Mentions: []string{"a"}}, social.Creation{})
	require.NoError(t, err)
	box, err := s.Notifications(ctx, "a")
	require.NoError(t, err)
	require.NotEmpty(t, box.List)
	_, err = s.InboxStates(ctx, []string{"a", "b"})
	require.NoError(t, err)
	_, err = s.SeeNotifications(ctx, "a", box.Last)
	require.NoError(t, err)
}
