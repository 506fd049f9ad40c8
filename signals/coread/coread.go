// Package coread knows which items the same people read: "people who read what you read also read
// this". A [Store] keeps for each item a list of the young items that its readers have read after
// it, and for each reader their last reads; the [Buffer] passes acts to it in the background.
// [Apply] turns what is near to a reader into factors of scores. One process keeps all of it in
// memory and in a file (coread/sqlite), several servers share it in Redis (coread/redis).
package coread

import (
	"context"
	"math"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/freshet/freshet/feed"
)

// ErrUnavailable is wrapped by errors that mean the store could not be reached; a retry may
// succeed.
var ErrUnavailable = &feed.Outage{Text: "the store of co-readers is unavailable", Shown: "the agent's last reads cannot be deleted now; try again later"}

// Window is the age up to which an item is young: only young items are in lists.
const Window = 7 * 24 * time.Hour

// Idle is how long the last reads of a reader are kept who reads nothing more: what somebody read
// months ago still tells what they like (docs/decisions/co-readers.md).
const Idle = 365 * 24 * time.Hour

// HalfLife is the age by which an entry must have twice the sum to stay in a full list.
const HalfLife = Window * 2 / 7

const (
	// ReadsKept is the number of a reader's last reads that an act counts for.
	ReadsKept = 30
	// ReadsAsked is the number of a reader's last reads that a refresh asks about.
	ReadsAsked = 20
	// MostEntries is the length of a list.
	MostEntries = 20
	// ListsPerItem and LeastLists bound the lists: so many for each young item that somebody has read,
	// or so many in all. Then the list that was not written to for longest is dropped.
	ListsPerItem = 15
	LeastLists   = 10_000
	// LeastPeople is how many people have read both of two items at least before anybody is told
	// that they were read together.
	LeastPeople = 3
)

// Act is the reading of an item that a reader was shown.
type Act struct {
	Agent uint64 // hash of the agent's id: [Agent]
	Item  string // id
	Dated int64  // update time of the item, Unix seconds
	At    int64  // Unix seconds
}

// Young reports whether the item was young at the act.
func (a *Act) Young() bool { return a.At < a.Dated+int64(Window/time.Second) }

// Agent returns the hash of an agent's id for an [Act].
func Agent(id string) uint64 { return xxhash.Sum64String(id) }

// Share returns what one act adds to each entry, for a reader who has read so many items before: at
// most 1 if there is an item before, and less for those who read everything.
func Share(before int) float64 { return 1 / math.Log(2+float64(before)) }

// Strength orders the entries of a full list, of which the lowest is dropped: the logarithm of
// sum·2^(−age/[HalfLife]), up to a summand that is the same for all entries at any moment.
func Strength(sum float64, dated int64) float64 {
	return math.Log2(sum) + float64(dated)/HalfLife.Seconds()
}

// Entry is an item in the list of another one.
type Entry struct {
	Item   string
	Sum    float64 // of the shares of those who have read both
	People int     // how many they are
	Dated  int64   // update time of the item, Unix seconds
}

// Nearness says how near an item is to what a reader has read.
type Nearness struct {
	X       float64 // Σ sum / √(readers of the read · readers of the item), over the lists that have the item
	Readers int     // of the item
	People  int     // the number of people of the entry with the most
}

// Store stores lists and last reads.
//
// Add counts acts in their order. The first act of a reader on a young item adds a [Share] to the
// item's entry in the list of each of the reader's last [ReadsKept] reads, of whatever age. An act on
// an item that is not young adds to no list; it is a first one if the item is not among these reads.
// Each first act adds one to the readers of the item, and makes the item the reader's last read. Adding
// an act again changes nothing. A crash may lose a part of what an act adds, and adds nothing twice.
// An error that wraps [ErrUnavailable] asks for the same acts again; any other means that some of
// them are lost.
//
// A list has at most [MostEntries] entries: if there are more, that of the lowest [Strength] goes. An
// entry ends with the [Window] of its item.
//
// Reads appends the last [ReadsAsked] reads of a reader, the newest first, to a list. A reader who has
// read nothing for [Idle] has none.
//
// ReadsOf returns all that is kept of a reader's last reads, the newest first, for the reader.
//
// Near appends the nearness of each candidate to these reads at a moment. It appends nothing if
// none of them is near.
//
// Related returns the entries of an item's list at a moment, the highest sum first.
//
// Forget deletes the last reads of a reader. Their shares of sums remain: sums do not identify
// readers.
//
// Errors wrap [ErrUnavailable], or are the context's.
type Store interface {
	Add(ctx context.Context, acts []Act) error
	Reads(ctx context.Context, agent uint64, into []string) ([]string, error)
	ReadsOf(ctx context.Context, agent uint64) ([]string, error)
	Near(ctx context.Context, reads, candidates []string, now int64, into []Nearness) ([]Nearness, error)
	Related(ctx context.Context, item string, now int64) ([]Entry, error)
	Forget(ctx context.Context, agent uint64) error
	// Remote reports whether each call is a round trip to a service.
	Remote() bool
}
