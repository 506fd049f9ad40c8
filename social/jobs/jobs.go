// Package jobs is the queue of what is dirty: derived state that must be made to agree with the
// social store's truth. It holds the contract of the queue ([Queue]), which the social backends
// implement on their own database so that a change and its note are one transaction, and the
// workers ([Runner]).
//
// A row says that what is derived under a key, for example the lists that hold a post, may
// differ from the truth. There is one row for each kind and key, however often it changes; each
// change raises its generation. Who works on it reads the truth at that time. A row is done only
// if its generation is still the one that was leased, else it runs again. So a job may run
// twice, late, in any order and on any server, and no change is lost.
package jobs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

var (
	// ErrTaken says that somebody else has it leased.
	ErrTaken = errors.New("the job is being worked on")
	// ErrWait is wrapped by a handler's error that says that a dependency is down. It is no
	// failed attempt.
	ErrWait = errors.New("a dependency is down")
)

// Kind says what is derived.
type Kind string

// The kinds, and what their keys are.
const (
	Deliver Kind = "deliver" // post: the lists it belongs into
	Index   Kind = "index"   // post: its item in the catalog
	Count   Kind = "count"   // post: likes and comments of its item
	Pair    Kind = "pair"    // author/agent: the author's posts in the agent's list; see [Everybody]
	Member  Kind = "member"  // circle/agent: the circle's posts in the agent's list
	Author  Kind = "author"  // author: how their posts get to followers
	Erase   Kind = "erase"   // agent: what is left of them
	Images  Kind = "images"  // post: its files in the blob store
	Suggest Kind = "suggest" // agent: whom they may want to follow
)

// Everybody stands for all authors in the key of a [Pair]: the agent's list is rebuilt.
const Everybody = "*"

// Kinds lists them all.
func Kinds() []Kind {
	return []Kind{Deliver, Index, Count, Pair, Member, Author, Erase, Images, Suggest}
}

// OfLists reports whether lists lack something until a job of the kind is done.
func (k Kind) OfLists() bool { return k == Deliver || k == Pair || k == Member || k == Author }

// Kept reports whether completed rows of a kind stay for [CompletedLives] in a queue that keeps
// any: those of lists do, which a Redis may lose. Others are removed.
func (k Kind) Kept() bool { return k.OfLists() || k == Erase }

// PairKey is the key of two ids, which never have a slash.
func PairKey(first, second string) string { return first + "/" + second }

// SplitPair takes such a key apart.
func SplitPair(key string) (first, second string, err error) {
	first, second, ok := strings.Cut(key, "/")
	if !ok || first == "" || second == "" {
		return "", "", fmt.Errorf("the key %q of a job is no pair", key)
	}
	return first, second, nil
}

// State is where a row is.
type State string

// The states.
const (
	Pending   State = "pending"   // to be run when its time has come
	Running   State = "running"   // leased
	Completed State = "completed" // done; see [Kind.Kept]
	Failed    State = "failed"    // will be tried again
	Dead      State = "dead"      // will not, until somebody or the next change revives it
)

// Lost stands for the state where a lease cannot be ended, because it is not held any more: it ran
// out and somebody else has the job, or the row was dropped.
const Lost State = "lost"

// States lists them all, of rows.
func States() []State { return []State{Pending, Running, Completed, Failed, Dead} }

// Priorities: the least goes first. Between them lies [PriorityFor].
const (
	PriorityRemoval = 0 // what must disappear: deletes, unfollows, blocks
	PrioritySoon    = 1 // what somebody looks for in their next call
	PriorityLater   = 100
	// PriorityUpkeep is of what nobody has done just now: imports, how authors are
	// delivered, what a Redis has lost.
	PriorityUpkeep = 200
	// PriorityLeftover is of what an erasure leaves in lists: it is in no answer any more.
	PriorityLeftover = 300
)

// PriorityFor puts small audiences before large ones.
func PriorityFor(receivers int64) int {
	p := PrioritySoon + 1
	for ; receivers > 1 && p < PriorityLater-1; receivers /= 2 {
		p++
	}
	return p
}

const (
	// MaxAttempts is how often a job is tried before it is dead.
	MaxAttempts = 12
	// Overdue is how long a row waits before it has a part in the half of each lease that does
	// not go by priority.
	Overdue = 30 * time.Second
	// Imported is the age from which on an event is not of what somebody did just now.
	Imported = 10 * time.Minute
	// ClockJump is by how much the queue's clock must have gone back since a row was changed
	// for the row to be due and its lease to be over.
	ClockJump = time.Second
	// CompletedLives is how long completed rows of kinds that are kept stay, for [Queue.Again]:
	// a failover loses the last seconds of writes, a restart from a snapshot some minutes.
	CompletedLives = 10 * time.Minute
	// CountDelay is how long counts are gathered.
	CountDelay = 30 * time.Second
	// MaxReason is the longest kept error, in bytes.
	MaxReason = 500
)

// Job is one row.
type Job struct {
	ID         int64  `json:"id"`
	Kind       Kind   `json:"kind"`
	Key        string `json:"key"`
	Generation int64  `json:"generation"` // how often it became dirty
	Priority   int    `json:"priority"`
	State      State  `json:"state"`
	// Times are by the queue's clock, which is no server's where the database has its own.
	Due        time.Time `json:"due"`    // it should run since; backoff does not move it
	RunAt      time.Time `json:"run_at"` // it runs not before
	Attempts   int       `json:"attempts"`
	Error      string    `json:"error,omitempty"` // of the last attempt
	Lease      int64     `json:"-"`               // which lease of the row this is
	LeasedTill time.Time `json:"leased_until,omitzero"`
	FinishedAt time.Time `json:"finished_at,omitzero"` // completed or dead

	Waited time.Duration `json:"-"` // since when it was due when it was leased; 0 of what is listed
}

