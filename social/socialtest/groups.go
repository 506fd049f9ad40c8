package socialtest

import (
	"fmt"
	"slices"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// group creates a group with some members and lets a second pass.
func (e *env) group(id, owner string, terms social.CircleTerms, members ...string) {
	e.Helper()
	if terms.Kind == "" {
		terms.Kind = social.KindGroup
	}
	c := social.Circle{ID: id, Owner: owner, CircleTerms: terms}
	if terms.Kind == social.KindEvent {
		c.Until = e.now.Add(24 * time.Hour).Unix()
	}
	e.ok(second(e.PutCircle(e.ctx, c, append([]string{}, members...), here)))
	e.pass(time.Second)
}

func (e *env) invited(circle, agent string) {
	e.Helper()
	require.True(e, must[bool](e)(e.Invite(e.ctx, circle, agent, "")))
}

func (e *env) join(circle, agent string) {
	e.Helper()
	require.True(e, must[bool](e)(e.AddMember(e.ctx, circle, agent, agent, here)))
	e.pass(time.Second)
}

func (e *env) leave(circle, agent string) {
	e.Helper()
	require.True(e, must[bool](e)(e.RemoveMember(e.ctx, circle, agent, agent, here)))
}

// sees checks every way to a post of a group: the card, the reader's list, the timeline that is
// pulled without a list, the author's page with its count, and the receivers of the post.
func (e *env) sees(want bool, circle, reader string, p social.Post) {
	e.Helper()
	c := e.card(reader, p.ID)
	require.Equal(e, want, c.Visible, "%s sees %s", reader, p.Caption)
	has := func(list []social.Entry) bool {
		for _, entry := range list {
			if entry.ID == p.ID {
				return true
			}
		}
		return false
	}
	require.Equal(e, want, must[[]social.ListStatus](e)(e.ListStatuses(e.ctx, reader, []string{p.ID}))[0].Listed)
	for _, whole := range []bool{true, false} {
		require.Equal(e, want, has(must[[]social.Entry](e)(e.Pull(e.ctx, social.PullQuery{Reader: reader, N: 50, Whole: whole}))))
	}
	require.Equal(e, want, has(must[[]social.Entry](e)(e.Grid(e.ctx, reader, p.Author, social.Position{}, 50))))
	require.Equal(e, want, has(must[[]social.Entry](e)(e.PairEntries(e.ctx, p.Author, reader, social.Position{}, 50))))
	if reader != p.Author {
		require.Equal(e, want, has(must[[]social.Entry](e)(e.MemberEntries(e.ctx, circle, reader, social.Position{}, 50))))
	}
	delivered := false
	for _, r := range e.receivers(p.ID, "", 1000) {
		delivered = delivered || r.Agent == reader
	}
	require.Equal(e, want, delivered, "%s is delivered to %s", p.Caption, reader)
	if info, err := e.Author(e.ctx, reader, p.Author); err == nil {
		require.Len(e, must[[]social.Entry](e)(e.Grid(e.ctx, reader, p.Author, social.Position{}, 50)), int(info.Posts))
	}
}

func groups(e *env) {
	e.cardsOf("o", "m", "n", "x")
	e.group("g", "o", social.CircleTerms{}, "m")
	require.Equal(e, []string{"m", "o"}, e.list(e.Members, "g"), "the owner is a member")
	first := e.post("o", inCircles("g"))
	byMember := e.post("m", inCircles("g"))
	for _, p := range []social.Post{first, byMember} {
		e.sees(true, "g", "o", p)
		e.sees(true, "g", "m", p)
		e.sees(false, "g", "n", p)
		e.sees(false, "g", "x", p)
	}
	require.Equal(e, social.Member, e.card("o", byMember.ID).Reason)

	e.invited("g", "n")
	e.sees(false, "g", "n", byMember)
	e.join("g", "n")
	e.sees(false, "g", "n", byMember)
	later := e.post("m", inCircles("g"))
	e.sees(true, "g", "n", later)
	e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: "g", Owner: "o"}, []string{"m", "n"}, here)))
	e.sees(true, "g", "n", later) // listing a member again is not another joining
	e.leave("g", "n")
	e.sees(false, "g", "n", later)
	e.invited("g", "n")
	e.pass(time.Second)
	e.join("g", "n")
	e.sees(false, "g", "n", later)
	must[bool](e)(e.RemoveMember(e.ctx, "g", "m", "o", here))
	e.sees(false, "g", "m", e.post("o", inCircles("g")))
	e.sees(true, "g", "o", byMember)
	_, _, err := e.CreatePost(e.ctx, social.Post{Author: "m", Caption: "x", Audience: inCircles("g")}, social.Creation{})
	require.ErrorIs(e, err, feed.ErrRule, "a removed member may not post")
	e.block("n", "o")
	require.Equal(e, []string{"o"}, e.list(e.Members, "g"))
}

