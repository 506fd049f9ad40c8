package socialtest

import (
	"fmt"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// consent checks that no agent gets another into a group or an event without being asked.
func consent(e *env) {
	group := social.CircleTerms{Kind: social.KindGroup}
	_, err := e.ChangeCircle(e.ctx, "g", "o", social.CircleChange{CircleTerms: group, Members: []string{"x"}})
	require.ErrorIs(e, err, feed.ErrForbidden)
	require.ErrorContains(e, err, "invite them with PUT /v1/circles/g/invitations/x")
	require.ErrorIs(e, second(e.Circle(e.ctx, "g")), feed.ErrNotFound, "nothing was created")
	until := feed.Moment{Time: e.now.Add(24 * time.Hour)}
	for id, terms := range map[string]social.CircleTerms{"g": group, "ev": {Kind: social.KindEvent}} {
		change := social.CircleChange{CircleTerms: terms, Members: []string{"o"}}
		if terms.Kind == social.KindEvent {
			change.Until = until
		}
		must[social.Circle](e)(e.ChangeCircle(e.ctx, id, "o", change))
		e.invited(id, "i")
		for _, agent := range []string{"x", "i"} {
			for _, err := range []error{
				second(e.AddMember(e.ctx, id, agent, "o", here)),
				second(e.ChangeCircle(e.ctx, id, "o", social.CircleChange{Members: []string{agent}})),
				second(e.PatchCircle(e.ctx, id, "o", named(agent))),
			} {
				require.ErrorIs(e, err, feed.ErrForbidden, "%s, %s", id, agent)
			}
		}
		require.Equal(e, []string{"o"}, e.list(e.Members, id))
		e.join(id, "i")
		require.False(e, must[bool](e)(e.AddMember(e.ctx, id, "i", "o", here)), "they are a member")
		require.Equal(e, 2, must[social.Circle](e)(e.ChangeCircle(e.ctx, id, "o", social.CircleChange{Members: []string{"i", "o"}})).Size)
		// Admins and other systems add others.
		e.pass(time.Second)
		require.True(e, must[bool](e)(e.AddMember(e.ctx, id, "a", "", here)))
		require.True(e, must[bool](e)(e.AddMember(e.ctx, id, "s", "", e.now)))
		must[social.Circle](e)(e.ChangeCircle(e.ctx, id, "", social.CircleChange{Members: []string{"i", "b"}}))
		require.Equal(e, []string{"b", "i", "o"}, e.list(e.Members, id))
		e.leave(id, "i")
		require.ErrorIs(e, second(e.AddMember(e.ctx, id, "i", "o", here)), feed.ErrForbidden, "leaving holds")
		must[social.Circle](e)(e.PatchCircle(e.ctx, id, "o", named()))
		require.Equal(e, []string{"o"}, e.list(e.Members, id), "the owner removes members")
	}
	_, err = e.ChangeCircle(e.ctx, "c", "o", social.CircleChange{Members: []string{"x"}})
	require.NoError(e, err, "members of a circle do not know of it")
	require.True(e, must[bool](e)(e.AddMember(e.ctx, "c", "y", "o", here)))
}

// named is a patch of a circle's members.
func named(members ...string) func(social.CircleChange) (social.CircleChange, error) {
	return func(c social.CircleChange) (social.CircleChange, error) {
		c.Members = append([]string{}, members...)
		return c, nil
	}
}

// refusedInvitations checks how long an owner cannot invite agents who have declined or left.
func refusedInvitations(e *env) {
	for _, id := range []string{"g", "h"} {
		e.group(id, "o", social.CircleTerms{})
	}
	e.group("p", "p", social.CircleTerms{})
	invite := func(circle, agent, by string) error { return second(e.Invite(e.ctx, circle, agent, by)) }
	e.ok(invite("g", "i", "o"))
	require.True(e, must[bool](e)(e.Withdraw(e.ctx, "g", "i", "i")))
	e.ok(invite("g", "l", "o"))
	e.join("g", "l")
	e.leave("g", "l")
	e.ok(invite("g", "w", "o"))
	must[bool](e)(e.Withdraw(e.ctx, "g", "w", "o"))
	must[bool](e)(e.Withdraw(e.ctx, "g", "never", "never"))
	for _, pass := range []time.Duration{0, social.RefusalLives - 2*time.Second} {
		e.pass(pass)
		for _, circle := range []string{"g", "h"} {
			err := invite(circle, "i", "o")
			require.ErrorIs(e, err, feed.ErrForbidden, "who declined is not asked by the same owner")
			require.EqualError(e, err, "i cannot be invited to "+circle+" by o for now: not allowed")
		}
		require.ErrorIs(e, invite("g", "l", "o"), feed.ErrForbidden, "who left is not asked to come back")
		e.swept()
	}
	e.ok(invite("h", "l", "o")) // another group
	e.ok(invite("p", "i", "p")) // another owner
	e.ok(invite("g", "w", "o"))
	e.ok(invite("g", "never", "o"))
	e.ok(invite("h", "i", "")) // an admin
	e.pass(2 * time.Second)
	e.ok(invite("g", "i", "o"))
	e.ok(invite("g", "l", "o"))
}

// invitedList checks the owner's list of open invitations.
func invitedList(e *env) {
	e.group("g", "o", social.CircleTerms{}, "m")
	e.group("ev", "o", social.CircleTerms{Kind: social.KindEvent})
	for _, agent := range []string{"i", "j", "k"} {
		e.invited("g", agent)
		e.invited("ev", agent)
	}
	must[bool](e)(e.Mute(e.ctx, "k", social.MuteInviter, "o", here))
	e.join("g", "j")
	for _, by := range []string{"o", ""} {
		require.Equal(e, []string{"i", "k"}, e.listFor(by, e.Invited, "g"), "a mute cannot be noticed")
		require.Equal(e, []string{"i", "j", "k"}, e.listFor(by, e.Invited, "ev"))
	}
	for agent, want := range map[string]error{"m": feed.ErrForbidden, "i": feed.ErrForbidden, "x": feed.ErrNotFound} {
		require.ErrorIs(e, second(e.Invited(e.ctx, "g", agent, "", 5)), want, agent)
	}
	require.ErrorIs(e, second(e.Invited(e.ctx, "none", "", "", 5)), feed.ErrNotFound)
	e.pass(25 * time.Hour)
	require.Empty(e, must[[]string](e)(e.Invited(e.ctx, "ev", "o", "", 5)), "the event is over")
	require.Len(e, must[[]social.Circle](e)(e.CirclesOf(e.ctx, "i", social.RoleInvited, "", 5)), 1)
	e.ok(e.EraseAgent(e.ctx, "i"))
	require.Equal(e, []string{"k"}, must[[]string](e)(e.Invited(e.ctx, "g", "o", "", 5)))
}

// endedEvents checks that an event that is over admits and invites nobody, and that none begins so.
func endedEvents(e *env) {
	put := func(id string, until time.Time) error {
		change := social.CircleChange{CircleTerms: social.CircleTerms{Kind: social.KindEvent}, Until: feed.Moment{Time: until}}
		return second(e.ChangeCircle(e.ctx, id, "o", change))
	}
	for name, until := range map[string]time.Time{"a year ago": e.now.AddDate(-1, 0, 0), "now": e.now} {
		err := put("old", until)
		require.ErrorIs(e, err, feed.ErrInvalid, name)
		require.ErrorContains(e, err, "until is in the past")
	}
	past := social.Circle{ID: "told", Owner: "o", CircleTerms: social.CircleTerms{Kind: social.KindEvent}, Until: e.now.AddDate(-1, 0, 0).Unix()}
	require.ErrorIs(e, second(e.PutCircle(e.ctx, past, nil, here)), feed.ErrInvalid)
	e.ok(second(e.PutCircle(e.ctx, past, []string{"m"}, e.now))) // another system reports what was
	require.Equal(e, []string{"m", "o"}, e.list(e.Members, "told"))

	e.ok(put("ev", e.now.Add(time.Hour)))
	e.invited("ev", "i")
	require.ErrorIs(e, put("ev", e.now.Add(-time.Minute)), feed.ErrInvalid, "it is not moved into the past")
	e.ok(put("ev", e.now)) // it ends now
	e.pass(time.Second)
	e.ok(put("ev", time.Unix(e.now.Unix()-1, 0))) // its end is unchanged
	for name, err := range map[string]error{
		"join": second(e.AddMember(e.ctx, "ev", "i", "i", here)), "invite": second(e.Invite(e.ctx, "ev", "x", "o")),
		"invite by an admin": second(e.Invite(e.ctx, "ev", "x", "")), "add by an admin": second(e.AddMember(e.ctx, "ev", "x", "", here)),
	} {
		require.ErrorIs(e, err, feed.ErrRule, name)
		require.ErrorContains(e, err, "the event ev ended at", name)
	}
	require.True(e, must[bool](e)(e.AddMember(e.ctx, "ev", "late", "", e.now)), "another system reports it")
	require.True(e, must[bool](e)(e.Withdraw(e.ctx, "ev", "i", "i")))
	e.leave("ev", "late")
	e.ok(put("ev", e.now.Add(time.Hour))) // it goes on
	e.invited("ev", "x")
	e.join("ev", "x")

	// Invitations to events that are over use up no limit.
	for i := range social.MaxInvitedBy {
		e.ok(put(fmt.Sprint("e", i), e.now.Add(time.Hour)))
		e.invited(fmt.Sprint("e", i), "y")
	}
	require.ErrorIs(e, second(e.Invite(e.ctx, "ev", "y", "o")), feed.ErrLimit)
	e.pass(2 * time.Hour)
	e.ok(put("ev", e.now.Add(time.Hour)))
	e.invited("ev", "y")
}

// refusalsOfErased checks that refusals end with either agent, and are purged.
func refusalsOfErased(e *env) {
	for _, erased := range []string{"i", "o"} {
		e.group("g", "o", social.CircleTerms{}, "stays")
		e.invited("g", "i")
		must[bool](e)(e.Withdraw(e.ctx, "g", "i", "i"))
		require.ErrorIs(e, second(e.Invite(e.ctx, "g", "i", "o")), feed.ErrForbidden)
		e.pass(time.Second)
		e.ok(e.EraseAgent(e.ctx, erased))
		e.pass(time.Second)
		for i := range 2 {
			id := fmt.Sprint(erased, i)
			e.group(id, "o", social.CircleTerms{})
			require.True(e, must[bool](e)(e.Invite(e.ctx, id, "i", "o")), "%s was erased", erased)
			e.ok(e.DropCircle(e.ctx, id, "", here))
			e.eraseAll(erased)
		}
		e.ok(e.DropCircle(e.ctx, "g", "", here))
	}
}