// Dirty marks a row.
type Dirty struct {
	Kind     Kind
	Key      string
	Priority int
	After    time.Duration // not before; 0: now
	Lazy     bool          // a row that waits is left as it is: its run will see this change too
}

// Failure describes a failed attempt.
type Failure struct {
	Reason string        // without content: posts do not belong into it
	After  time.Duration // until the next attempt
	Wait   bool          // a dependency is down; it does not count as an attempt
}

// Clip cuts a reason to [MaxReason].
func Clip(reason string) string {
	if len(reason) <= MaxReason {
		return reason
	}
	return strings.ToValidUTF8(reason[:MaxReason], "")
}

// Filter chooses rows to list. Zero fields choose all.
type Filter struct {
	Kind  Kind
	State State
	Key   string
	After int64 // ids greater than this one
	Limit int   // at most; 0: 100
}

// Rows is how many rows there are of a kind in a state.
type Rows struct {
	Kind  Kind
	State State
	N     int64
}

// Ages tells how long the rows that have waited longest should have been done, those that run
// among them; 0 where nothing waits. A backoff counts; what is for later and dead rows do not.
type Ages struct {
	Oldest time.Duration
	// OldestOfLists is Oldest among the kinds that lists wait for, see [Kind.OfLists], but
	// for leftovers.
	OldestOfLists time.Duration
	// OldestMissing is OldestOfLists but for removals: lists lack something since then.
	OldestMissing time.Duration
}

// Stats describes the queue.
type Stats struct {
	Rows []Rows // by kind and state but [Completed]; none with 0
	Ages
}

// Queue is the queue of what is dirty. It is safe for concurrent use, by any number of servers.
// Rows are marked inside the transactions of changes; Mark is for whatever else makes something
// dirty. It goes by one clock, the database's where that has one.
//
// Marking a row that is pending or failed makes it due at the earlier time, with the lesser
// priority; one that is running runs again when it is done; one that is completed or dead is
// pending as if it were new. In each case its generation rises, and its attempts start again at
// 0. A lazy mark leaves a row that is pending or failed as it is.
//
// Errors wrap feed.ErrUnavailable where the database could not be asked, or are the context's.
// Every call may be repeated.
type Queue interface {
	// Mark makes rows dirty, all or none.
	Mark(ctx context.Context, rows ...Dirty) error

	// Lease takes up to n rows that are due, of the kinds given or of all, for a time. Half of
	// them are those that have been due for [Overdue], the longest first, if there are so many
	// (of an odd number the one more goes to each half in turn); the others are taken by
	// priority, then by when they were due. All are returned in this second order. A row whose
	// lease has run out is taken like any other, and is dead if that was its last attempt. No
	// row is leased twice at once. Each lease counts as an attempt.
	Lease(ctx context.Context, n int, d time.Duration, kinds ...Kind) ([]Job, error)

	// LeaseKey takes one row whether it is due or not. feed.ErrNotFound where there is nothing
	// to do, ErrTaken where somebody else works on it.
	LeaseKey(ctx context.Context, kind Kind, key string, d time.Duration) (Job, error)

	// TakeBack ends leases of this Queue's own [Queue.Lease] calls but those of the jobs given,
	// as if they had not been, and returns how many: of calls whose answer was lost.
	TakeBack(ctx context.Context, but ...Job) (int, error)

	// Renew extends leases and returns those that are lost, whose work does not count.
	Renew(ctx context.Context, d time.Duration, list ...Job) (lost []Job, err error)

	// Done completes leased rows in one step, or removes them, see [Kind.Kept]. It returns
	// for each, in order, Completed, Pending where it was marked meanwhile, or Lost.
	Done(ctx context.Context, list ...Job) ([]State, error)

	// Fail ends an attempt. The row is tried again after the time given, or is dead after
	// [MaxAttempts]; its state is returned, or Lost. One that was marked meanwhile is pending.
	Fail(ctx context.Context, j Job, f Failure) (State, error)

	// GiveBack ends leases as if they had not been. Those that are lost are left out.
	GiveBack(ctx context.Context, list ...Job) error

	// Again marks every row of the kinds that was completed since a time, as far as it is kept
	// (see [Kind.Kept]), or is running, and returns how many: what was written since then may
	// be lost. It counts from now, so that since may be by another clock than the queue's.
	Again(ctx context.Context, since time.Time, kinds ...Kind) (int, error)

	// List returns rows, by id.
	List(ctx context.Context, f Filter) ([]Job, error)

	// Retry makes a row due now, with all its attempts, whatever its state; one
	// that is running runs again. feed.ErrNotFound.
	Retry(ctx context.Context, id int64) error

	// Drop removes a row, whatever its state. feed.ErrNotFound.
	Drop(ctx context.Context, id int64) error

	// Stats counts what is not done, at a cost that what is done does not raise.
	Stats(ctx context.Context) (Stats, error)

	// Ages is the part of Stats that costs little.
	Ages(ctx context.Context) (Ages, error)

	// Sweep removes completed rows that are over, the oldest first, at most n in one
	// transaction, and returns how many: fewer than n when nothing is left, or when somebody
	// else removes the rest at this moment.
	Sweep(ctx context.Context, n int) (int, error)

	// Woken has a value soon after rows were marked through this Queue or its store, for one
	// listener in the same process. Others poll.
	Woken() <-chan struct{}
}
