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

// Event is something that counts once for a variant on a day, whichever batch it is in: an
// act, or what exploration or a promotion has shown.
type Event struct {
	Hash  uint64 // of what it is, the agent and the group
	Field string // the name that it is counted under
	Also  string // another one; "": none
	// After is the hash of an event without which this one does not count and is not
	// remembered: it must have counted within the last [OnceDays]. 0: there is none.
	After uint64
}

// Acted lists what counts of an agent's act on a group that a source of home, exploration or
// neither has shown. Whether a click is on what exploration has shown the store knows.
func Acted(kind Kind, agent, group string, source feed.Source) []Event {
	act := Event{Hash: hashOf(string(kind), agent, group), Field: string(kind)}
	if kind != Click {
		return []Event{act}
	}
	if source != feed.SourceScore && source != feed.SourceExplore {
		act.Also = sourceClicked + source.String()
	}
	onExplored := Event{Hash: hashOf("click explored", agent, group), Field: exploredClicks, After: Explored(agent, group).Hash}
	return []Event{act, onExplored}
}

// Explored is that exploration has shown an agent a group.
func Explored(agent, group string) Event {
	return Event{Hash: hashOf("explored", agent, group), Field: exploredShown}
}

// Promoted is that a promotion has shown an agent a group.
func Promoted(promotion, agent, group string) Event {
	return Event{Hash: hashOf("promoted by "+promotion, agent, group), Field: promotedShown + promotion}
}

// PromotedAct is an agent's click or like of a group, for a promotion that may have shown it.
func PromotedAct(kind Kind, promotion, agent, group string) Event {
	field := promotedClicked
	if kind == Like {
		field = promotedLiked
	}
	return Event{
		Hash: hashOf(string(kind)+" promoted by "+promotion, agent, group), Field: field + promotion,
		After: Promoted(promotion, agent, group).Hash,
	}
}

// hashOf stands for an event of an agent and a group. Events of 64 bits are not told apart
// from others once in 2⁶⁴ comparisons, which counts cannot show.
func hashOf(what, agent, group string) uint64 {
	return xxhash.Sum64String(what + ":" + agent + ":" + group) // no agent has a colon
}

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

	Sources map[feed.Source]int64 // of the impressions, those of home, by source; nil: none
	Events  []Event               // each once, and behind those that it counts after
}

// Totals are the counts of one variant over some days.
type Totals struct {
	Variant string           // its run
	Counts  map[string]int64 // by the names that stores count under, but for ages
	Ages    Ages
	Agents  int64 // different ones over all the days, estimated within about 1 %
	Authors int64 // the same
}

// Store keeps the counts.
//
// Add counts a batch, all of it or nothing, and remembers its name for
// [OnceDays] days: the same batch again, or one of the same sender, variant and
// day with a lower Seq, changes nothing, so that a batch may be sent again when
// it is unknown whether it was stored. An event counts once for its variant and day,
// whichever batch it is in, and is remembered for [OnceDays] days.
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
