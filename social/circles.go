package social

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/freshet/freshet/feed"
)

// CircleKind distinguishes circles, groups and events.
type CircleKind string

// The kinds of circles.
const (
	KindCircle CircleKind = "circle" // private to its owner: members do not know of it
	KindGroup  CircleKind = "group"  // its members know of it
	KindEvent  CircleKind = "event"  // a group that accepts no posts after it has ended
)

// Who has a right in a group.
const (
	ByOwner   = "owner"
	ByMembers = "members" // including the owner
)

// Which posts of a group its members see.
const (
	HistoryJoined = "joined" // those since they joined
	HistoryAll    = "all"
)

// CircleTerms define who may post to a circle, and which posts and members are visible. In a
// change, an empty field stays as it is; in a new circle, it gets its default.
type CircleTerms struct {
	Kind    CircleKind `json:"kind,omitempty"`    // default [KindCircle]; never changed
	Post    string     `json:"post,omitempty"`    // who may address posts to it: [ByMembers], the default, or [ByOwner]
	History string     `json:"history,omitempty"` // default [HistoryJoined]; never changed
	// MembersVisibleTo says who may read its members: [ByOwner], the default, or [ByMembers]. It is
	// never changed, because members have joined under it.
	MembersVisibleTo string `json:"members_visible_to,omitempty"`
}

// Circle is a named set of agents with an owner. A [KindCircle] has no terms except the kind: its
// owner posts, and its members see everything. The owner of a group or an event is a member.
type Circle struct {
	ID    string `json:"id"`
	Owner string `json:"owner"`
	Name  string `json:"name,omitempty"`
	Size  int    `json:"size"` // number of members; ignored by [Circles.PutCircle]
	CircleTerms
	Until int64 `json:"until,omitempty"` // when an event ends, in Unix seconds
	Muted bool  `json:"muted,omitempty"` // the agent who asks has muted it; ignored by [Circles.PutCircle]

	// NewestPostAt is when the newest post was published that the reader sees through the circle, in
	// Unix seconds; 0 if there is none, or if the reader is neither its owner nor a member.
	NewestPostAt int64 `json:"newest_post_at,omitempty"`
}

// CircleRef names a circle that a post addresses. The name is "" for an agent without a role in it.
type CircleRef struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// CircleChange describes a circle to create or to change.
type CircleChange struct {
	Name string `json:"name,omitempty"`
	// Owner is given by an admin who creates a circle, and in a patch that hands a group over to
	// another member.
	Owner string `json:"owner,omitempty"`
	// Members replaces the members; nil leaves them unchanged.
	Members []string `json:"members,omitzero"`
	CircleTerms
	Until feed.Moment `json:"until,omitzero"` // when an event ends
}

// WithDefaults returns the terms of a new circle: empty fields have their defaults.
func (t CircleTerms) WithDefaults() CircleTerms {
	t.Kind = cmp.Or(t.Kind, KindCircle)
	if t.Kind == KindCircle {
		return t
	}
	t.Post, t.History, t.MembersVisibleTo = cmp.Or(t.Post, ByMembers), cmp.Or(t.History, HistoryJoined), cmp.Or(t.MembersVisibleTo, ByOwner)
	return t
}

// CheckEnd returns an error if an event has no end, in Unix seconds; it wraps feed.ErrInvalid.
func (t CircleTerms) CheckEnd(until int64) error {
	if t.Kind == KindEvent && until == 0 {
		return feed.Errorf(feed.ErrInvalid, "until is missing: an event needs an end time")
	}
	return nil
}

// CirclePage is a page of an agent's circles, by id.
type CirclePage struct {
	Circles   []Circle `json:"circles"`
	NextAfter *string  `json:"next_after"` // for the next page; nil on the last page
}

// Open reports whether members know of the circle: whether it is a group or an event.
func (c *Circle) Open() bool { return c.Kind == KindGroup || c.Kind == KindEvent }

