package social

import (
	"fmt"

	"github.com/freshet/freshet/feed"
)

// MaxReason is the maximum length of the reason of a removal, in characters.
const MaxReason = 500

// Who has removed a post or a reply, other than its author.
const (
	ByGroupOwner = "group_owner" // of a group or an event that its root post addresses
	ByPostAuthor = "post_author" // of the root post
	ByAdmin      = "admin"
)

// Removal says that a post was removed from a group, or a reply from a thread, or that moderators hold
// or have removed a post. Only the author of the post sees it.
type Removal struct {
	By     string `json:"by"` // [ByGroupOwner], [ByPostAuthor] or [ByAdmin]
	Reason string `json:"reason,omitempty"`
	At     int64  `json:"at"`               // Unix seconds
	Circle string `json:"circle,omitempty"` // the group; "" for a reply that was removed from its thread, or for everything
	// Held means that moderators have hidden the post until they decide.
	Held bool `json:"held,omitempty"`
}

// CheckReason checks the reason of a removal; the error wraps [feed.ErrInvalid].
func CheckReason(reason string) error {
	if err := checkShown("reason", reason, MaxReason); err != nil {
		return fmt.Errorf("%w: %w", feed.ErrInvalid, err)
	}
	return nil
}
