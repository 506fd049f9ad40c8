package social

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/freshet/freshet/feed"
)

// ChangeType is the type of a [Change].
type ChangeType string

// The types of changes. Those that events of other systems report have the names of these events.
const (
	FollowMade     ChangeType = "follow.created"
	FollowEnded    ChangeType = "follow.removed"
	LikeMade       ChangeType = "like.created"
	LikeEnded      ChangeType = "like.removed"
	PostMade       ChangeType = "post.created"
	PostEdited     ChangeType = "post.updated"
	PostEnded      ChangeType = "post.deleted"
	ReplyMade      ChangeType = "reply.created"
	MentionMade    ChangeType = "mention.created"
	BlockMade      ChangeType = "block.created"
	BlockEnded     ChangeType = "block.removed"
	MemberJoined   ChangeType = "member.joined"
	MemberLeft     ChangeType = "member.left"
	InvitationMade ChangeType = "invitation.created"
	ReportMade     ChangeType = "report.created"
	PostHeld       ChangeType = "post.held"
	PostRemoved    ChangeType = "post.removed"
	PostRestored   ChangeType = "post.restored"
)

// ChangeTypes lists all types.
func ChangeTypes() []ChangeType {
	return []ChangeType{
		FollowMade, FollowEnded, LikeMade, LikeEnded, PostMade, PostEdited, PostEnded, ReplyMade, MentionMade,
		BlockMade, BlockEnded, MemberJoined, MemberLeft, InvitationMade, ReportMade, PostHeld, PostRemoved, PostRestored,
	}
}

// Change is a committed change. It names things and has none of their content.
type Change struct {
	Cursor string // continues after this change
	Type   ChangeType
	At     int64 // when it was made, a stamp
	// Agent is who made it: the follower, the author of a post, who likes, blocks, joins or leaves, the
	// owner of a group who invites, who reports. It is "" if they were erased and the post with them, and
	// for what moderators do.
	Agent string
	// Other is whom it concerns: who is followed, mentioned, blocked, invited or reported, and the author of a
	// post that is liked or answered. It is "" for none.
	Other  string
	Object string // the post, or the group or event, or the item that is reported; "" for none
	Parent string // the post that a reply answers; "" for none
}

// ChangePage is the result of [ChangeReader.Changes].
type ChangePage struct {
	Changes []Change
	Next    string // the cursor that continues after them
	More    bool   // there may be more at once
}

// FromOldest is the cursor before all changes that are kept.
const FromOldest = "oldest"

// ChangeReader reads the changes that [Options.KeepChanges] keeps. Each was written in the transaction that
// made it.
type ChangeReader interface {
	// Changes returns at most n changes of some types, all if there are none, that were committed and
	// that the cursor does not have behind it. "" only returns a cursor, after all changes so far.
	//
	// Changes of one post, of two agents, and of one agent in a group are in the order in which they
	// were made; others may be in another order. A reader who always continues with the cursor of the
	// last change that they have got gets each change exactly once, except those that named an agent
	// who was erased in the meantime.
	//
	// Errors: feed.ErrInvalid for a malformed cursor; feed.ErrGone for one that is too old, or of
	// another database; feed.ErrForbidden if no changes are kept.
	Changes(ctx context.Context, cursor string, types []ChangeType, n int) (ChangePage, error)
}

// MaxChanges is the maximum number of changes of one call.
const MaxChanges = 1000

// CheckChangeTypes returns an error for a type that does not exist.
func CheckChangeTypes(types []ChangeType) error {
	for _, t := range types {
		if !slices.Contains(ChangeTypes(), t) {
			var known []string
			for _, k := range ChangeTypes() {
				known = append(known, string(k))
			}
			return fmt.Errorf("%w: there are no changes of the type %.40q; known are %s", feed.ErrInvalid, t, strings.Join(known, ", "))
		}
	}
	return nil
}