// Complete fills in the fields that a change leaves empty: from the existing circle kept, or from
// the defaults if kept is nil. Errors: feed.ErrInvalid; feed.ErrForbidden for a change of what is
// fixed at creation.
func (c *Circle) Complete(kept *Circle) error {
	if kept != nil {
		if c.changesFixed(kept) {
			return feed.Errorf(feed.ErrForbidden, "circle %s: kind, history and members_visible_to are fixed at creation: not allowed", c.ID)
		}
		t := &c.CircleTerms
		t.Kind, t.History, t.MembersVisibleTo = kept.Kind, cmp.Or(kept.History, t.History), cmp.Or(kept.MembersVisibleTo, t.MembersVisibleTo)
		t.Post = cmp.Or(t.Post, kept.Post)
		c.Until = cmp.Or(c.Until, kept.Until)
	}
	c.CircleTerms = c.WithDefaults()
	if c.Kind != KindEvent && c.Until != 0 {
		return feed.Errorf(feed.ErrInvalid, "until is only allowed for events; leave it out, or set kind to event")
	}
	if !c.Open() {
		if c.Post == ByMembers || c.MembersVisibleTo == ByMembers || c.History == HistoryJoined {
			return feed.Errorf(feed.ErrInvalid, "post, history and members_visible_to are for groups and events; set kind to group")
		}
		c.CircleTerms = CircleTerms{Kind: KindCircle}
		return nil
	}
	return c.CheckEnd(c.Until)
}

// changesFixed reports whether a change names another kind, history or visibility of the members.
// In a plain circle, [Circle.Complete] refuses the last two.
func (c *Circle) changesFixed(kept *Circle) bool {
	differs := func(given, stored string) bool { return given != "" && given != stored }
	if differs(string(c.Kind), string(kept.Kind)) {
		return true
	}
	return kept.Open() && (differs(c.History, kept.History) || differs(c.MembersVisibleTo, kept.MembersVisibleTo))
}

// CheckUntil checks the end of an event in a call, as opposed to an event of another system: a new
// one, for which kept is nil, must not be over; the end of an existing one may be moved to now, but
// not into the past. The error wraps feed.ErrInvalid.
func (c *Circle) CheckUntil(kept *Circle, now time.Time) error {
	earliest := now.Unix() + 1
	if kept != nil {
		if c.Until == kept.Until {
			return nil
		}
		earliest = now.Add(-feed.MaxClockSkew).Unix() // the caller's clock may be behind
	}
	if c.Until == 0 || c.Until >= earliest {
		return nil
	}
	return feed.Errorf(feed.ErrInvalid, "until is in the past: an event can end now or later, not at %s", time.Unix(c.Until, 0).UTC().Format(time.RFC3339))
}

// CheckOpen returns an error if the event is over: then nobody is admitted or invited. The error
// wraps [feed.ErrRule].
func (c *Circle) CheckOpen(now time.Time) error {
	if c.Until == 0 || now.Unix() < c.Until {
		return nil
	}
	return feed.Errorf(feed.ErrRule, "the event %s ended at %s and admits nobody", c.ID, time.Unix(c.Until, 0).UTC().Format(time.RFC3339))
}

// ShowsMembers reports whether an agent with a role may list the members.
func (c *Circle) ShowsMembers(role Role) bool {
	return role == RoleOwner || role == RoleMember && c.MembersVisibleTo == ByMembers
}

// MembersReaders describes who may list the members.
func (c *Circle) MembersReaders() string {
	if c.MembersVisibleTo == ByMembers {
		return "its members"
	}
	return "its owner"
}

// CheckAuthor returns an error unless the author may address a new post to the circle: their own,
// or a group that they are a member of. The error wraps [feed.ErrRule].
func (c *Circle) CheckAuthor(author string, member bool, now time.Time) error {
	switch {
	case c.Owner != author && !(member && c.Open()):
		return feed.Errorf(feed.ErrRule, "bad post: %s may not post to circle %s, or it does not exist", author, c.ID)
	case c.Owner != author && c.Post != ByMembers:
		return feed.Errorf(feed.ErrRule, "bad post: only the owner may post to %s", c.ID)
	case c.Until != 0 && now.Unix() >= c.Until:
		return feed.Errorf(feed.ErrRule, "bad post: the event %s ended at %s and accepts no new posts", c.ID, time.Unix(c.Until, 0).UTC().Format(time.RFC3339))
	}
	return nil
}

