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
	// MembersVisibleTo says who may read its members: [ByOwner], the default, or [ByMembers].
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
	Name  string `json:"name,omitempty"`
	Owner string `json:"owner,omitempty"` // given by an admin who creates a circle
	// Members replaces the members; nil leaves them unchanged.
	Members []string `json:"members,omitzero"`
	CircleTerms
	Until feed.Moment `json:"until,omitzero"` // when an event ends
}

// CirclePage is a page of an agent's circles, by id.
type CirclePage struct {
	Circles   []Circle `json:"circles"`
	NextAfter *string  `json:"next_after"` // for the next page; nil on the last page
}

// Open reports whether members know of the circle: whether it is a group or an event.
func (c *Circle) Open() bool { return c.Kind == KindGroup || c.Kind == KindEvent }

// Complete fills in the fields that a change leaves empty: from the existing circle kept, or from
// the defaults if kept is nil. Errors: feed.ErrInvalid; feed.ErrForbidden for a change of the kind
// or the history.
func (c *Circle) Complete(kept *Circle) error {
	if kept != nil {
		if c.Kind != "" && c.Kind != kept.Kind || c.History != "" && kept.Open() && c.History != kept.History {
			return feed.Errorf(feed.ErrForbidden, "circle %s: kind and history are fixed at creation: not allowed", c.ID)
		}
		t := &c.CircleTerms
		t.Kind, t.History = kept.Kind, cmp.Or(kept.History, t.History)
		t.Post, t.MembersVisibleTo = cmp.Or(t.Post, kept.Post), cmp.Or(t.MembersVisibleTo, kept.MembersVisibleTo)
		c.Until = cmp.Or(c.Until, kept.Until)
	}
	c.Kind = cmp.Or(c.Kind, KindCircle)
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
	if c.Kind == KindEvent && c.Until == 0 {
		return feed.Errorf(feed.ErrInvalid, "until is missing: an event needs an end time")
	}
	c.Post, c.History = cmp.Or(c.Post, ByMembers), cmp.Or(c.History, HistoryJoined)
	c.MembersVisibleTo = cmp.Or(c.MembersVisibleTo, ByOwner)
	return nil
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

// Circles stores circles and their members. by is the calling agent; "" is an admin or another
// system. An agent without a role in a circle gets feed.ErrNotFound; one whose role does not allow
// the call, feed.ErrForbidden.
type Circles interface {
	// PutCircle creates a circle or changes it. Nil members leave the members unchanged; any other
	// list, even an empty one, replaces them, except that a group's owner stays. A change of a
	// fixed property, such as the owner, is feed.ErrForbidden. So are members with a block between
	// them and the owner; with an event's time, at, they are left out. Errors: feed.ErrInvalid,
	// feed.ErrLimit. It returns the circle as this call has left it: when it returns, the id may
	// already belong to another agent's. After an older event it is the zero Circle, if there is none.
	PutCircle(ctx context.Context, c Circle, members []string, at time.Time) (Circle, error)

	// Circle returns a circle, or feed.ErrNotFound. CircleFor also returns the role of an agent; ""
	// is an admin.
	Circle(ctx context.Context, id string) (Circle, error)
	CircleFor(ctx context.Context, id, agent string) (Circle, Role, error)

	// CirclesOf returns at most n circles in which an agent has the role, by id, after the given
	// id. With the role member it leaves out the agent's own.
	CirclesOf(ctx context.Context, agent string, role Role, after string, n int) ([]Circle, error)

	// DropCircle removes a circle and ends all memberships and invitations. An unknown circle is
	// feed.ErrNotFound, except with an event's time.
	DropCircle(ctx context.Context, id, by string, at time.Time) error

	// AddMember and RemoveMember change one membership. An unknown circle is feed.ErrNotFound; with
	// an event's time, the membership is stored until the circle is created. Errors: as for
	// PutCircle; a group's owner cannot be removed. Agents with an invitation may add themselves
	// (by is agent), which uses it up. Members may remove themselves; for others, or without such a
	// circle, that changes nothing.
	AddMember(ctx context.Context, circle, agent, by string, at time.Time) (changed bool, err error)
	RemoveMember(ctx context.Context, circle, agent, by string, at time.Time) (changed bool, err error)

	// Invite invites an agent to a group. Withdraw withdraws the invitation, as the invited agent
	// may, too; without one it changes nothing. Errors: as for AddMember.
	Invite(ctx context.Context, circle, agent, by string) (changed bool, err error)
	Withdraw(ctx context.Context, circle, agent, by string) (changed bool, err error)

	// Members returns members by id, for a reader and paged like [Follows.Following]. An unknown
	// circle, or one in which the reader has no role, is feed.ErrNotFound. A reader to whom it does
	// not show its members gets feed.ErrForbidden.
	Members(ctx context.Context, circle, reader, after string, n int) ([]string, error)
}
