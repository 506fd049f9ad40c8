// Package events counts what readers were shown and did, per run of a ranking variant and UTC day,
// and per bucket of agents. It contains the [Store] for the counts and the [Buffer] that collects
// them off the request path; package experiment compares variants by them. The backends are
// events/redis and events/sqlite; the conformance suite is events/eventstest.
package events

import (
	"context"
	"slices"
	"strconv"

	"github.com/cespare/xxhash/v2"

	"github.com/freshet/freshet/feed"
)

// ErrUnavailable is wrapped by errors that mean the store could not be reached; a retry may
// succeed.
var ErrUnavailable = &feed.Outage{Text: "the event store is unavailable", Shown: "events cannot be counted or read now; try again later"}

// KeepDays is the number of days that counts are stored, including the day of the last change.
const KeepDays = 90

// OnceDays is the number of days that a store remembers each day's acts, so that repetitions are
// not counted. It is more than a day, because a server may delay its counts while the store is
// down.
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

// Unlike takes a like back. It is no event that is counted: reports count what was done.
const Unlike Kind = "unlike"

// Kinds lists the kinds that are counted, in the order of their counts.
var Kinds = [...]Kind{Click, Like, Dislike, Hide}

// ParseKind parses a kind, also [Unlike]; the error wraps [feed.ErrInvalid].
func ParseKind(s string) (Kind, error) {
	k := Kind(s)
	if k == Unlike || slices.Contains(Kinds[:], k) {
		return k, nil
	}
	return "", feed.Errorf(feed.ErrInvalid, "bad event type: %.40q; send click, like, unlike, dislike or hide", s)
}

// Event is something that counts once for a variant on a day, in whichever batch it is: an act, or
// an impression from exploration or a promotion.
type Event struct {
	Hash  uint64 // of the kind of event, the agent and the group
	Field string // name of its count
	Also  string // another one; "" for none
	Place string // a third one; "" for none
	Cell  Cell   // of the agent's bucket; 0 for none
	// After is the hash of an event that this one requires: without it, this one is neither counted
	// nor remembered. It must have been counted within the last [OnceDays]. 0 means none.
	After uint64
}

// Acted returns the events for an agent's act on a group, with the source that showed it and its
// position, 0 if that is unknown. The store knows whether a click is on a group shown by
// exploration.
func Acted(kind Kind, agent, group string, source feed.Source, position int) []Event {
	act := Event{Hash: hashOf(string(kind), agent, group), Field: string(kind)}
	switch kind {
	case Dislike, Hide:
		act.Cell = CellOf(agent, Rejected)
	case Click:
		act.Cell = CellOf(agent, Clicked)
	}
	if kind != Click {
		return []Event{act}
	}
	if source != feed.SourceScore && source != feed.SourceExplore {
		act.Also = sourceClicked + source.String()
	}
	if position > 0 {
		act.Place = positionClicked + strconv.Itoa(rangeOf(position))
	}
	onExplored := Event{Hash: hashOf("click explored", agent, group), Field: exploredClicks, After: Explored(agent, group).Hash}
	return []Event{act, onExplored}
}

// Seen returns the event that an agent has reported a group as seen.
func Seen(agent, group string, source feed.Source, position int) Event {
	e := Event{Hash: hashOf("seen", agent, group), Field: impressionsField, Cell: CellOf(agent, Shown)}
	if source != feed.SourceScore && source != feed.SourceExplore {
		e.Also = sourceShown + source.String()
	}
	if position > 0 {
		e.Place = positionShown + strconv.Itoa(rangeOf(position))
	}
	return e
}

// Explored returns the event that exploration showed a group to an agent.
func Explored(agent, group string) Event {
	return Event{Hash: hashOf("explored", agent, group), Field: exploredShown}
}

// Promoted returns the event that a promotion showed a group to an agent.
func Promoted(promotion, agent, group string) Event {
	return Event{Hash: hashOf("promoted by "+promotion, agent, group), Field: promotedShown + promotion}
}

