package socialtest

import (
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/social"
)

// mutes checks what a muted group, and muted invitations, hide.
func mutes(e *env) {
	e.cardsOf("o", "m", "n")
	mute := func(agent string, kind social.MuteKind, id string) bool {
		return must[bool](e)(e.Mute(e.ctx, agent, kind, id, here))
	}
	for _, id := range []string{"g", "h"} {
		e.group(id, "o", social.CircleTerms{}, "m", "n")
	}
	e.group("c", "o", social.CircleTerms{Kind: social.KindCircle}, "n")
	inG, inBoth, inCircle := e.post("m", inCircles("g")), e.post("m", inCircles("g", "h")), e.post("o", inCircles("c"))
	e.dirty()
	require.True(e, mute("n", social.MuteCircle, "g"))
	require.Equal(e, []string{"member g/n"}, e.dirty())
	require.False(e, mute("n", social.MuteCircle, "g"))
	require.True(e, mute("n", social.MuteCircle, "c"))
	after := e.post("m", inCircles("g"))
	mentioning := e.post("m", inCircles("g"), "n")
	followed := e.post("m", social.Audience{Followers: true, Circles: []string{"g"}})
	for _, p := range []social.Post{inG, after, followed} {
		e.hushed("n", p)
		e.sees(true, "g", "m", p)
	}
	e.sees(true, "h", "n", inBoth)                                      // through the other group
	require.Equal(e, social.Member, e.card("n", inCircle.ID).Reason)    // a circle cannot be muted: its members do not know of it
	require.Equal(e, social.Mention, e.card("n", mentioning.ID).Reason) // for another reason
	e.follow("n", "m")
	require.Equal(e, social.Follow, e.card("n", followed.ID).Reason)
	own := e.post("n", inCircles("g"))
	require.Equal(e, social.Self, e.card("n", own.ID).Reason)
	require.Equal(e, social.RoleMember, roleOf(e.CircleFor(e.ctx, "g", "n")))
	require.True(e, must[social.Circle](e)(first(e.CircleFor(e.ctx, "g", "n"))).Muted)
	require.False(e, must[social.Circle](e)(first(e.CircleFor(e.ctx, "g", "m"))).Muted)
	joined := must[[]social.Circle](e)(e.CirclesOf(e.ctx, "n", social.RoleMember, "", 5))
	require.Equal(e, []bool{true, false}, []bool{joined[0].Muted, joined[1].Muted})
	require.Equal(e, []string{"c", "g"}, e.mutedIDs("n", social.MuteCircle, "", 5))

	// A mute outlasts the membership.
	must[bool](e)(e.RemoveMember(e.ctx, "g", "n", "", here))
	must[bool](e)(e.AddMember(e.ctx, "g", "n", "", here))
	e.pass(time.Second)
	e.hushed("n", e.post("o", inCircles("g")))
	require.True(e, must[bool](e)(e.Unmute(e.ctx, "n", social.MuteCircle, "g")))
	require.False(e, must[bool](e)(e.Unmute(e.ctx, "n", social.MuteCircle, "g")))
	e.sees(true, "g", "n", e.post("o", inCircles("g")))
}

// mutedIDs returns the ids of what an agent has muted.
func (e *env) mutedIDs(agent string, kind social.MuteKind, after string, n int) []string {
	e.Helper()
	list := must[[]social.Mute](e)(e.Muted(e.ctx, agent, kind, after, n))
	return convert.Each(list, func(m social.Mute) string { return m.ID })
}

