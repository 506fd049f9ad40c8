// Package jobs is the queue of jobs that bring derived data up to date with the social store.
// It holds the contract of the queue ([Queue]), which the social backends implement on their own
// database so that a change and its row are written in one transaction, and the workers
// ([Runner]).
//
// A row says that the data derived for a key, for example the lists that hold a post, may differ
// from the store. There is one row per kind and key, however often it changes; each change raises
// its generation. A worker reads the store when it runs the job. A row is done only if its
// generation is still the one that was leased; otherwise it runs again. So a job may run twice,
// late, in any order and on any server, and no change is lost.
package jobs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

var (
	// ErrTaken says that the job is leased already.
	ErrTaken = errors.New("the job is being worked on")
	// ErrWait is wrapped by a handler's error if a dependency is down. The attempt does not
	// count as failed.
	ErrWait = errors.New("a dependency is down")
)

// Kind is a kind of derived data.
type Kind string

// The kinds, with their keys.
const (
	Deliver     Kind = "deliver" // post: the lists it belongs in
	Index       Kind = "index"   // post: its item in the catalog
	Count       Kind = "count"   // post: likes and comments of its item
	AuthorAgent Kind = "pair"    // author/agent: the author's posts in the agent's list; see [Everybody]
	Member      Kind = "member"  // circle/agent: the circle's posts in the agent's list
	Author      Kind = "author"  // author: how their posts are delivered to followers
	Erase       Kind = "erase"   // agent: the data that remains of them
	Images      Kind = "images"  // post: its files in the blob store
	Suggest     Kind = "suggest" // agent: whom they may want to follow
	// Recommend has authors as keys: the items of their posts, which exist if they want to be recommended.
	Recommend Kind = "recommend"
	Export    Kind = "export" // agent: the file with everything that is stored about them
)

// Everybody means all authors in the key of a [AuthorAgent]: the agent's list is rebuilt.
const Everybody = "*"

// Kinds lists them all.
func Kinds() []Kind {
	return []Kind{Deliver, Index, Count, AuthorAgent, Member, Author, Erase, Images, Suggest, Recommend, Export}
}

// OfLists reports whether lists are incomplete until a job of the kind is done.
func (k Kind) OfLists() bool {
	switch k {
	case Deliver, AuthorAgent, Member, Author:
		return true
	}
	return false
}

// Retained reports whether completed rows of a kind are retained for [CompletedTTL], in a queue that
// retains any. Rows of kinds that write lists are, because Redis may lose the lists. Others are
// removed.
func (k Kind) Retained() bool { return k.OfLists() || k == Erase }

// PairKey returns the key of two ids, which never contain a slash.
func PairKey(first, second string) string { return first + "/" + second }

// SplitPair splits a key of [PairKey] into its two ids.
func SplitPair(key string) (first, second string, err error) {
	first, second, ok := strings.Cut(key, "/")
	if !ok || first == "" || second == "" {
		return "", "", fmt.Errorf("job key %q is not a pair", key)
	}
	return first, second, nil
}

// State is the state of a row.
type State string

// The states.
const (
	Pending   State = "pending"   // runs when it is due
	Running   State = "running"   // leased
	Completed State = "completed" // done; see [Kind.Retained]
	Failed    State = "failed"    // is retried
	Dead      State = "dead"      // is not retried until an operator or the next change revives it
)

// Lost is returned in place of a state if a lease cannot be ended because it is not held any more:
// it expired and another worker has the job, or the row was dropped.
const Lost State = "lost"

// States lists all states of rows.
func States() []State { return []State{Pending, Running, Completed, Failed, Dead} }

// Priorities; the lowest runs first. [PriorityFor] is between PrioritySoon and PriorityLater.
const (
	PriorityRemoval = 0 // removals: deletes, unfollows, blocks
	PrioritySoon    = 1 // changes that the caller expects in their next call
	PriorityLater   = 100
	// PriorityUpkeep is for work that no recent call caused: imports, changes of authors'
	// delivery, repairs after a loss of data in Redis.
	PriorityUpkeep = 200
	// PriorityLeftover is for entries that an erasure leaves in lists: no answer shows them.
	PriorityLeftover = 300
)

