package social

import (
	"context"
	"slices"
	"strings"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/feed/api"
)

// NotificationKind says which act a [Notification] tells of.
type NotificationKind string

// The kinds of notifications.
const (
	NotifyFollow     NotificationKind = "follow"     // the actor follows the agent
	NotifyLike       NotificationKind = "like"       // the actor likes a post of the agent
	NotifyReply      NotificationKind = "reply"      // the actor has replied to a post of the agent
	NotifyMention    NotificationKind = "mention"    // a post of the actor mentions the agent
	NotifyInvitation NotificationKind = "invitation" // the actor invites the agent to a group or an event
	NotifyJoined     NotificationKind = "joined"     // the actor has joined a group or an event of the agent
)

// NotificationKinds lists all kinds.
func NotificationKinds() []NotificationKind {
	return []NotificationKind{NotifyFollow, NotifyLike, NotifyReply, NotifyMention, NotifyInvitation, NotifyJoined}
}

// Check returns an error for a kind that does not exist.
func (k NotificationKind) Check() error {
	if slices.Contains(NotificationKinds(), k) {
		return nil
	}
	var known []string
	for _, kind := range NotificationKinds() {
		known = append(known, string(kind))
	}
	return feed.Errorf(feed.ErrInvalid, "there are no notifications of the kind %.40q; known are %s", string(k), strings.Join(known, ", "))
}

// Notification tells an agent of one act of another agent that still stands.
type Notification struct {
	Kind  NotificationKind
	Actor Author // without Bio
	// Post is the post that it is about: the agent's own that is liked or answered, or the one that
	// mentions the agent. Reply is the reply. Root is the root post of the thread of these, "" if Post
	// is that itself.
	Post, Reply, Root string
	Circle            CircleRef // the group or event of an invitation, or that was joined
	// Number orders an agent's notifications, the highest is the newest; those of one write have the
	// same. An agent who has got one sees no lower one appear later.
	Number int64
	At     int64 // when it was made, a stamp
}

// Inbox has the notifications of an agent.
type Inbox struct {
	List []Notification // the newest first
	InboxState
}

// InboxState says how far an agent's notifications go, and which of them the agent has seen.
type InboxState struct {
	Last int64 // the number of the newest, even if the agent may not know of it; 0 if there was none
	Seen int64 // those up to this number are seen
}

// Notifications tells agents what others do that concerns them: see [Options.KeepNotifications].
type Notifications interface {
	// Notifications returns all notifications of an agent that are kept, of acts that stand now, about
	// what the agent may see now: nothing of agents separated from it by a block, of posts or groups
	// that it does not see or that its mutes of groups, inviters and kinds leave out, or from before
	// the erasure of either agent. The error is feed.ErrForbidden if none are kept.
	Notifications(ctx context.Context, agent string) (Inbox, error)

	// InboxStates returns the state for each agent, in order.
	InboxStates(ctx context.Context, agents []string) ([]InboxState, error)

	// SeeNotifications marks an agent's notifications up to a number as seen, and reports whether they
	// were not before: the marker never moves back. A number above the last one is feed.ErrInvalid.
	SeeNotifications(ctx context.Context, agent string, upTo int64) (changed bool, err error)
}

// Notice is a group of notifications as answers have it: of one kind, about one post or group; of follows, and
// of those who join a group, on one day (UTC).
type Notice struct {
	Kind   NotificationKind `json:"kind"`
	Actors []api.PostAuthor `json:"actors"`           // at most three, the latest first
	Count  int              `json:"count"`            // the number of all actors
	Post   *GridCard        `json:"post,omitempty"`   // what it is about; nil for a follow, or about a group
	Reply  *GridCard        `json:"reply,omitempty"`  // the newest reply; nil for other kinds
	Circle *CircleRef       `json:"circle,omitempty"` // the group or event; nil for other kinds
	At     int64            `json:"at"`               // of the newest, in Unix seconds
	Marker int64            `json:"marker"`           // marks it, and older ones, as seen
	Unread bool             `json:"unread"`
}

// NoticePage is a page of an agent's notifications, the newest first.
type NoticePage struct {
	Notices    []Notice `json:"notifications"`
	NextCursor *string  `json:"next_cursor"`        // nil on the last page
	Unread     int      `json:"unread"`             // the number of unread ones, 99 for that many or more
	Marker     int64    `json:"marker"`             // marks all of before the answer as seen
	Degraded   []string `json:"degraded,omitempty"` // the missing parts, as in the answer of a feed
}