// timedMutes checks that a mute of a group ends by the clock, without a write, and that lists already
// have the posts of the time in between.
func timedMutes(e *env) {
	e.cardsOf("o", "m", "n")
	e.group("g", "o", social.CircleTerms{}, "m", "n")
	before := e.post("m", inCircles("g"))
	mute := func(d time.Duration) bool {
		return must[bool](e)(e.Mute(e.ctx, "n", social.MuteCircle, "g", e.clock().Add(d)))
	}
	reasons := func(posts ...social.Post) (all []social.Reason) {
		for _, p := range posts {
			all = append(all, e.card("n", p.ID).Reason)
		}
		return all
	}
	shownAs := func() bool {
		e.Helper()
		one := must[social.Circle](e)(first(e.CircleFor(e.ctx, "g", "n"))).Muted
		require.Equal(e, one, must[[]social.Circle](e)(e.CirclesOf(e.ctx, "n", social.RoleMember, "", 5))[0].Muted)
		return one
	}
	require.True(e, mute(time.Minute))
	require.False(e, mute(time.Minute), "the same end")
	require.True(e, mute(2*time.Minute), "another end")
	end := e.clock().Add(2 * time.Minute).Truncate(time.Microsecond)
	list := must[[]social.Mute](e)(e.Muted(e.ctx, "n", social.MuteCircle, "", 5))
	require.Len(e, list, 1)
	require.Equal(e, "g", list[0].ID)
	require.True(e, list[0].Until.Equal(end), list[0].Until)
	meanwhile := e.post("m", inCircles("g"))
	require.Equal(e, []social.Reason{"", ""}, reasons(before, meanwhile))
	require.True(e, e.card("n", meanwhile.ID).Visible)
	require.True(e, shownAs())
	require.True(e, must[[]social.ListStatus](e)(e.ListStatuses(e.ctx, "n", []string{meanwhile.ID}))[0].Listed)
	require.Contains(e, e.receivers(meanwhile.ID, "", 10), social.Receiver{Agent: "n", Reason: social.Member})

	e.pass(end.Sub(e.clock()) - time.Microsecond)
	require.True(e, shownAs())
	e.pass(time.Microsecond)
	require.Equal(e, []social.Reason{social.Member, social.Member}, reasons(before, meanwhile))
	require.False(e, shownAs())
	require.Empty(e, e.mutedIDs("n", social.MuteCircle, "", 5))
	require.False(e, must[bool](e)(e.Unmute(e.ctx, "n", social.MuteCircle, "g")), "it has ended")

	require.True(e, mute(time.Minute))
	require.True(e, must[bool](e)(e.Mute(e.ctx, "n", social.MuteCircle, "g", here)), "for ever")
	e.pass(time.Hour)
	e.hushed("n", meanwhile)
	require.True(e, mute(time.Minute), "for a time again")
	require.True(e, must[[]social.ListStatus](e)(e.ListStatuses(e.ctx, "n", []string{meanwhile.ID}))[0].Listed)
	require.ErrorIs(e, second(e.Mute(e.ctx, "n", social.MuteInviter, "o", e.clock().Add(time.Minute))), feed.ErrInvalid)

	// What has ended takes no room.
	for i := range feed.MaxMutes - 1 {
		must[bool](e)(e.Mute(e.ctx, "n", social.MuteCircle, fmt.Sprintf("m%04d", i), here))
	}
	require.ErrorIs(e, second(e.Mute(e.ctx, "n", social.MuteCircle, "more", here)), feed.ErrLimit)
	e.pass(time.Minute)
	require.True(e, must[bool](e)(e.Mute(e.ctx, "n", social.MuteCircle, "more", here)))
}

// hushed checks that a reader sees a post of a group that they have muted, but in no timeline.
func (e *env) hushed(reader string, p social.Post) {
	e.Helper()
	c := e.card(reader, p.ID)
	require.True(e, c.Visible)
	require.Equal(e, social.NoReason, c.Reason)
	require.False(e, must[[]social.ListStatus](e)(e.ListStatuses(e.ctx, reader, []string{p.ID}))[0].Listed)
	for _, whole := range []bool{true, false} {
		require.NotContains(e, entryIDs(must[[]social.Entry](e)(e.Pull(e.ctx, social.PullQuery{Reader: reader, N: 50, Whole: whole}))), p.ID)
	}
	require.NotContains(e, entryIDs(must[[]social.Entry](e)(e.PairEntries(e.ctx, p.Author, reader, social.Position{}, 50))), p.ID)
	for _, circle := range p.Audience.Circles {
		require.NotContains(e, entryIDs(must[[]social.Entry](e)(e.MemberEntries(e.ctx, circle, reader, social.Position{}, 50))), p.ID)
	}
	for _, r := range e.receivers(p.ID, "", 1000) {
		require.NotEqual(e, reader, r.Agent)
	}
	require.Contains(e, entryIDs(must[[]social.Entry](e)(e.Grid(e.ctx, reader, p.Author, social.Position{}, 50))), p.ID, "it is on its author's page")
}

