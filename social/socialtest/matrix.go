package socialtest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/social"
)

// matrix checks every audience, with every right, for every relation, against the rules, and a
// selection against explicit expectations; see named.
func matrix(e *env) {
	m, agents := e.network()
	rights := []social.Right{social.RightPublic, social.RightFollowers, social.RightAudience, social.RightNone}
	audiences := map[string]social.Post{
		"public":               {Audience: public(), Images: []social.Image{{URL: "/media/k1", Thumbnail: "t1", Width: 3, Height: 4, Color: "#112233"}, {URL: "/media/k2"}}},
		"public to a circle":   {Audience: social.Audience{Public: true, Circles: []string{"c1"}}},
		"public, mention":      {Audience: public(), Mentions: []string{"mentioned"}},
		"followers":            {Audience: followers(), Images: []social.Image{{URL: "/media/k3", Thumbnail: "t3"}}},
		"followers, circle":    {Audience: social.Audience{Followers: true, Circles: []string{"c1", "c2"}}},
		"circle":               {Audience: inCircles("c1")},
		"circle, mention":      {Audience: inCircles("c2"), Mentions: []string{"mentioned", "blocked"}},
		"mention":              {Mentions: []string{"mentioned", "follower", "blocker"}},
		"nobody":               {},
		"remote":               {Origin: "elsewhere.example", Audience: public()},
		"remote, public grant": {Origin: "elsewhere.example", Audience: public(), Grants: []string{"granted"}},
		"remote, followers":    {Origin: "elsewhere.example", Audience: followers()},
		"remote, grant":        {Origin: "elsewhere.example", Audience: followers(), Grants: []string{"follower", "granted"}},
		"remote, mention":      {Origin: "elsewhere.example", Mentions: []string{"granted", "stranger"}, Grants: []string{"granted"}},
		"remote, lost circle":  {Origin: "elsewhere.example", Audience: inCircles("c1")},
	}
	ids := map[string]string{}
	for name, p := range audiences {
		for _, right := range rights {
			p.Author, p.Caption, p.Reply, p.React = "author", "a post for "+name, right, right
			got := e.create(p)
			e.pass(time.Second)
			m.addPost(&got)
			ids[name+" "+string(right)] = got.ID
			deleted := e.create(p)
			e.ok(e.DeletePost(e.ctx, deleted.ID, "", here))
			tombstone := e.row(deleted.ID)
			m.posts[deleted.ID] = &tombstone
		}
	}
	e.check(m, agents)
	e.named(ids)
	must[bool](e)(e.SetDelivery(e.ctx, "author", social.Push, social.Both))
	m.delivery["author"] = social.Both
	e.check(m, agents)
	must[bool](e)(e.SetDelivery(e.ctx, "author", social.Both, social.Pull))
	m.delivery["author"] = social.Pull
	e.check(m, agents)
}

// network creates one author, and agents with every relation to them.
func (e *env) network() (*model, []string) {
	m := newModel()
	agents := []string{
		"author", "follower", "former-follower", "member", "former-member", "member-of-two", "mentioned",
		"blocked", "blocker", "former-blocked", "server-follower", "both", "granted", "stranger", "other",
	}
	for _, agent := range []string{"follower", "former-follower", "blocked", "blocker", "former-blocked", "both"} {
		e.follow(agent, "author")
	}
	for _, agent := range []string{"follower", "both"} {
		m.follows[[2]string{agent, "author"}] = true
	}
	for _, agent := range []string{"server-follower", "both", "blocked"} {
		e.follow(agent, social.Server)
		m.follows[[2]string{agent, social.Server}] = true
	}
	e.unfollow("former-follower", "author")
	e.putCircle("c1", "author", "member", "former-member", "member-of-two", "blocked", "both")
	e.putCircle("c2", "author", "member-of-two", "blocker")
	must[bool](e)(e.RemoveMember(e.ctx, "c1", "former-member", "author", here))
	m.circles["c1"] = &modelCircle{owner: "author", members: set("member", "member-of-two", "blocked", "both")}
	m.circles["c2"] = &modelCircle{owner: "author", members: set("member-of-two", "blocker")}
	// A circle of another owner with the same members grants nothing.
	e.putCircle("c3", "other", "stranger")
	m.circles["c3"] = &modelCircle{owner: "other", members: set("stranger")}
	e.block("author", "blocked")
	e.block("blocker", "author")
	e.block("author", "former-blocked")
	must[bool](e)(e.Unblock(e.ctx, "author", "former-blocked"))
	m.blocks[[2]string{"author", "blocked"}] = true
	m.blocks[[2]string{"blocker", "author"}] = true
	return m, agents
}

