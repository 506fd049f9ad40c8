package social

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/freshet/freshet/feed"
)

// CircleKind tells a circle from a group and an event.
type CircleKind string

// The kinds of circles.
const (
	KindCircle CircleKind = "circle" // private to its owner: members are not told of it
	KindGroup  CircleKind = "group"  // members know it
	KindEvent  CircleKind = "event"  // a group that takes no posts once it has ended
)

// Whom a right in a group is given to.
const (
	ByOwner   = "owner"
	ByMembers = "members" // the owner is one of them
)

// Which posts of a group its members see.
const (
	HistoryJoined = "joined" // those since they have joined it
	HistoryAll    = "all"
)

// CircleTerms tell who posts to a circle and who sees what of it. Of a change, what is empty stays as it is, or has its
// default in a circle that is made.
type CircleTerms struct {
	Kind    CircleKind `json:"kind,omitempty"`    // default [KindCircle]; never changed
	Post    string     `json:"post,omitempty"`    // who addresses posts to it: [ByMembers], the default, or [ByOwner]
	History string     `json:"history,omitempty"` // default [HistoryJoined]; never changed
	// MembersVisibleTo says who reads who is in it: [ByOwner], the default, or [ByMembers].
	MembersVisibleTo string `json:"members_visible_to,omitempty"`
}

// Circle is a named set of agents, owned by one. Of a [KindCircle] the terms beside the
// kind are empty: its owner posts, its members see all. Of a group its owner is a member.
type Circle struct {
	ID    string `json:"id"`
	Owner string `json:"owner"`
	Name  string `json:"name,omitempty"`
	Size  int    `json:"size"` // members; of a Circle to be put it is not read
	CircleTerms
	Until int64 `json:"until,omitempty"` // when an event ends, in Unix seconds
}

// CircleChange is a change of a circle, or a new one.
type CircleChange struct {
	Name  string `json:"name,omitempty"`
	Owner string `json:"owner,omitempty"` // an admin names it for a new circle
	// Members replace those that there are; nil: they stay.
	Members []string `json:"members,omitzero"`
	CircleTerms
	Until feed.Moment `json:"until,omitzero"` // an event ends then
}

// CirclePage is a page of an agent's circles, by id.
type CirclePage struct {
	Circles   []Circle `json:"circles"`
	NextAfter *string  `json:"next_after"` // for the next page; nil: this is the last
}

// Open reports whether members know the circle: a group or an event.
func (c *Circle) Open() bool { return c.Kind == KindGroup || c.Kind == KindEvent }

// Settle fills in what a change leaves open, from the circle that is there, or, where kept is
// nil, from the defaults. Errors: feed.ErrInvalid; feed.ErrForbidden for what is never changed.
func (c *Circle) Settle(kept *Circle) error {
	if kept != nil {
		if c.Kind != "" && c.Kind != kept.Kind || c.History != "" && kept.Open() && c.History != kept.History {
			return feed.Errorf(feed.ErrForbidden, "circle %s: kind and history are fixed when it is made: not allowed", c.ID)
		}
		t := &c.CircleTerms
		t.Kind, t.History = kept.Kind, cmp.Or(kept.History, t.History)
		t.Post, t.MembersVisibleTo = cmp.Or(t.Post, kept.Post), cmp.Or(t.MembersVisibleTo, kept.MembersVisibleTo)
		c.Until = cmp.Or(c.Until, kept.Until)
	}
	c.Kind = cmp.Or(c.Kind, KindCircle)
	if c.Kind != KindEvent && c.Until != 0 {
		return feed.Errorf(feed.ErrInvalid, "until is an event's; leave it out, or make an event")
	}
	if !c.Open() {
		if c.Post == ByMembers || c.MembersVisibleTo == ByMembers || c.History == HistoryJoined {
			return feed.Errorf(feed.ErrInvalid, "post, history and members_visible_to are for groups and events; set kind to group")
		}
		c.CircleTerms = CircleTerms{Kind: KindCircle}
		return nil
	}
	if c.Kind == KindEvent && c.Until == 0 {
		return feed.Errorf(feed.ErrInvalid, "until is missing: an event has the time at which it ends")
	}
	c.Post, c.History = cmp.Or(c.Post, ByMembers), cmp.Or(c.History, HistoryJoined)
	c.MembersVisibleTo = cmp.Or(c.MembersVisibleTo, ByOwner)
	return nil
}