// mutedInviters checks what a mute of an owner's invitations hides.
func mutedInviters(e *env) {
	e.group("g", "o", social.CircleTerms{})
	e.group("h", "p", social.CircleTerms{})
	e.invited("g", "i")
	e.invited("h", "i")
	invited := func() (ids []string) {
		for _, c := range must[[]social.Circle](e)(e.CirclesOf(e.ctx, "i", social.RoleInvited, "", 5)) {
			ids = append(ids, c.ID)
		}
		return ids
	}
	require.True(e, must[bool](e)(e.Mute(e.ctx, "i", social.MuteInviter, "o", here)))
	require.Equal(e, []string{"h"}, invited())
	e.group("k", "o", social.CircleTerms{})
	require.True(e, must[bool](e)(e.Invite(e.ctx, "k", "i", "o")), "the owner cannot notice it")
	require.Equal(e, []string{"h"}, invited())
	require.Equal(e, []string{"o"}, e.mutedIDs("i", social.MuteInviter, "", 5))
	require.True(e, must[bool](e)(e.Unmute(e.ctx, "i", social.MuteInviter, "o")))
	require.Equal(e, []string{"g", "h", "k"}, invited())
}

// muteLimit checks that the list of mutes keeps all or refuses.
func muteLimit(e *env) {
	for _, kind := range []social.MuteKind{social.MuteCircle, social.MuteInviter} {
		for i := range feed.MaxMutes {
			must[bool](e)(e.Mute(e.ctx, "a", kind, fmt.Sprintf("m%04d", i), here))
		}
		require.ErrorIs(e, second(e.Mute(e.ctx, "a", kind, "more", here)), feed.ErrLimit)
		require.False(e, must[bool](e)(e.Mute(e.ctx, "a", kind, "m0000", here)), "it is muted")
		require.Len(e, e.mutedIDs("a", kind, "", 2*feed.MaxMutes), feed.MaxMutes)
		require.Equal(e, []string{"m0000", "m0001"}, e.mutedIDs("a", kind, "", 2))
		must[bool](e)(e.Unmute(e.ctx, "a", kind, "m0000"))
		require.True(e, must[bool](e)(e.Mute(e.ctx, "a", kind, "more", here)))
	}
	for _, bad := range []error{
		second(e.Mute(e.ctx, "a", social.MuteCircle, "a b", here)), second(e.Mute(e.ctx, "a", social.MuteInviter, social.Server, here)),
		second(e.Mute(e.ctx, "", social.MuteCircle, "g", here)), second(e.Unmute(e.ctx, "a", social.MuteCircle, "")),
	} {
		require.ErrorIs(e, bad, feed.ErrBadID)
	}
	require.ErrorIs(e, second(e.Mute(e.ctx, "a", "post", "g", here)), feed.ErrInvalid)
}

// mutesOfErased checks that mutes end with the agent who made them, and only then.
func mutesOfErased(e *env) {
	must[bool](e)(e.Mute(e.ctx, "i", social.MuteInviter, "o", here))
	must[bool](e)(e.Mute(e.ctx, "i", social.MuteCircle, "g", here))
	e.erasedThen("o", func() {
		e.Helper()
		require.Equal(e, []string{"o"}, e.mutedIDs("i", social.MuteInviter, "", 5), "it belongs to the agent who made it")
	})
	e.erasedThen("i", func() {
		e.Helper()
		require.Empty(e, e.mutedIDs("i", social.MuteInviter, "", 5))
		require.Empty(e, e.mutedIDs("i", social.MuteCircle, "", 5))
	})
}