func groupTerms(e *env) {
	e.group("all", "o", social.CircleTerms{History: social.HistoryAll})
	old := e.post("o", inCircles("all"))
	e.invited("all", "m")
	e.join("all", "m")
	e.sees(true, "all", "m", old)
	change := func(id string, terms social.CircleTerms, until int64) error {
		return second(e.PutCircle(e.ctx, social.Circle{ID: id, Owner: "o", CircleTerms: terms, Until: until}, nil, here))
	}
	require.ErrorIs(e, change("all", social.CircleTerms{History: social.HistoryJoined}, 0), feed.ErrForbidden)
	require.ErrorIs(e, change("all", social.CircleTerms{Kind: social.KindCircle}, 0), feed.ErrForbidden)
	require.ErrorIs(e, change("all", social.CircleTerms{MembersVisibleTo: social.ByMembers}, 0), feed.ErrForbidden)
	e.ok(change("all", social.CircleTerms{Post: social.ByOwner, MembersVisibleTo: social.ByOwner}, 0))
	require.Equal(e, social.CircleTerms{Kind: social.KindGroup, Post: social.ByOwner, History: social.HistoryAll, MembersVisibleTo: social.ByOwner},
		must[social.Circle](e)(e.Circle(e.ctx, "all")).CircleTerms)
	_, _, err := e.CreatePost(e.ctx, social.Post{Author: "m", Caption: "x", Audience: inCircles("all")}, social.Creation{})
	require.ErrorIs(e, err, feed.ErrRule)
	require.ErrorContains(e, err, "only the owner may post to all")
	for name, bad := range map[string]social.Circle{
		"circle, members post":  {CircleTerms: social.CircleTerms{Post: social.ByMembers}},
		"circle, members see":   {CircleTerms: social.CircleTerms{MembersVisibleTo: social.ByMembers}},
		"circle, since joining": {CircleTerms: social.CircleTerms{History: social.HistoryJoined}},
		"circle, until":         {Until: 5},
		"group, until":          {CircleTerms: social.CircleTerms{Kind: social.KindGroup}, Until: 5},
		"event, no until":       {CircleTerms: social.CircleTerms{Kind: social.KindEvent}},
		"a kind":                {CircleTerms: social.CircleTerms{Kind: "club"}},
		"a post":                {CircleTerms: social.CircleTerms{Kind: social.KindGroup, Post: "all"}},
		"a history":             {CircleTerms: social.CircleTerms{Kind: social.KindGroup, History: "none"}},
		"visible":               {CircleTerms: social.CircleTerms{Kind: social.KindGroup, MembersVisibleTo: "all"}},
		"until before 1970":     {CircleTerms: social.CircleTerms{Kind: social.KindEvent}, Until: -1},
	} {
		bad.ID, bad.Owner = "bad", "o"
		require.ErrorIs(e, second(e.PutCircle(e.ctx, bad, nil, here)), feed.ErrInvalid, name)
	}
	require.ErrorIs(e, second(e.RemoveMember(e.ctx, "all", "o", "o", here)), feed.ErrForbidden, "the owner cannot leave the group")
}

func events(e *env) {
	e.group("ev", "o", social.CircleTerms{Kind: social.KindEvent}, "m")
	p := e.post("m", inCircles("ev"))
	e.pass(24 * time.Hour)
	for _, author := range []string{"m", "o"} {
		_, _, err := e.CreatePost(e.ctx, social.Post{Author: author, Caption: "x", Audience: inCircles("ev")}, social.Creation{})
		require.ErrorIs(e, err, feed.ErrRule)
		require.ErrorContains(e, err, "the event ev ended at 2026-03-07T12:00:00Z and accepts no new posts")
	}
	e.sees(true, "ev", "o", p)
	e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: "ev", Owner: "o", Until: e.now.Add(time.Hour).Unix()}, nil, here)))
	e.sees(true, "ev", "o", e.post("m", inCircles("ev")))
}