// PriorityFor returns a priority that puts small audiences before large ones.
func PriorityFor(receivers int64) int {
	p := PrioritySoon + 1
	for ; receivers > 1 && p < PriorityLater-1; receivers /= 2 {
		p++
	}
	return p
}

const (
	// MaxAttempts is the number of attempts after which a job is dead.
	MaxAttempts = 12
	// Overdue is the waiting time after which a row takes part in the half of each lease that
	// is ordered by age instead of priority.
	Overdue = 30 * time.Second
	// Imported is the age above which an event counts as imported instead of recent.
	Imported = 10 * time.Minute
	// ClockJump bounds backward jumps of the queue's clock: if it has gone back by more since a
	// row was changed, the row is due and its lease has ended.
	ClockJump = time.Second
	// CompletedTTL is how long completed rows are retained, see [Kind.Retained], for [Queue.Reenqueue]:
	// a failover loses the last seconds of writes, a restart from a snapshot some minutes.
	CompletedTTL = 10 * time.Minute
	// CountDelay is how long changes of counts are collected.
	CountDelay = 30 * time.Second
	// MaxReason is the maximum length of a stored error, in bytes.
	MaxReason = 500
)

// Job is one row.
type Job struct {
	ID         int64  `json:"id"`
	Kind       Kind   `json:"kind"`
	Key        string `json:"key"`
	Generation int64  `json:"generation"` // how often it was marked dirty
	Priority   int    `json:"priority"`
	State      State  `json:"state"`
	// Times are by the queue's clock, which is the database's if that has one.
	Due        time.Time `json:"due"`    // since when it should run; backoff does not change it
	RunAt      time.Time `json:"run_at"` // the earliest time it runs
	Attempts   int       `json:"attempts"`
	Error      string    `json:"error,omitempty"` // of the last attempt
	Lease      int64     `json:"-"`               // identifies this lease of the row
	LeasedTill time.Time `json:"leased_until,omitzero"`
	FinishedAt time.Time `json:"finished_at,omitzero"` // completed or dead

	Waited time.Duration `json:"-"` // how long it had been due when it was leased; 0 in listed rows
}

// Spec marks a row.
type Spec struct {
	Kind     Kind
	Key      string
	Priority int
	After    time.Duration // the delay before it may run
	Lazy     bool          // leaves a waiting row unchanged: its run will see this change too
}

// Failure describes a failed attempt.
type Failure struct {
	Reason string        // must not contain content of posts
	After  time.Duration // until the next attempt
	Wait   bool          // a dependency is down; this attempt does not count
}

// Clip truncates a reason to [MaxReason].
func Clip(reason string) string {
	if len(reason) <= MaxReason {
		return reason
	}
	return strings.ToValidUTF8(reason[:MaxReason], "")
}

// Filter selects rows to list. Zero fields match all.
type Filter struct {
	Kind  Kind
	State State
	Key   string
	After int64 // ids greater than this one
	Limit int   // default 100
}

// Rows is the number of rows of a kind in a state.
type Rows struct {
	Kind  Kind
	State State
	N     int64
}

// Ages holds how long the longest-waiting rows have been due, including running rows, or 0 if
// none is. Time in backoff counts; rows that are not yet due and dead rows do not.
type Ages struct {
	Oldest time.Duration // without exports, which may take many minutes, and delay nothing
	// OldestOfLists is Oldest among the kinds of [Kind.OfLists], without leftovers.
	OldestOfLists time.Duration
	// OldestMissing is OldestOfLists without removals: lists have lacked entries for so long.
	OldestMissing time.Duration
}

// Stats describes the queue.
type Stats struct {
	Rows []Rows // by kind and state, without [Completed] and without zero counts
	Ages
}

