package social_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
)

func TestDecide(t *testing.T) {
	public, followers := social.Audience{Public: true}, social.Audience{Followers: true}
	circle := social.Audience{Circles: []string{"c"}}
	everything := social.Relation{Reader: "r", Follows: true, FollowsServer: true, Member: true, Mentioned: true, Granted: true}
	for _, tc := range []struct {
		name     string
		audience social.Audience
		origin   string
		rel      social.Relation
		visible  bool
		reason   social.Reason
		listed   bool
	}{
		{"everything, public", public, "", everything, true, social.Follow, true},
		{"everything, to a circle", circle, "", everything, true, social.Member, true},
		{"everything, remote circle", circle, "x", everything, true, social.Mention, true},
		{"own", social.Audience{}, "", social.Relation{Reader: "author"}, true, social.Self, true},
		{"own but remote", social.Audience{}, "x", social.Relation{Reader: "author"}, false, social.NoReason, false},
		{"own but remote, mentioned", social.Audience{}, "x", social.Relation{Reader: "author", Mentioned: true}, true, social.Mention, true},
		{"follower of a pulled author", followers, "", social.Relation{Reader: "r", Follows: true, Pulled: true}, true, social.Follow, false},
		{"who is mentioned, too", followers, "", social.Relation{Reader: "r", Follows: true, Pulled: true, Mentioned: true}, true, social.Follow, true},
		{"by the server", public, "", social.Relation{Reader: "r", FollowsServer: true}, true, social.Domain, false},
		{"by the server, not public", followers, "", social.Relation{Reader: "r", FollowsServer: true}, false, social.NoReason, false},
		{"by the server before the circle", public, "", social.Relation{Reader: "r", FollowsServer: true, Member: true}, true, social.Domain, true},
		{"a muted group", circle, "", social.Relation{Reader: "r", Member: true, Muted: true}, true, social.NoReason, false},
		{"a muted group of a follower", social.Audience{Followers: true, Circles: []string{"c"}}, "", social.Relation{Reader: "r", Member: true, Muted: true, Follows: true}, true, social.Follow, true},
		{"a muted group, mentioned", circle, "", social.Relation{Reader: "r", Member: true, Muted: true, Mentioned: true}, true, social.Mention, true},
		{"stranger, public", public, "", social.Relation{Reader: "r"}, true, social.NoReason, false},
		{"stranger, followers", followers, "", social.Relation{Reader: "r"}, false, social.NoReason, false},
		{"follower, to a circle", circle, "", social.Relation{Reader: "r", Follows: true}, false, social.NoReason, false},
		{"blocked", public, "", social.Relation{Reader: "r", Follows: true, Mentioned: true, Blocked: true}, false, social.NoReason, false},
		{"nobody, public", public, "", social.Relation{}, true, social.NoReason, false},
		{"nobody cannot be mentioned", followers, "", social.Relation{Follows: true, Mentioned: true, Member: true}, false, social.NoReason, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := &social.Post{Author: "author", Audience: tc.audience, Origin: tc.origin, Reply: social.RightNone, React: social.RightPublic}
			d := social.Decide(p, tc.rel)
			d.Replies, d.Subscribed = false, false // see TestDecideReplies and TestDecideSubscribed
			require.Equal(t, social.Decision{Visible: tc.visible, Reason: tc.reason, Listed: tc.listed, CanReact: tc.visible}, d)
			p.Deleted = true
			require.Equal(t, social.Decision{}, social.Decide(p, tc.rel), "a tombstone is for nobody")
		})
	}
}

// TestDecideSubscribed checks that following the server and being mentioned are no choice of an author or a group.
func TestDecideSubscribed(t *testing.T) {
	p := &social.Post{Author: "author", Audience: social.Audience{Public: true, Circles: []string{"c"}}}
	for name, tc := range map[string]struct {
		rel  social.Relation
		want bool
	}{
		"the author":                {social.Relation{Reader: "author"}, true},
		"a follower":                {social.Relation{Reader: "r", Follows: true}, true},
		"of a pulled author":        {social.Relation{Reader: "r", Follows: true, Pulled: true}, true},
		"a member":                  {social.Relation{Reader: "r", Member: true}, true},
		"a member, by the server":   {social.Relation{Reader: "r", Member: true, FollowsServer: true}, true},
		"a member who has muted it": {social.Relation{Reader: "r", Member: true, Muted: true}, false},
		"whom it mentions":          {social.Relation{Reader: "r", Mentioned: true}, false},
		"by the server":             {social.Relation{Reader: "r", FollowsServer: true}, false},
		"a stranger":                {social.Relation{Reader: "r"}, false},
		"nobody":                    {social.Relation{Follows: true, Member: true}, false},
		"a follower across a block": {social.Relation{Reader: "r", Follows: true, Blocked: true}, false},
	} {
		require.Equal(t, tc.want, social.Decide(p, tc.rel).Subscribed, name)
	}
	require.True(t, social.Decide(&social.Post{Author: "author", Removed: true}, social.Relation{Reader: "author"}).Subscribed)
}