// roles checks which data of each kind of circle each role can read, and which calls it may make.
func roles(e *env) {
	e.group("g", "o", social.CircleTerms{}, "m", "left")
	e.group("c", "o", social.CircleTerms{Kind: social.KindCircle}, "m", "left")
	e.leave("g", "left")
	e.invited("g", "i")
	_, err := e.Invite(e.ctx, "c", "i", "o")
	require.ErrorIs(e, err, feed.ErrInvalid, "members of a circle do not know of it")
	for _, tt := range []struct {
		circle, agent string
		role          social.Role
	}{
		{"g", "o", social.RoleOwner},
		{"g", "m", social.RoleMember},
		{"g", "i", social.RoleInvited},
		{"g", "left", social.NoRole},
		{"g", "x", social.NoRole},
		{"c", "o", social.RoleOwner},
		{"c", "m", social.NoRole},
		{"c", "x", social.NoRole},
		{"none", "x", social.NoRole},
	} {
		name := tt.circle + " " + tt.agent
		c, role, err := e.CircleFor(e.ctx, tt.circle, tt.agent)
		require.Equal(e, tt.role, role, name)
		for _, r := range []social.Role{social.RoleOwner, social.RoleMember, social.RoleInvited} {
			ids := []string{}
			for _, c := range must[[]social.Circle](e)(e.CirclesOf(e.ctx, tt.agent, r, "", 10)) {
				ids = append(ids, c.ID)
			}
			require.Equal(e, tt.role == r, slices.Contains(ids, tt.circle), "%s as %s", name, r)
		}
		refused := feed.ErrNotFound
		if tt.role != social.NoRole {
			require.NoError(e, err, name)
			require.Equal(e, tt.circle, c.ID)
			refused = feed.ErrForbidden
		} else {
			require.ErrorIs(e, err, feed.ErrNotFound, name)
		}
		if tt.role == social.RoleOwner {
			continue
		}
		for _, err := range []error{
			second(e.AddMember(e.ctx, tt.circle, "y", tt.agent, here)), second(e.RemoveMember(e.ctx, tt.circle, "o", tt.agent, here)),
			second(e.Invite(e.ctx, tt.circle, "y", tt.agent)), second(e.Withdraw(e.ctx, tt.circle, "y", tt.agent)),
			e.DropCircle(e.ctx, tt.circle, tt.agent, here),
		} {
			require.ErrorIs(e, err, refused, name)
		}
		if tt.role == social.NoRole {
			require.ErrorIs(e, second(e.AddMember(e.ctx, tt.circle, tt.agent, tt.agent, here)), feed.ErrNotFound, name)
			require.False(e, must[bool](e)(e.Withdraw(e.ctx, tt.circle, tt.agent, tt.agent)), name)
			_, _, err := e.CreatePost(e.ctx, social.Post{Author: tt.agent, Caption: "x", Audience: inCircles(tt.circle)}, social.Creation{})
			require.ErrorContains(e, err, fmt.Sprintf("%s may not post to circle %s, or it does not exist", tt.agent, tt.circle))
		}
	}
	require.Empty(e, must[[]social.Circle](e)(e.CirclesOf(e.ctx, "o", social.RoleMember, "", 10)), "the owner's circles are not listed as memberships")
}

func invitations(e *env) {
	e.group("g", "o", social.CircleTerms{})
	e.invited("g", "i")
	require.False(e, must[bool](e)(e.Invite(e.ctx, "g", "i", "o")), "once")
	require.True(e, must[bool](e)(e.Withdraw(e.ctx, "g", "i", "o")))
	require.False(e, must[bool](e)(e.Withdraw(e.ctx, "g", "i", "o")))
	require.ErrorIs(e, second(e.AddMember(e.ctx, "g", "i", "i", here)), feed.ErrNotFound)
	e.invited("g", "i")
	require.True(e, must[bool](e)(e.Withdraw(e.ctx, "g", "i", "i")), "declined")
	e.invited("g", "i")
	e.join("g", "i")
	require.False(e, must[bool](e)(e.AddMember(e.ctx, "g", "i", "i", here)), "repeated")
	require.False(e, must[bool](e)(e.Invite(e.ctx, "g", "i", "o")), "members cannot be invited")
	e.leave("g", "i")
	require.ErrorIs(e, second(e.AddMember(e.ctx, "g", "i", "i", here)), feed.ErrNotFound, "the invitation is used up")
	e.invited("g", "i")
	must[bool](e)(e.AddMember(e.ctx, "g", "i", "", here))
	e.leave("g", "i")
	require.ErrorIs(e, second(e.AddMember(e.ctx, "g", "i", "i", here)), feed.ErrNotFound, "adding the agent used up the invitation")
	require.ErrorIs(e, second(e.Invite(e.ctx, "g", social.Server, "o")), feed.ErrBadID)
	require.ErrorIs(e, second(e.Invite(e.ctx, "none", "i", "o")), feed.ErrNotFound)
}