// PromotedLoaded returns the event that an agent was given a group by a promotion, which counts only
// once the agent has reported it as seen.
func PromotedLoaded(promotion, agent, group string) Event {
	return Event{Hash: hashOf("loaded, promoted by "+promotion, agent, group)}
}

// PromotedSeen returns the event that an agent has seen a group, for a promotion that may have given
// it.
func PromotedSeen(promotion, agent, group string) Event {
	e := Promoted(promotion, agent, group)
	e.After = PromotedLoaded(promotion, agent, group).Hash
	return e
}

// PromotedAct returns the event of an agent's click on or like of a group, for a promotion that may
// have shown it.
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

// hashOf returns the hash of an event of an agent and a group. Two events collide once in 2⁶⁴
// comparisons, which does not affect counts.
func hashOf(what, agent, group string) uint64 {
	return xxhash.Sum64String(what + ":" + agent + ":" + group) // agent ids contain no colon
}

// Batch holds one server's additions to the counts of one variant on one day.
type Batch struct {
	Variant string // the variant's run, as parsed by [feed.VariantOf]
	Day     feed.Day

	// Sender and Seq identify the batch: a server's name, unique to its start, and a number that
	// increases with each of its batches. They prevent a batch that is sent again from being counted
	// twice.
	Sender string
	Seq    uint64

	Impressions int64
	Ages        Ages     // of the items shown; one for each impression with a known age
	Agents      []uint64 // distinct hashes of the agents who were shown the items
	Authors     []uint64 // distinct hashes of their authors
	// Sampled means that the agents also count in [Store.Readers].
	Sampled bool

	Sources   map[feed.Source]int64 // impressions of home by source; nil for none
	Positions map[int]int64         // impressions by range of positions ([PositionRanges]); nil for none
	Cells     Cells                 // by bucket of agents
	Events    []Event               // distinct, and each after the events that it requires
}

// Totals holds the counts of one variant over some days.
type Totals struct {
	Variant string           // the variant's run
	Counts  map[string]int64 // by the names that stores use, except ages
	Ages    Ages
	Agents  int64 // distinct agents over all the days, estimated within about 1 %
	Authors int64 // distinct authors, estimated likewise
}

// Store stores the counts.
//
// Add counts a batch, all of it or nothing, and remembers its name for [OnceDays] days: the same
// batch again, or one of the same sender, variant and day with a lower Seq, changes nothing. So a
// batch may be sent again when it is unknown whether it was stored. An event counts once for its
// variant and day, in whichever batch it is, and is remembered for [OnceDays] days. Batches of
// several servers are added.
//
// Read returns the sums over the days from and to and those between, for every variant that was
// counted on one of them, sorted by name. Counts live for [KeepDays] days.
//
// Cells returns the counts by bucket of some columns on those days, for each day and run that has some,
// in the order of days and runs. They are counted as the others are. Nil runs means all. A column of a
// run and day takes up to 40 kB: ask for what is needed.
//
// Readers returns how many distinct agents were shown something in each of some runs, in the same
// random part of all agents: of sampled batches. The part is 1 while the numbers are small, and the
// numbers are exact.
//
// Remember stores pages for [PagesFor], of each agent the newest [PagesMost]; repeating it does no
// harm. PagesOf returns those of each agent, oldest first, nil for none. Forget deletes an agent's.
//
// Errors wrap [ErrUnavailable], or are the context's.
type Store interface {
	Add(ctx context.Context, b *Batch) error
	Read(ctx context.Context, from, to feed.Day) ([]Totals, error)
	Cells(ctx context.Context, runs []string, columns []Column, from, to feed.Day) ([]DayCells, error)
	Readers(ctx context.Context, runs []string) (n []int64, part float64, err error)
	Remember(ctx context.Context, pages []PageOf) error
	PagesOf(ctx context.Context, agents []uint64) ([][]Page, error)
	Forget(ctx context.Context, agent uint64) error
}

// SampleSize is the number of agents of a run that a store retains for [Store.Readers]: those with the
// lowest hashes.
const SampleSize = 20_000