func set(ids ...string) map[string]bool {
	out := map[string]bool{}
	for _, id := range ids {
		out[id] = true
	}
	return out
}

// named checks cards against explicit expectations instead of the rules.
func (e *env) named(ids map[string]string) {
	e.Helper()
	for _, c := range []struct {
		reader, post string
		visible      bool
		reason       social.Reason
		may          bool
	}{
		{"author", "circle public", true, social.Self, true},
		{"author", "nobody none", true, social.Self, false},
		{"author", "nobody audience", true, social.Self, true},
		{"author", "nobody followers", true, social.Self, true},
		{"author", "public audience", true, social.Self, true},
		{"author", "followers followers", true, social.Self, true},
		{"author", "circle audience", true, social.Self, true},
		{"author", "circle followers", true, social.Self, true},
		{"author", "remote audience", true, social.NoReason, false},
		{"follower", "followers audience", true, social.Follow, true},
		{"follower", "public audience", true, social.Follow, true},
		{"follower", "mention audience", true, social.Mention, true},
		{"follower", "followers, circle audience", true, social.Follow, false},
		{"follower", "public to a circle audience", true, social.Follow, false},
		{"author", "remote public", true, social.NoReason, true},
		{"author", "remote, followers public", false, social.NoReason, false},
		{"follower", "public followers", true, social.Follow, true},
		{"follower", "followers public", true, social.Follow, true},
		{"follower", "circle public", false, social.NoReason, false},
		{"follower", "mention public", true, social.Mention, true},
		{"follower", "remote, grant audience", true, social.Follow, true},
		{"follower", "remote, followers audience", true, social.Follow, false},
		{"former-follower", "public followers", true, social.NoReason, false},
		{"former-follower", "followers public", false, social.NoReason, false},
		{"both", "public public", true, social.Follow, true},
		{"both", "followers, circle audience", true, social.Follow, true},
		{"both", "circle audience", true, social.Member, true},
		{"server-follower", "public public", true, social.Domain, true},
		{"server-follower", "public followers", true, social.Domain, false},
		{"server-follower", "followers public", false, social.NoReason, false},
		{"member", "circle audience", true, social.Member, true},
		{"member", "public to a circle followers", true, social.Member, false},
		{"member", "remote, lost circle public", false, social.NoReason, false},
		{"former-member", "circle public", false, social.NoReason, false},
		{"former-member", "public to a circle public", true, social.NoReason, true},
		{"mentioned", "mention audience", true, social.Mention, true},
		{"mentioned", "public, mention audience", true, social.Mention, true},
		{"mentioned", "circle, mention audience", true, social.Mention, false},
		{"blocked", "public public", false, social.NoReason, false},
		{"blocked", "circle, mention public", false, social.NoReason, false},
		{"blocker", "mention public", false, social.NoReason, false},
		{"former-blocked", "public public", true, social.NoReason, true},
		{"granted", "remote, mention audience", true, social.Mention, true},
		{"stranger", "remote, mention audience", true, social.Mention, false},
		{"stranger", "public public", true, social.NoReason, true},
		{"stranger", "public audience", true, social.NoReason, true},
		{"stranger", "public to a circle audience", true, social.NoReason, false},
		{"stranger", "followers public", false, social.NoReason, false},
		{"stranger", "followers audience", false, social.NoReason, false},
		{"", "public public", true, social.NoReason, true},
		{"", "followers public", false, social.NoReason, false},
		{"", "mention public", false, social.NoReason, false},
	} {
		got := e.card(c.reader, ids[c.post])
		require.Equal(e, c.visible, got.Visible, "%q sees %s", c.reader, c.post)
		require.Equal(e, c.reason, got.Reason, "reason that %q sees %s", c.reader, c.post)
		require.Equal(e, c.may, got.CanReply, "%q may reply to %s", c.reader, c.post)
		require.Equal(e, c.may, got.CanReact, "%q may react to %s", c.reader, c.post)
	}
	outsider := e.card("mentioned", ids["circle, mention public"])
	require.True(e, outsider.Visible && outsider.CanReact, "a mention outside of the circle")
	require.False(e, outsider.Replies || outsider.CanReply, "a mention outside of the circle")
}
