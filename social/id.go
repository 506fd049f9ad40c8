package social

import (
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/freshet/freshet/feed"
)

// Server is a reserved author id, which no agent can have: its followers get every public post.
const Server = "@server"

// PostPrefix is the prefix of the id of every post, and of no other id.
const PostPrefix = feed.PostPrefix

// Limits that this package checks. Lengths are in characters.
const (
	MaxCaption       = 5000
	MaxImages        = 10
	MaxAlt           = 1500
	MaxMentions      = 100
	MaxCircles       = 20 // circles a post may address
	MaxGrants        = 10_000
	MaxFollowees     = 7500
	MaxEdges         = 10_000 // follows made in one call
	MaxCircleMembers = 5000
	MaxOwnedCircles  = 500  // circles, groups and events of one owner
	MaxMemberships   = 1000 // groups and events that an agent is in
	MaxInvitations   = 1000 // open invitations of an agent; a group may have as many as it may have members
	MaxInvitedBy     = 20   // open invitations of an agent by one owner, so that no owner uses up another agent's limit
	MaxName          = 256
	MaxBio           = 2000
	MaxURL           = 2048
	MaxKey           = 255 // of an idempotency key
)

// CheckPostID checks that id can name a post: [PostPrefix] and an id that [feed.CheckAgentID]
// accepts. The error wraps [feed.ErrBadID].
func CheckPostID(id string) error {
	rest, ok := strings.CutPrefix(id, PostPrefix)
	if !ok {
		return fmt.Errorf("%w: the id of a post begins with %q", feed.ErrBadID, PostPrefix)
	}
	return check("the id of a post after "+PostPrefix, rest)
}

// CheckAgent checks that id can name an agent: [feed.CheckAgentID] accepts it, and it is not
// [Server]. The error wraps [feed.ErrBadID].
func CheckAgent(id string) error {
	if id == Server {
		return fmt.Errorf("%w: %s is reserved, no agent can have this id", feed.ErrBadID, Server)
	}
	return feed.CheckAgentID(id)
}

// CheckCircleID checks that id can name a circle. The error wraps [feed.ErrBadID].
func CheckCircleID(id string) error { return check("the id of a circle", id) }

// check applies the rules of [feed.CheckAgentID] to another kind of id, named by what.
func check(what, id string) error {
	if feed.CheckAgentID(id) == nil {
		return nil
	}
	return fmt.Errorf("%w: %s must have 1 to %d characters of %s", feed.ErrBadID, what, feed.MaxAgentID, feed.AgentAlphabet)
}

// CheckKey checks that key can be an idempotency key: 1 to [MaxKey] printable ASCII characters. The
// error wraps [feed.ErrInvalid].
func CheckKey(key string) error {
	if key == "" || len(key) > MaxKey {
		return fmt.Errorf("%w: an idempotency key must have 1 to %d characters, this one has %d", feed.ErrInvalid, MaxKey, len(key))
	}
	for i := range len(key) {
		if key[i] < 0x20 || key[i] > 0x7e {
			return fmt.Errorf("%w: an idempotency key must be printable ASCII", feed.ErrInvalid)
		}
	}
	return nil
}

// NewPostID returns a new id. Ids sort as text by their time of creation, to the microsecond; 8
// random bytes make them unique.
func NewPostID(now time.Time, random io.Reader) (string, error) {
	var salt [8]byte
	if _, err := io.ReadFull(random, salt[:]); err != nil {
		return "", fmt.Errorf("post id: %w", err)
	}
	return fmt.Sprintf("%s%014x%s", PostPrefix, Stamp(now), hex.EncodeToString(salt[:])), nil
}
