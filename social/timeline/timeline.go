// Package timeline stores lists: the precomputed timelines of agents, and the outboxes of
// authors with many followers, which are lists by the same rules. A list proposes ids, newest
// first; whether its reader may see a post is for the social store to say.
//
// A list is complete above its floor, or it does not exist: what the store would deliver and is
// newer than the floor is in it, as soon as the jobs have run. Lists of agents who do not read
// expire, and nothing is pushed into a list that is not there, since it would hide all that is
// missing from it.
package timeline

import (
	"context"
	"time"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social"
)

// Position is where an entry stands in a list: a bound for pages, exclusive, and the floor of
// a list, inclusive. Its time is within ±2^53, and a post keeps its position for good.
type Position = social.Position

// ErrUnavailable is wrapped by errors that say the lists could not be asked, or that too few
// replicas have confirmed a write, which may have been made. Every method may be called again.
var ErrUnavailable = &feed.Outage{Text: "the timelines are unavailable", Shown: "timelines are unavailable; try again later"}

const (
	// Cap is how many entries a timeline holds.
	Cap = 500
	// OutboxCap is how many entries an outbox holds.
	OutboxCap = 100
	// TrimMore is the part of the cap, one in so many, that goes with what
	// exceeds it: so not every push into a full list has to trim.
	TrimMore = 64
	// TTL is how long a list lives after it was built or read.
	TTL = 7 * 24 * time.Hour
	// TakeOver is the age of a build from which on another one may begin.
	TakeOver = 10 * time.Second
	// BuildTTL is how long a list lives that is not built to the end.
	BuildTTL = time.Minute
)

// State is the state of a list.
type State int

// The states of a list.
const (
	None     State = iota // it does not exist; whoever wants it builds it
	Building              // it takes pushes, and cannot be read yet
	Ready                 // it is complete above its floor
)

func (s State) String() string { return [...]string{"none", "building", "ready"}[s] }

// Page is a part of a list.
type Page struct {
	State   State      // the rest is empty unless it is Ready
	Entries []Position // newest first
	More    bool       // the list has entries below the last one
	// Floor is the newest position that was ever left out; zero: none was, so the end of the
	// list is the end of the timeline.
	Floor Position
}

// Head describes a list without its entries.
type Head struct {
	State  State
	Newest Position // the first entry; zero: there is none, or the list is not ready
	Floor  Position // as in [Page]; of a list that is built, as far as is known
	// Size is how many entries it has; 0 where it is not ready. It tells of what comes late,
	// below the newest.
	Size int
	// Version names what [Writer.Push] and [Writer.Replace] change: it is another one after each
	// Replace, Remove and ClearToken, and in each list that is built anew. "": there is no list.
	Version string
}

// Reader reads lists.
type Reader interface {
	// Read returns the newest n entries that are older than a position; the zero position: the
	// newest of all. A list that is ready lives for [TTL] from now on, whatever was read; n may
	// be 0. A list that does not exist is a page of state None.
	Read(ctx context.Context, list string, below Position, n int) (Page, error)
	// ReadMany reads many lists as Read does, in the order of their names. The pages are not of
	// one moment. After an error none can be relied on.
	ReadMany(ctx context.Context, lists []string, below Position, n int) ([]Page, error)
	// Heads looks at many lists, in the order of their names, and prolongs the life of none.
	// After an error none can be relied on.
	Heads(ctx context.Context, lists []string) ([]Head, error)
}

// Writer keeps lists consistent with the store. None of its methods makes a list, prolongs its
// life, or lowers its floor; each changes a list in one step, and many lists one after the other.
// After an error some of them may be changed: call again.
type Writer interface {
	// Push adds entries to those of the lists, ready or being built, that are still of their
	// version, that of [Head] from before the store was asked whether the entries belong
	// there: who is late adds nothing that the store would not deliver any more. It adds
	// nothing at or below a list's floor; what exceeds the cap is trimmed, with [TrimMore] of
	// the cap, and raises the floor. It returns for each list how many of the entries it has
	// now; 0 where the list has expired or is of another version.
	Push(ctx context.Context, lists, versions []string, entries []Position) (held []int, err error)
	// Remove takes ids out of lists for good, because their posts are deleted. A build that is
	// going on does not bring them back. It is not for what may come back: a call whose answer
	// was lost may reach the lists late. Ids that a list does not have are no error.
	Remove(ctx context.Context, lists []string, ids []string) error
	// Replace takes ids out of a list and adds others in one step, as Push and Remove do; an id in
	// both is in the list. It changes nothing and returns false where the list has expired or is of
	// another version than the change: take [Reader.Heads] again, then ask the store again. So who
	// has asked the store earlier cannot undo what somebody else has changed since.
	Replace(ctx context.Context, list string, c Change) (bool, error)
	// ClearToken says that the store would deliver something else to these lists than before.
	// Builds of them that are going on fail to commit, and another one may begin at once; lists
	// that are ready keep what they have. All are of another version then. Call it after the
	// store has the change and before asking it for a [Writer.Replace].
	ClearToken(ctx context.Context, lists []string) error
	// Drop ends lists, whatever is being done with them.
	Drop(ctx context.Context, lists []string) error
}

// Change is a change of a list.
type Change struct {
	// Version is that of [Head], from before the store was asked for the rest.
	Version string
	Remove  []string
	Add     []Position
	// Floor is the newest position that was left out of Add, because there were too many; zero:
	// none. It raises the list's floor, and what is at or below it goes.
	Floor Position
}

// Builder makes lists. Builds of one list go on beside each other, and the last
// one that began can be committed.
type Builder interface {
	// Begin makes a list that is being built and returns the token of the build: from now on pushes
	// are taken, so ask the store after it. The token is "" where the list is Ready, or Building
	// elsewhere, which may be an attempt of this caller whose answer was lost. A build is taken
	// over after [TakeOver], or when its token was cleared; what was pushed meanwhile is forgotten,
	// because the store has it. A list that is not committed within [BuildTTL] is gone.
	Begin(ctx context.Context, list string) (token string, state State, err error)
	// Commit makes the list ready: the store's content, and what was pushed since Begin. It
	// returns false, and changes nothing, where the token is not the list's any more: begin
	// again. Committing twice is harmless.
	Commit(ctx context.Context, list, token string, c Content) (bool, error)
	// Abandon ends the list if it is still being built under the token.
	Abandon(ctx context.Context, list, token string) error
}

// Content holds the entries that the store would deliver, newest first: as many as the
// cap, and the position of the next one as the floor; zero where there is none.
type Content struct {
	Entries []Position
	Floor   Position
}

// Lists is one kind of lists, timelines or outboxes, by the agents' or the
// authors' ids. It is safe for concurrent use.
type Lists interface {
	Reader
	Writer
	Builder
}