// TestDecideReplies checks who sees replies, by the audience of the root post and the relation to it.
func TestDecideReplies(t *testing.T) {
	public, followers, circle := social.Audience{Public: true}, social.Audience{Followers: true}, social.Audience{Circles: []string{"c"}}
	both := social.Audience{Followers: true, Circles: []string{"c"}}
	r, author := social.Relation{Reader: "r"}, social.Relation{Reader: "author"}
	of := func(rel social.Relation, change func(*social.Relation)) social.Relation {
		change(&rel)
		return rel
	}
	follows := of(r, func(r *social.Relation) { r.Follows = true })
	member := of(r, func(r *social.Relation) { r.Member = true })
	mentioned := of(r, func(r *social.Relation) { r.Mentioned = true })
	blocked := of(member, func(r *social.Relation) { r.Blocked, r.Follows = true, true })
	granted := of(mentioned, func(r *social.Relation) { r.Granted = true })
	for _, tc := range []struct {
		name             string
		root             social.Post
		rel              social.Relation
		visible, replies bool
	}{
		{"everybody", social.Post{Audience: public}, r, true, true},
		{"a guest", social.Post{Audience: public}, social.Relation{}, true, true},
		{"a guest of followers", social.Post{Audience: followers}, social.Relation{}, false, false},
		{"a follower", social.Post{Audience: followers}, follows, true, true},
		{"a stranger to followers", social.Post{Audience: followers}, r, false, false},
		{"a member", social.Post{Audience: circle}, member, true, true},
		{"a follower, of a circle", social.Post{Audience: circle}, follows, false, false},
		{"a follower, of both", social.Post{Audience: both}, follows, true, true},
		{"a member, of both", social.Post{Audience: both}, member, true, true},
		{"mentioned, of nobody else", social.Post{}, mentioned, true, true},
		{"mentioned, of followers", social.Post{Audience: followers}, mentioned, true, true},
		{"mentioned, of a circle", social.Post{Audience: circle}, mentioned, true, false},
		{"mentioned, of both", social.Post{Audience: both}, mentioned, true, false},
		{"mentioned, of a circle that is gone", social.Post{Closed: true}, mentioned, true, false},
		{"mentioned, of a public post to a circle, too", social.Post{Audience: social.Audience{Public: true, Circles: []string{"c"}}}, mentioned, true, true},
		{"mentioned, of another host", social.Post{Origin: "x"}, mentioned, true, true},
		{"mentioned, of another host's circle", social.Post{Origin: "x", Grants: []string{"z"}}, mentioned, true, false},
		{"granted, of another host's circle", social.Post{Origin: "x", Grants: []string{"r"}}, granted, true, true},
		{"granted and hidden", social.Post{Origin: "x", Grants: []string{"r"}}, of(r, func(r *social.Relation) { r.Granted = true }), false, false},
		{"the author, of mentions", social.Post{}, author, true, true},
		{"the author, of followers", social.Post{Audience: followers}, author, true, true},
		{"the author, of both", social.Post{Audience: both}, author, true, true},
		{"the author, of their circle", social.Post{Audience: circle}, of(author, func(r *social.Relation) { r.OwnCircle = true }), true, true},
		{"the author, of a group", social.Post{Audience: circle}, of(author, func(r *social.Relation) { r.Member = true }), true, true},
		{"the author, of a group they left", social.Post{Audience: circle}, author, true, false},
		{"the author, of a group that is gone", social.Post{Closed: true}, author, true, false},
		{"across a block", social.Post{Audience: both}, blocked, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.root.Author, tc.root.Reply, tc.root.React = "author", social.RightPublic, social.RightPublic
			root := social.Decide(&tc.root, tc.rel)
			require.Equal(t, tc.visible, root.Visible)
			require.Equal(t, tc.replies, root.Replies)
			require.Equal(t, tc.replies, root.CanReply, "who does not see replies makes none")
			require.Equal(t, tc.visible, root.CanReact)

			reply := social.Post{Author: "other", Root: "post:root", React: social.RightPublic}
			rel := social.Relation{Reader: tc.rel.Reader, RootExists: true, Root: root}
			require.Equal(t, social.Decision{Visible: tc.replies, CanReply: tc.replies, CanReact: tc.replies}, social.Decide(&reply, rel), "another's")
			reply.Author = tc.rel.Reader
			if reply.Author != "" {
				require.Equal(t, social.Decision{Visible: true, CanReply: tc.replies, CanReact: true}, social.Decide(&reply, rel), "one's own")
			}
			rel.Blocked = true
			require.Equal(t, social.Decision{}, social.Decide(&reply, rel), "across a block")
			require.Equal(t, social.Decision{}, social.Decide(&reply, social.Relation{Reader: tc.rel.Reader}), "the root is deleted")
		})
	}
}

