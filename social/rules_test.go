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
		{"stranger, public", public, "", social.Relation{Reader: "r"}, true, social.NoReason, false},
		{"stranger, followers", followers, "", social.Relation{Reader: "r"}, false, social.NoReason, false},
		{"follower, to a circle", circle, "", social.Relation{Reader: "r", Follows: true}, false, social.NoReason, false},
		{"blocked", public, "", social.Relation{Reader: "r", Follows: true, Mentioned: true, Blocked: true}, false, social.NoReason, false},
		{"nobody, public", public, "", social.Relation{}, true, social.NoReason, false},
		{"nobody cannot be mentioned", followers, "", social.Relation{Follows: true, Mentioned: true, Member: true}, false, social.NoReason, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := &social.Post{Author: "author", Audience: tc.audience, Origin: tc.origin, Reply: social.RightNone, React: social.RightPublic}
			require.Equal(t, social.Decision{Visible: tc.visible, Reason: tc.reason, Listed: tc.listed, CanReact: tc.visible}, social.Decide(p, tc.rel))
			p.Deleted = true
			require.Equal(t, social.Decision{}, social.Decide(p, tc.rel), "a tombstone is for nobody")
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
