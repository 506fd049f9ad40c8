// Package dedup remembers what agents were shown, so that nothing is shown
// twice: seven daily filters of impressions and each agent's exact pending set
// of what was served lately and is not yet confirmed in a filter. [Recorder]
// moves impressions from the pending sets to the filters, off the request path. The backends are in dedup/redisbloom and
// dedup/memory, the conformance suite is in dedup/deduptest.
package dedup

import (
	"context"
	"time"

	"github.com/freshet/freshet/feed"
)

// ErrUnavailable is wrapped by errors that say the store could not be asked at
// all; asking again later may help.
var ErrUnavailable = &feed.Outage{Text: "dedup store is unavailable", Shown: "the dedup store is unavailable; try again later"}

// Impression is "this agent was given this group".
type Impression struct {
	Agent string
	Group string
}

// Member is the impression as the filters hold it: <agent_id>:<group_id>. The
// first colon separates the halves, because agent ids have none.
func (i Impression) Member() string { return i.Agent + ":" + i.Group }

// Verdict says whether, and where, a group was found.
type Verdict uint8

const (
	Unseen  Verdict = 0 // in no filter of the window and not pending
	Pending Verdict = 1 // in the agent's exact pending set
	onDay   Verdict = 2 // onDay+i: in the filter of i days ago
)

// SeenDaysAgo is the verdict of a hit in the filter of that many days ago; 0
// is today.
func SeenDaysAgo(days int) Verdict { return onDay + Verdict(days) }

// DaysAgo returns which day's filter hit; ok is false for Unseen and Pending.
func (v Verdict) DaysAgo() (days int, ok bool) {
	if v < onDay {
		return 0, false
	}
	return int(v - onDay), true
}

// Checked is the answer of one check.
type Checked struct {
	Verdicts []Verdict // one per group asked for, in order
	// Stale lists groups that have been pending for longer than
	// [StaleAfter]: the server that served them did not record them. The caller
	// hands them to the recorder again.
	Stale []string
	// At is the store's own clock, in milliseconds, when the check was made;
	// 0 where the store runs in this process. [cache.Replace] takes it to
	// refuse a page that was chosen too long ago.
	At int64
}

// StaleAfter is how long an impression may be pending before the next check
// of its agent reports it in [Checked.Stale].
const StaleAfter = 60 * time.Second

// Checker asks what an agent has been shown.
type Checker interface {
	// Check looks each group up in the pending set and in every filter of the
	// window at now, in one round trip, and changes nothing. Verdicts are in
	// the order of groups, which may repeat; no groups is an empty answer, and
	// an unknown agent has seen nothing. An impression whose Record was
	// confirmed or whose claim stands is never Unseen. What is pending is Pending
	// whatever the filters have, else the latest day that has it counts. An unseen group is taken
	// for seen at most at the configured rate over the window. An error means
	// no verdict at all; where it wraps [ErrUnavailable], try again.
	Check(ctx context.Context, agent string, groups []string, now time.Time) (Checked, error)
}

// Claimer is the pending set as sessions in this process use it, one call for an agent
// at a time. (Sessions in Redis change it inside their own scripts, in one step with the
// session.)
type Claimer interface {
	// Held reports for each group whether it is pending.
	Held(ctx context.Context, agent string, groups []string, now time.Time) ([]bool, error)
	// Claim makes groups pending that are not, as durably as the store can. After an
	// error nothing is claimed.
	Claim(ctx context.Context, agent string, groups []string, now time.Time) error
	// Release takes groups that were claimed and not delivered out of the
	// pending set, but for those that are held ([Claimer.Hold]). One that is not
	// there is passed over, so an error may be answered by releasing again.
	Release(ctx context.Context, agent string, groups []string) error
	// Hold puts groups into the pending set that were shown at that time by
	// something else than a claim, whatever is pending already. The later of two
	// times counts. A claim that was made before and is given back does not take
	// them out: only Settle, Forget and time do. After an error hold again, which
	// is harmless.
	Hold(ctx context.Context, agent string, groups []string, at time.Time) error
}

// Writer is the recorder's side.
type Writer interface {
	// Record adds a batch, over any number of agents, to the filter of now's
	// day. It returns the impressions that are not confirmed, in any order, with
	// an error that says why; nil and nil confirm all. What is not confirmed may
	// be in the filter all the same: record it again, which is harmless, also on
	// a later day.
	Record(ctx context.Context, batch []Impression, now time.Time) (unconfirmed []Impression, err error)
	// Settle takes impressions out of the pending sets. Only what Record has
	// confirmed may be settled, and only a grace period after that. What is not
	// pending is passed over; after an error settle again.
	Settle(ctx context.Context, batch []Impression) error
}

// Store is a whole dedup backend.
type Store interface {
	Checker
	Writer
	// Forget takes everything of an agent out of the pending set. What was served
	// and is in no filter yet may be served again. After an error forget again.
	Forget(ctx context.Context, agent string) error
}

// Config holds what every backend must agree on.
type Config struct {
	WindowDays        int           // days that count, today included
	FalsePositiveRate float64       // for the whole window, 0 to 1 excluded
	DailyCapacity     int           // impressions a day's filters are sized for, all shards together
	Shards            int           // filters a day is spread over (redisbloom)
	PendingTTL        time.Duration // a pending entry older than this no longer counts
	Served            bool          // impressions.on: true = served, false = seen
}

// NoteTTL is how long a server's note stands if the server does not renew it:
// long enough for one that died to be started again.
const NoteTTL = 60 * time.Second

// Notes are how servers warn one another that they have handed out groups that
// the store does not know of yet, because it was down.
type Notes interface {
	Noter
	// Any reports whether the note of any server stands, this one's included. An
	// error wraps [ErrUnavailable] where the store is down.
	Any(ctx context.Context) (bool, error)
}

// Noter is the part of [Notes] that writes.
type Noter interface {
	// Leave makes or renews the note of a server, for [NoteTTL]. After an error,
	// which wraps [ErrUnavailable] where the store is down, leave it again.
	Leave(ctx context.Context, server string) error
	// Remove takes it away; without one it does nothing. After an error the note
	// ends by itself; errors are those of Leave.
	Remove(ctx context.Context, server string) error
}