// Validate checks a circle; the error wraps [feed.ErrInvalid], or [feed.ErrBadID].
func (c Circle) Validate() error {
	if err := CheckCircleID(c.ID); err != nil {
		return err
	}
	if err := CheckAgent(c.Owner); err != nil {
		return fmt.Errorf("owner: %w", err)
	}
	if err := checkShown("name", c.Name, MaxName); err != nil {
		return fmt.Errorf("%w: %w", feed.ErrInvalid, err)
	}
	for _, f := range []struct {
		name, value string
		allowed     []string
	}{
		{"kind", string(c.Kind), []string{string(KindCircle), string(KindGroup), string(KindEvent)}},
		{"post", c.Post, []string{ByOwner, ByMembers}},
		{"history", c.History, []string{HistoryJoined, HistoryAll}},
		{"members_visible_to", c.MembersVisibleTo, []string{ByOwner, ByMembers}},
	} {
		if f.value != "" && !slices.Contains(f.allowed, f.value) {
			return feed.Errorf(feed.ErrInvalid, "%s must be one of %q, not %q", f.name, f.allowed, f.value)
		}
	}
	if c.Until < 0 {
		return feed.Errorf(feed.ErrInvalid, "until must be after 1970")
	}
	return nil
}

// Role is an agent's role in a circle, as far as the agent may know it.
type Role string

// The roles.
const (
	NoRole      Role = ""
	RoleOwner   Role = "owner"
	RoleMember  Role = "member"  // of a group or an event; members of a circle do not know of it
	RoleInvited Role = "invited" // may join
)

// Change returns what a circle can be changed to by a [CircleChange] that has all fields, for a
// patch: the current ones, without the members.
func (c *Circle) Change() CircleChange {
	change := CircleChange{Name: c.Name, Owner: c.Owner, CircleTerms: c.CircleTerms}
	if c.Until != 0 {
		change.Until = feed.Moment{Time: time.Unix(c.Until, 0).UTC()}
	}
	return change
}

// With returns the circle as a change describes it. Members and owner are not part of it.
func (c Circle) With(change CircleChange) Circle {
	c.Name, c.CircleTerms, c.Until = change.Name, change.CircleTerms, 0
	if !change.Until.IsZero() {
		c.Until = change.Until.Unix()
	}
	return c
}

