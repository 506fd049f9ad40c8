// Package events counts what readers were shown and did, per
// variant of the ranking and UTC day: the [Store] the counts are kept in, the
// [Buffer] that collects them off the request path, and the statistics that
// compare variants. The backends are in events/redis and events/sqlite, the
// conformance suite in events/eventstest.
package events

import (
	"context"

	"github.com/cespare/xxhash/v2"

	"github.com/freshet/freshet/feed"
)

// ErrUnavailable is wrapped by errors that say the store could not be asked
// at all; asking again later may help.
var ErrUnavailable = &feed.Outage{Text: "the event store is unavailable", Shown: "events cannot be counted or read now; try again later"}

// KeepDays is how many days counts are kept, the day of the last change
// included.
const KeepDays = 90

// OnceDays is how many days a store remembers who did what on a day, so that
// doing it again does not count. Longer than a day, because a server may hold
// its counts back while the store is down.
const OnceDays = 3

// Kind is the kind of a reader's action on an item.
type Kind string

// The kinds of events.
const (
	Click   Kind = "click"
	Like    Kind = "like"
	Dislike Kind = "dislike"
	Hide    Kind = "hide" // also mutes the item for the reader
)

// Kinds lists them all, in the order of their counts.
var Kinds = [...]Kind{Click, Like, Dislike, Hide}

// ParseKind reads a kind; the error wraps [feed.ErrInvalid].
func ParseKind(s string) (Kind, error) {
	for _, k := range Kinds {
		if s == string(k) {
			return k, nil
		}
	}
	return "", feed.Errorf(feed.ErrInvalid, "bad event type: %.40q; send click, like, dislike or hide", s)
}

// Act is one thing that one reader did on one day, as stores tell acts apart.
type Act struct {
	Kind Kind
	Hash uint64 // of kind, agent and group: [ActHash]
	// Explored is, of a click, [ExploredHash] of the same agent and group, by which a
	// store finds whether exploration had shown it; 0: it is not looked up.
	Explored uint64
	// Source is, of a click, the source of home that had shown it; 0: none.
	Source feed.Source
}

// ActHash stands for an agent's act on a group. Acts of 64 bits are not told
// apart from others once in 2⁶⁴ comparisons, which counts cannot show.
func ActHash(kind Kind, agent, group string) uint64 {
	d := xxhash.New()
	_, _ = d.WriteString(string(kind)) // writing to a hash does not fail
	_, _ = d.WriteString(":")
	_, _ = d.WriteString(agent)
	_, _ = d.WriteString(":") // in neither a kind nor an agent's alphabet
	_, _ = d.WriteString(group)
	return d.Sum64()
}

// ExploredHash stands for what exploration has shown an agent of a group. No act has
// the same.
func ExploredHash(agent, group string) uint64 { return ActHash("explored", agent, group) }

// Batch holds one server's additions to the counts of one variant on one day.
type Batch struct {
	Variant string // its run, as [feed.VariantOf] reads it
	Day     feed.Day

	// Sender and Seq name the batch: a server's own name since its start, and a
	// number that grows with each of its batches. They keep a batch
	// that is sent again from counting twice.
	Sender string
	Seq    uint64

	Impressions int64
	Ages        Ages     // of the items shown; one for each impression whose age is known
	Agents      []uint64 // hashes of the agents they were shown to, each once
	Authors     []uint64 // hashes of their authors, each once
	Explored    []uint64 // of the impressions, those by exploration: [ExploredHash], each once
	Acts        []Act    // each once

	Sources map[feed.Source]int64 // of the impressions, those of home, by source; nil: none

	Promoted     []Promoted    // of the impressions, those by promotions; each once
	PromotedActs []PromotedAct // of the acts, those that may be on such; each once
}

// Totals are the counts of one variant over some days.
type Totals struct {
	Variant     string // its run
	Impressions int64
	Clicks      int64
	Likes       int64
	Dislikes    int64
	Hides       int64
	// Explored is how many of the impressions were given by exploration, and
	// ExploredClicks how many of the clicks were on such.
	Explored       int64
	ExploredClicks int64
	Promoted       map[string]Counts // by promotion; nil: nothing
	Sources        map[string]Counts // of home, by the name of the source; nil: nothing
	Ages           Ages
	Agents         int64 // different ones over all the days, estimated within about 1 %
	Authors        int64 // the same
}

// Of returns where the acts of a kind are counted.
func (t *Totals) Of(k Kind) *int64 {
	switch k {
	case Click:
		return &t.Clicks
	case Like:
		return &t.Likes
	case Dislike:
		return &t.Dislikes
	}
	return &t.Hides
}

// Store keeps the counts.
//
// Add counts a batch, all of it or nothing, and remembers its name for
// [OnceDays] days: the same batch again, or one of the same sender, variant and
// day with a lower Seq, changes nothing, so that a batch may be sent again when
// it is unknown whether it was stored. An act counts once for its variant and day,
// whichever batch it is in. So does an impression by exploration; it is remembered for
// [OnceDays] days with the acts, and a click counts as one of those while it is.
// What promotions show counts alike, and acts on it for the promotion. A click that counts
// does so for the source of home that it names, too.
// Batches of several servers add up.
//
// Read sums up the days from and to and those between, for every variant that
// was counted on one of them, in the order of the names. Counts live for
// [KeepDays] days.
//
// Errors wrap [ErrUnavailable], or are the context's.
type Store interface {
	Add(ctx context.Context, b *Batch) error
	Read(ctx context.Context, from, to feed.Day) ([]Totals, error)
}
