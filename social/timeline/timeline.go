// Package timeline stores lists: the precomputed timelines of agents, and the outboxes of
// authors with many followers, which are lists with the same rules. A list proposes ids, newest
// first; the social store decides whether the reader may see a post.
//
// A list is complete above its floor, or it does not exist: as soon as the jobs have run it has
// every post that the store would deliver and that is newer than the floor. Lists of agents who do
// not read expire. Nothing is pushed into a list that does not exist: it would look complete while
// older posts are missing.
package timeline

import (
	"context"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// Position is the position of an entry in a list. As a bound of pages it is exclusive, as the floor
// of a list inclusive. Its time is within ±2^53, and a post never changes its position.
type Position = social.Position

// ErrUnavailable is wrapped by errors that say that the lists are unavailable, or that too few
// replicas have confirmed a write, which may have been made. Every method may be called again.
var ErrUnavailable = &feed.Outage{Text: "the timelines are unavailable", Shown: "timelines are unavailable; try again later"}

const (
	// Cap is how many entries a timeline holds.
	Cap = 500
	// OutboxCap is how many entries an outbox holds.
	OutboxCap = 100
	// TrimMore is the divisor of the cap for the number of entries that are trimmed in addition
	// to those above the cap, so that not every push into a full list has to trim.
	TrimMore = 64
	// TTL is how long a list lives after it was built or read.
	TTL = 7 * 24 * time.Hour
	// TakeOver is the age of a build after which another one may take over.
	TakeOver = 10 * time.Second
	// BuildTTL is how long a list lives whose build is not committed.
	BuildTTL = time.Minute
)

// State is the state of a list.
type State int

// The states of a list.
const (
	None     State = iota // it does not exist and must be built before use
	Building              // it accepts pushes, and cannot be read yet
	Ready                 // it is complete above its floor
)

func (s State) String() string { return [...]string{"none", "building", "ready"}[s] }

// Page is a part of a list.
type Page struct {
	State   State      // the rest is empty unless it is Ready
	Entries []Position // newest first
	More    bool       // the list has entries below the last one
	// Floor is the newest position that was ever left out. Zero means that none was, so the end
	// of the list is the end of the timeline.
	Floor Position
}

// Head describes a list without its entries.
type Head struct {
	State  State
	Newest Position // the first entry; zero if there is none or the list is not ready
	Floor  Position // as in [Page]; provisional while the list is being built
	// Size is the number of entries, or 0 if the list is not ready. It reveals entries that are
	// added late, below the newest.
	Size int
	// Version identifies the content that [Writer.Push] and [Writer.Replace] change. Each
	// Replace, Remove and ClearToken changes it, and each new build. "" means there is no list.
	Version string
}

// Reader reads lists.
type Reader interface {
	// Read returns the newest n entries that are older than a position, or the newest of all for
	// the zero position. It resets the TTL of a ready list to [TTL]; n may be 0. A list that does
	// not exist results in a page of state None.
	Read(ctx context.Context, list string, below Position, n int) (Page, error)
	// ReadMany reads many lists as Read does. Pages are in the order of lists, and need not be of
	// the same moment. After an error they must not be used.
	ReadMany(ctx context.Context, lists []string, below Position, n int) ([]Page, error)
	// Heads returns the heads of many lists, in the order of lists, and does not extend their
	// TTL. After an error they must not be used.
	Heads(ctx context.Context, lists []string) ([]Head, error)
	// Versions returns only the versions of Heads, for a third of the commands.
	Versions(ctx context.Context, lists []string) ([]string, error)
}

// Writer keeps lists consistent with the store. None of its methods creates a list, extends its
// TTL, or lowers its floor. Each changes a list atomically, and many lists one after the other.
// After an error some lists may be changed: call again.
type Writer interface {
	// Push adds entries to lists, ready or being built, that still have the given versions. Nothing
	// is added at or below a list's floor. If a list exceeds the cap, the excess and 1/[TrimMore] of
	// the cap are trimmed and the floor rises. Push returns for each addition how many of its
	// entries the list has now: the newest of them, or 0 if the list has expired or has another
	// version.
	Push(ctx context.Context, additions []Addition) (held []int, err error)
	// Remove removes ids of deleted posts from lists, also from running builds, which do not add
	// them again. It is not for posts that may return: a call whose reply was lost may reach
	// the lists late. Ids that a list does not have are no error.
	Remove(ctx context.Context, lists []string, ids []string) error
	// Replace atomically removes ids from a list and adds others, as Push and Remove do; an id
	// in both is in the list. It changes nothing and returns false if the list has expired or has
	// another version than the change: read [Reader.Heads] again, then the store. So a caller with
	// an older read of the store cannot undo concurrent changes.
	Replace(ctx context.Context, list string, c Change) (bool, error)
	// ClearToken declares that the store delivers other content to these lists than before.
	// Running builds fail to commit and may be replaced at once; ready lists keep their entries.
	// All get another version. Call it after the change is committed in the store and before
	// reading the store for a [Writer.Replace].
	ClearToken(ctx context.Context, lists []string) error
	// Drop deletes lists in any state.
	Drop(ctx context.Context, lists []string) error
}

// Addition is entries for a list.
type Addition struct {
	List string
	// Version must be read before the store is queried for whether the entries belong in
	// the list, so a late push adds nothing that the store would not deliver any more.
	Version string
	Entries []Position
}

// Change is a change of a list.
type Change struct {
	// Version is that of [Head], read before the store was queried for the other fields.
	Version string
	Remove  []string
	Add     []Position
	// Floor is the newest position that was left out of Add because there were too many, or zero.
	// It raises the list's floor; entries at or below it are removed.
	Floor Position
}

// Builder builds lists. Builds of one list may overlap; only the last one that began can be
// committed.
type Builder interface {
	// Begin creates a list in state Building and returns the token of the build. Pushes are
	// accepted from now on, so read the store after Begin. The token is "" if the list is Ready, or
	// Building elsewhere, possibly by an attempt of this caller whose reply was lost. Begin replaces
	// a build that is older than [TakeOver] or whose token was cleared, and discards the entries
	// pushed into it, which the store has. A list that is not committed within [BuildTTL] expires.
	Begin(ctx context.Context, list string) (token string, state State, err error)
	// Commit makes the list ready, with the store's content and the entries pushed since Begin.
	// If the token is not the list's any more it changes nothing and returns false: begin again.
	// Commit is idempotent.
	Commit(ctx context.Context, list, token string, c Content) (bool, error)
	// Abandon deletes the list if it is still being built under the token.
	Abandon(ctx context.Context, list, token string) error
}

// Content holds the entries that the store would deliver, newest first and at most as many as the
// cap. The floor is the position of the next one, or zero if there is none.
type Content struct {
	Entries []Position
	Floor   Position
}

// Lists stores one kind of lists, timelines or outboxes, by agent or author id. It is safe for
// concurrent use.
type Lists interface {
	Reader
	Writer
	Builder
}