func TestRights(t *testing.T) {
	for _, tc := range []struct {
		right  social.Right
		origin string
		rel    social.Relation
		may    bool
	}{
		{social.RightPublic, "", social.Relation{Reader: "r"}, true},
		{social.RightPublic, "", social.Relation{}, true},
		{social.RightNone, "", social.Relation{Reader: "author"}, false},
		{social.RightFollowers, "", social.Relation{Reader: "r", Follows: true}, true},
		{social.RightFollowers, "", social.Relation{Reader: "r", Member: true}, false},
		{social.RightAudience, "", social.Relation{Reader: "r", Member: true}, true},
		{social.RightAudience, "", social.Relation{Reader: "r", Follows: true, Granted: true, Mentioned: true}, false},
		{social.RightAudience, "x", social.Relation{Reader: "r", Granted: true}, true},
		{social.RightAudience, "x", social.Relation{Reader: "r", Member: true}, false},
		{social.RightPublic, "", social.Relation{Reader: "author"}, true},
		{social.RightFollowers, "", social.Relation{Reader: "author"}, true},
		{social.RightAudience, "", social.Relation{Reader: "author"}, true},
		{social.RightFollowers, "x", social.Relation{Reader: "author"}, false}, // the author of another host has this name
		{social.RightAudience, "x", social.Relation{Reader: "author"}, false},
		{"", "", social.Relation{Reader: "r", Follows: true, Member: true}, false},
	} {
		p := &social.Post{Author: "author", Audience: social.Audience{Public: true}, Origin: tc.origin, Reply: tc.right, React: social.RightNone}
		d := social.Decide(p, tc.rel)
		require.Equal(t, tc.may, d.CanReply, "%+v", tc)
		require.False(t, d.CanReact)
		p.Reply, p.React = p.React, p.Reply
		require.Equal(t, tc.may, social.Decide(p, tc.rel).CanReact, "%+v", tc)
	}
}

func TestPosition(t *testing.T) {
	a, b, c := social.Position{At: 1, ID: "post:b"}, social.Position{At: 2, ID: "post:a"}, social.Position{At: 2, ID: "post:ab"}
	require.Negative(t, a.Compare(b))
	require.Negative(t, b.Compare(c), "at equal times by the bytes of the id")
	require.True(t, a.Below(social.Position{}))
	require.True(t, a.Below(b))
	require.False(t, b.Below(b))
	require.Positive(t, social.Position{At: 1, ID: "post:a"}.Compare(social.Position{At: 1, ID: "post:_"}))
	require.Negative(t, social.Position{At: 1, ID: "post:B"}.Compare(social.Position{At: 1, ID: "post:a"}))
}

func TestCelebrityWants(t *testing.T) {
	o := social.Options{}.WithDefaults()
	for _, tc := range []struct {
		followers int64
		is, want  social.Delivery
	}{
		{999, social.Push, social.Push},
		{1000, social.Push, social.Pull},
		{1000, social.Both, social.Pull},
		{900, social.Pull, social.Pull},
		{900, social.Push, social.Push},
		{899, social.Pull, social.Push},
		{899, social.Both, social.Push},
	} {
		require.Equal(t, tc.want, social.Celebrity{Followers: tc.followers, Delivery: tc.is}.Wants(o), "%+v", tc)
	}
	require.Equal(t, 10, social.Options{CelebrityAt: 10}.WithDefaults().CelebrityUntil)
}