// Queue is the queue of dirty rows. It is safe for concurrent use, by any number of servers.
// Changes mark rows inside their transactions; Enqueue is for all other causes. The queue uses one
// clock, the database's if that has one.
//
// Marking a pending or failed row makes it due at the earlier of both times, with the lower of
// both priorities. A running row runs again when it is done. A completed or dead row becomes
// pending like a new one. In each case the generation rises, and the attempts restart at 0. A lazy
// mark leaves a pending or failed row unchanged.
//
// Errors wrap feed.ErrUnavailable if the database is unavailable, or are the context's. Every
// call may be repeated.
type Queue interface {
	// Enqueue marks rows dirty, all or none.
	Enqueue(ctx context.Context, rows ...Spec) error

	// Lease leases up to n due rows of the given kinds, or of all, for the time d. Up to half
	// are rows that have been due for [Overdue], the oldest first (of an odd n, the halves get
	// the additional row in turn). The others are chosen by priority, then by due time. All are
	// returned in this second order. A row with an expired lease is leased like any other, within a
	// second, or is dead if that was its last attempt. No row has two leases at once. Each lease counts as an
	// attempt.
	Lease(ctx context.Context, n int, d time.Duration, kinds ...Kind) ([]Job, error)

	// LeaseKey leases one row whether it is due or not. It returns feed.ErrNotFound if there is
	// nothing to do, and ErrTaken if the row is leased already.
	LeaseKey(ctx context.Context, kind Kind, key string, d time.Duration) (Job, error)

	// ReleaseUnknown ends the leases of this Queue's own [Queue.Lease] calls, except those of the jobs
	// given, as if they had not been made, and returns their number. It is for leases of calls
	// whose reply was lost.
	ReleaseUnknown(ctx context.Context, but ...Job) (int, error)

	// Renew extends leases and returns the jobs whose leases are lost. Their work does not count.
	Renew(ctx context.Context, d time.Duration, list ...Job) (lost []Job, err error)

	// Done completes leased rows in one transaction, or removes them, see [Kind.Retained]. For each,
	// in order, it returns Completed, Pending if it was marked meanwhile, or Lost.
	Done(ctx context.Context, list ...Job) ([]State, error)

	// Fail ends an attempt. The row is retried after the time given, or is dead after
	// [MaxAttempts]. A row that was marked meanwhile is pending. Fail returns the row's state,
	// or Lost.
	Fail(ctx context.Context, j Job, f Failure) (State, error)

	// Release ends leases as if they had not been made. It ignores those that are lost.
	Release(ctx context.Context, list ...Job) error

	// Reenqueue marks every row of the kinds that is running, or was completed since a time and is
	// retained (see [Kind.Retained]), and returns their number. It is for when writes since then may
	// be lost. Only the age of since is used, so it may be from another clock than the queue's.
	Reenqueue(ctx context.Context, since time.Time, kinds ...Kind) (int, error)

	// List returns rows, by id.
	List(ctx context.Context, f Filter) ([]Job, error)

	// Retry makes a row due now, with all its attempts, whatever its state. A running row runs
	// again. The error is feed.ErrNotFound if there is no such row.
	Retry(ctx context.Context, id int64) error

	// Drop removes a row, whatever its state, or returns feed.ErrNotFound.
	Drop(ctx context.Context, id int64) error

	// Stats counts the rows that are not completed. Its cost does not depend on completed rows.
	Stats(ctx context.Context) (Stats, error)

	// Ages returns the cheap part of Stats.
	Ages(ctx context.Context) (Ages, error)

	// Sweep removes completed rows older than [CompletedTTL], the oldest first, at most n in
	// one transaction, and returns their number. It is less than n if none are left, or if a
	// concurrent call removes the rest.
	Sweep(ctx context.Context, n int) (int, error)

	// Notify returns a channel that has a value soon after rows were marked through this Queue or
	// its store. It serves one listener in the same process; others poll.
	Notify() <-chan struct{}
}