// manyInvitations checks the limit of open invitations by one owner for one agent.
func manyInvitations(e *env) {
	for i := range social.MaxInvitedBy {
		e.group(fmt.Sprint("g", i), "o", social.CircleTerms{})
		e.invited(fmt.Sprint("g", i), "i")
	}
	e.group("more", "o", social.CircleTerms{})
	_, err := e.Invite(e.ctx, "more", "i", "o")
	require.ErrorIs(e, err, feed.ErrLimit)
	require.ErrorContains(e, err, "i has 20 open invitations by o")
	require.False(e, must[bool](e)(e.Invite(e.ctx, "g0", "i", "o")), "the invitation is already open")
	e.invited("more", "j")
	e.group("others", "p", social.CircleTerms{})
	e.invited("others", "i")
	e.join("g0", "i")
	e.invited("more", "i")
}

// acrossBlocks adds and invites agents across a block by either side, with every call.
func acrossBlocks(e *env) {
	e.group("g", "o", social.CircleTerms{}, "m")
	e.putCircle("c", "o")
	e.invited("g", "by")
	e.block("by", "o")
	e.block("o", "of")
	e.block("m", "z")
	for _, agent := range []string{"by", "of"} {
		for _, circle := range []string{"g", "c"} {
			require.ErrorIs(e, second(e.AddMember(e.ctx, circle, agent, "o", here)), feed.ErrForbidden)
			require.ErrorIs(e, second(e.PutCircle(e.ctx, social.Circle{ID: circle, Owner: "o"}, []string{"x", agent}, here)), feed.ErrForbidden)
			require.False(e, must[bool](e)(e.AddMember(e.ctx, circle, agent, "", e.now)), "the same change by an event is ignored")
			e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: circle, Owner: "o"}, []string{"m", agent}, e.now)))
			require.NotContains(e, e.list(e.Members, circle), agent)
			e.pass(time.Second)
		}
		require.ErrorIs(e, second(e.Invite(e.ctx, "g", agent, "o")), feed.ErrForbidden)
		require.ErrorIs(e, second(e.AddMember(e.ctx, "g", agent, agent, here)), feed.ErrNotFound, "an invitation from before the block")
	}
	must[bool](e)(e.AddMember(e.ctx, "g", "z", "", here))
	e.pass(time.Second)
	p := e.post("m", inCircles("g"))
	e.sees(false, "g", "z", p) // a block between two members
	e.sees(true, "g", "o", p)
	must[bool](e)(e.Unblock(e.ctx, "by", "o"))
	require.ErrorIs(e, second(e.AddMember(e.ctx, "g", "by", "by", here)), feed.ErrNotFound, "what a block ended does not come back")
}

func groupLimits(e *env) {
	for i := range social.MaxOwnedCircles {
		e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: fmt.Sprint("c", i), Owner: "o"}, nil, here)))
	}
	err := second(e.PutCircle(e.ctx, social.Circle{ID: "more", Owner: "o"}, nil, here))
	require.ErrorIs(e, err, feed.ErrLimit)
	require.ErrorContains(e, err, "o has 500 circles, groups and events")
	e.putCircle("c0", "o", "m")
	e.ok(e.DropCircle(e.ctx, "c1", "o", here))
	e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: "more", Owner: "o"}, nil, here)))
	for i := range social.MaxMemberships {
		e.group(fmt.Sprint("g", i), fmt.Sprint("o", i%9), social.CircleTerms{}, "m")
	}
	e.group("one-more", "o9", social.CircleTerms{})
	e.invited("one-more", "m")
	for _, err := range []error{
		second(e.AddMember(e.ctx, "one-more", "m", "m", here)), second(e.AddMember(e.ctx, "one-more", "m", "", here)),
		second(e.PutCircle(e.ctx, social.Circle{ID: "one-more", Owner: "o9"}, []string{"m"}, here)),
	} {
		require.ErrorIs(e, err, feed.ErrLimit)
		require.ErrorContains(e, err, "m is in 1000 groups and events")
	}
	// An event that lists such an agent still adds the other members.
	e.ok(second(e.PutCircle(e.ctx, social.Circle{ID: "told", Owner: "p", CircleTerms: social.CircleTerms{Kind: social.KindGroup}}, []string{"m", "n"}, e.now)))
	require.Equal(e, []string{"n", "p"}, e.list(e.Members, "told"))
	e.putCircle("c2", "o", "m")
	e.leave("g0", "m")
	e.join("one-more", "m")
}