// Takes reports whether an author may address a new post to the circle: to their own, or to
// a group that they are a member of. The error wraps [feed.ErrRule].
func (c *Circle) Takes(author string, member bool, now time.Time) error {
	switch {
	case c.Owner != author && !(member && c.Open()):
		return feed.Errorf(feed.ErrRule, "bad post: %s has no circle %s", author, c.ID)
	case c.Owner != author && c.Post != ByMembers:
		return feed.Errorf(feed.ErrRule, "bad post: only its owner posts to %s", c.ID)
	case c.Until != 0 && now.Unix() >= c.Until:
		return feed.Errorf(feed.ErrRule, "bad post: the event %s ended at %s and takes no new posts", c.ID, time.Unix(c.Until, 0).UTC().Format(time.RFC3339))
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
		return feed.Errorf(feed.ErrInvalid, "until must lie after 1970")
	}
	return nil
}

// Role is the part of an agent in a circle, as far as they know it.
type Role string

// The roles.
const (
	NoRole      Role = ""
	RoleOwner   Role = "owner"
	RoleMember  Role = "member"  // of a group: who is in a circle is not told
	RoleInvited Role = "invited" // may join
)

// Circles keeps circles and their members. by is who asks: "" is an admin or another system.
// Whoever has no role in a circle gets feed.ErrNotFound; with a role that does not allow it,
// feed.ErrForbidden.
type Circles interface {
	// PutCircle makes a circle or changes it. Nil members stay as they are; others, also an
	// empty list, replace them all; a group's owner stays in it. What is never changed, such
	// as its owner, and members across a block with the owner are feed.ErrForbidden; of an
	// event such members are left out. Errors: feed.ErrInvalid, feed.ErrLimit.
	PutCircle(ctx context.Context, c Circle, members []string, at time.Time) error

	// Circle reads one, or feed.ErrNotFound. CircleFor reads one for an agent, "" for an
	// admin, with their role.
	Circle(ctx context.Context, id string) (Circle, error)
	CircleFor(ctx context.Context, id, agent string) (Circle, Role, error)

	// CirclesOf lists at most n circles that an agent has a role in, by id, after an id.
	// Those of the role member are other agents'.
	CirclesOf(ctx context.Context, agent string, role Role, after string, n int) ([]Circle, error)

	// DropCircle removes a circle and ends all memberships and invitations.
	// feed.ErrNotFound, but for an event.
	DropCircle(ctx context.Context, id, by string, at time.Time) error

	// AddMember and RemoveMember change one membership. An unknown circle is feed.ErrNotFound;
	// as an event the membership is kept until the circle is created. Errors: as PutCircle; a
	// group's owner cannot be removed. Who is invited may add themself (by is agent), which
	// uses the invitation up. Members may remove themselves; for others, and of a circle that
	// does not exist, that changes nothing.
	AddMember(ctx context.Context, circle, agent, by string, at time.Time) (changed bool, err error)
	RemoveMember(ctx context.Context, circle, agent, by string, at time.Time) (changed bool, err error)

	// Invite invites an agent to a group, and Withdraw takes that back, as the invited agent
	// may, too. Who is not invited changes nothing by it. Errors: as AddMember.
	Invite(ctx context.Context, circle, agent, by string) (changed bool, err error)
	Withdraw(ctx context.Context, circle, agent, by string) (changed bool, err error)

	// Members lists members by id, as [Follows.Following] does; none of a circle that is not there.
	Members(ctx context.Context, circle, after string, n int) ([]string, error)
}
