// Package dedup answers for "never twice": seven daily filters of impressions
// and, beside them, each agent's exact pending set of what was served lately
// and is not safely in a filter yet. [Recorder] moves impressions from the one
// to the other off the request path. The backends are in dedup/redisbloom and
// dedup/memory, the conformance suite is in dedup/deduptest.
package dedup

import (
	"context"
	"errors"
	"time"
)

// ErrUnavailable is wrapped by errors that say the store could not be asked at
// all; asking again later may help.
var ErrUnavailable = errors.New("dedup store is unavailable")

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

// DaysAgo tells which day's filter hit; ok is false for Unseen and Pending.
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
	// [StaleAfter]: whoever served them never got to record them. The caller
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
//
// Check looks each group up in every filter of the window at now and in the
// pending set, in one round trip. It changes nothing. A false Unseen never
// happens for an impression whose Record was confirmed or whose claim stands;
// a false hit happens with at most the configured rate over the whole window.
// Duplicate groups are allowed; no groups is an empty answer.
type Checker interface {
	Check(ctx context.Context, agent string, groups []string, now time.Time) (Checked, error)
}

// Claimed is what became of one group in a Claim.
type Claimed uint8

const (
	Left  Claimed = iota // not reached: enough groups before it were taken
	Taken                // now pending for the caller, who serves it
	Held                 // was pending already: somebody else serves it
)

// Claimer is the pending set as a session in this process uses it. (Sessions
// in Redis claim inside their own scripts, in one step with the session.)
//
// Claim goes through groups in order and takes the first limit that are not
// pending, in one atomic step per agent; it returns one Claimed per group. With
// limit 0 it only tells Held from Left. What is taken is durable when Claim
// returns, as far as the store is. On an error nothing was taken.
//
// Release gives back what was claimed and in the end not delivered.
type Claimer interface {
	Claim(ctx context.Context, agent string, groups []string, limit int, now time.Time) ([]Claimed, error)
	Release(ctx context.Context, agent string, groups []string) error
}

// Writer is the recorder's side.
//
// Record adds a batch, over any number of agents, to the filter of now's day.
// It returns the impressions that are not confirmed, and then an error that
// says why; those may be recorded again, and recording anything twice is
// harmless.
//
// Settle takes impressions out of the pending sets. Only what was confirmed
// may be settled, and only a grace period after that.
type Writer interface {
	Record(ctx context.Context, batch []Impression, now time.Time) (unconfirmed []Impression, err error)
	Settle(ctx context.Context, batch []Impression) error
}

// Store is a whole dedup backend.
type Store interface {
	Checker
	Claimer
	Writer
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
