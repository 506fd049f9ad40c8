package social

import (
	"time"

	"github.com/freshet/freshet/feed"
)

// MuteKind is what an agent can mute in a store.
type MuteKind string

// The kinds of mutes.
const (
	// MuteCircle mutes a group or an event: its posts are in the agent's timeline only for another
	// reason. They stay visible, and the agent a member.
	MuteCircle MuteKind = "circle"
	// MuteInviter mutes the invitations by an owner: the agent does not see them, and they do not
	// count among theirs.
	MuteInviter MuteKind = "inviter"
	// MuteNotification mutes a [NotificationKind].
	MuteNotification MuteKind = "notification"
)

// Mute names one thing that an agent has muted.
type Mute struct {
	ID    string
	Until time.Time // when it ends; zero means never
}

// Check checks a mute; the error wraps [feed.ErrBadID] or [feed.ErrInvalid].
func (k MuteKind) Check(agent, id string) error {
	if err := CheckAgent(agent); err != nil {
		return err
	}
	switch k {
	case MuteCircle:
		return CheckCircleID(id)
	case MuteInviter:
		return CheckAgent(id)
	case MuteNotification:
		return NotificationKind(id).Check()
	}
	return feed.Errorf(feed.ErrInvalid, "nothing of the kind %q can be muted", k)
}