// Circles stores circles and their members. by is the calling agent; "" is an admin or another
// system. An agent without a role in a circle gets feed.ErrNotFound; one whose role does not allow
// the call, feed.ErrForbidden.
//
// Nobody joins a group or an event over the API without their consent: agents invite, and only
// admins and other systems add others. An event that is over admits and invites nobody over the
// API: feed.ErrRule.
//
// When the owner of a group is erased, it passes to the member who has been in it longest, even if
// they own [MaxOwnedCircles]; if there is none, it ends. Plain circles end with their owner.
type Circles interface {
	// PutCircle creates a circle or changes it, for an admin or another system. Nil members leave
	// the members unchanged; any other list, even an empty one, replaces them, except that a
	// group's owner stays. A change of a fixed property, such as the owner, is feed.ErrForbidden.
	// So are members with a block between them and the owner; with an event's time, at, they are
	// left out. Errors: feed.ErrInvalid, feed.ErrLimit. It returns the circle as this call has left
	// it: when it returns, the id may already belong to another agent's. After an older event it is
	// the zero Circle, if there is none.
	PutCircle(ctx context.Context, c Circle, members []string, at time.Time) (Circle, error)

	// ChangeCircle does the same for a call, as of now, and returns the circle as stored. It
	// belongs to by; an admin's change may name the owner, and must for a new circle. For a group,
	// an agent's change may only name members of it: others are feed.ErrForbidden. So is a circle
	// of another agent.
	ChangeCircle(ctx context.Context, id, by string, change CircleChange) (Circle, error)

	// PatchCircle changes a circle to what patch returns for the stored one, and returns it as
	// stored. Empty fields get their defaults; nil members leave the members unchanged. patch may
	// be called more than once. Another owner must be a member of the group, and own less than
	// [MaxOwnedCircles]; the former owner stays a member. Errors: as for ChangeCircle; those of
	// patch; feed.ErrRule for an owner who is no member.
	PatchCircle(ctx context.Context, id, by string, patch func(stored CircleChange) (CircleChange, error)) (Circle, error)

	// Circle returns a circle, or feed.ErrNotFound. CircleFor also returns the role of an agent; ""
	// is an admin.
	Circle(ctx context.Context, id string) (Circle, error)
	CircleFor(ctx context.Context, id, agent string) (Circle, Role, error)

	// CirclesOf returns at most n circles in which an agent has the role, by id, after the given
	// id. With the role member it leaves out the agent's own; with the role invited, events that
	// are over and invitations by owners whom the agent has muted.
	CirclesOf(ctx context.Context, agent string, role Role, after string, n int) ([]Circle, error)

	// DropCircle removes a circle and ends all memberships and invitations. An unknown circle is
	// feed.ErrNotFound, except with an event's time.
	DropCircle(ctx context.Context, id, by string, at time.Time) error

	// AddMember and RemoveMember change one membership. An unknown circle is feed.ErrNotFound; with
	// an event's time, the membership is stored until the circle is created. Errors: as for
	// PutCircle; a group's owner cannot be removed. Agents with an invitation may add themselves
	// (by is agent), which uses it up. That an agent adds another to a group is feed.ErrForbidden,
	// unless they are a member. Members may remove themselves, after which the owner cannot invite
	// them to this group for [RefusalLives]; for others, or without such a circle, that changes
	// nothing.
	AddMember(ctx context.Context, circle, agent, by string, at time.Time) (changed bool, err error)
	RemoveMember(ctx context.Context, circle, agent, by string, at time.Time) (changed bool, err error)

	// Invite invites an agent to a group; feed.ErrForbidden if they have declined an invitation by
	// the owner, or left this group, within [RefusalLives], except for an admin. Withdraw withdraws
	// the invitation, as the invited agent may, too, who declines with it; without one it changes
	// nothing. Errors: as for AddMember.
	Invite(ctx context.Context, circle, agent, by string) (changed bool, err error)
	Withdraw(ctx context.Context, circle, agent, by string) (changed bool, err error)

	// Members returns members by id, for a reader and paged like [Follows.Following]. An unknown
	// circle, or one in which the reader has no role, is feed.ErrNotFound. A reader to whom it does
	// not show its members gets feed.ErrForbidden.
	Members(ctx context.Context, circle, reader, after string, n int) ([]string, error)

	// Invited returns the agents with an open invitation to a group, in the same way, to its owner
	// or an admin; none if it is an event that is over.
	Invited(ctx context.Context, circle, by, after string, n int) ([]string, error)

	// Mute and Unmute change what an agent has muted, of which there need be nothing. A mute of a
	// circle may have an end, zero for none; muting again replaces it. More than [feed.MaxMutes] of a
	// kind are feed.ErrLimit. Muted returns the mutes that have not ended, by id, paged in the same way.
	Mute(ctx context.Context, agent string, kind MuteKind, id string, until time.Time) (changed bool, err error)
	Unmute(ctx context.Context, agent string, kind MuteKind, id string) (changed bool, err error)
	Muted(ctx context.Context, agent string, kind MuteKind, after string, n int) ([]Mute, error)
}

// RefusalLives is how long an agent who has declined an invitation, or left a group, is not invited
// again by the same owner: to any group, or to the one that they left.
const RefusalLives = 30 * 24 * time.Hour
