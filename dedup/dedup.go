// Package dedup records which groups each agent was shown, so that none is shown twice. It uses
// seven daily Bloom filters of impressions and, for each agent, an exact pending set of groups that
// were served recently and are not yet confirmed in a filter. [Recorder] moves impressions from the
// pending sets to the filters, off the request path. The backends are dedup/redisbloom and
// dedup/memory; the conformance suite is dedup/deduptest.
package dedup

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/freshet/freshet/feed"
)

// ErrUnavailable is wrapped by errors that mean the store could not be reached; a retry may
// succeed.
var ErrUnavailable = &feed.Outage{Text: "dedup store is unavailable", Shown: "the dedup store is unavailable; try again later"}

// ErrForeign is wrapped by the error of a step that found another application's key in place of the
// agent's. It persists until that key is removed.
var ErrForeign = errors.New("a key of this agent has an unexpected type; remove it")

// Impression records that an agent was given a group.
type Impression struct {
	Agent string
	Group string
}

// Member returns the impression as the filters store it: <agent_id>:<group_id>. The first colon is
// the separator, because agent ids contain none.
func (i Impression) Member() string { return i.Agent + ":" + i.Group }

// Verdict reports whether, and where, a group was found.
type Verdict uint8

const (
	Unseen  Verdict = 0 // in no filter of the window and not pending
	Pending Verdict = 1 // in the agent's exact pending set
	onDay   Verdict = 2 // onDay+i: in the filter of i days ago
)

// SeenDaysAgo returns the verdict for a hit in the filter of that many days ago; 0 is today.
func SeenDaysAgo(days int) Verdict { return onDay + Verdict(days) }

// DaysAgo returns the age in days of the filter that hit; ok is false for Unseen and Pending.
func (v Verdict) DaysAgo() (days int, ok bool) {
	if v < onDay {
		return 0, false
	}
	return int(v - onDay), true
}

// Checked is the result of one check.
type Checked struct {
	Verdicts []Verdict // one per group checked, in order
	// Stale lists groups that have been pending for longer than [StaleAfter], because the server that
	// served them did not record them. The caller must hand them to the recorder again. If a delivery is no
	// impression, only [Marks] are among them.
	Stale []string
	// At is the store's clock at the time of the check, in milliseconds; 0 for an in-process store.
	// [cache.Replace] uses it to refuse a page that was selected too long ago.
	At int64
}

// StaleAfter is how long an impression may be pending before the next check
// of its agent reports it in [Checked.Stale].
const StaleAfter = 60 * time.Second

// Marks returns, in place, the marks among groups: they say which feed has shown an item, and are recorded at its
// delivery even if that is no impression.
func Marks(groups []string) []string {
	return slices.DeleteFunc(groups, func(g string) bool { return !IsMark(g) })
}

// IsMark reports whether a group is one of [Marks].
func IsMark(group string) bool {
	return strings.HasPrefix(group, feed.GivenMark) && group != feed.GivenMark+string(feed.AnyNamed)
}

// Checker reports which groups an agent has been shown.
type Checker interface {
	// Check looks up each group in the pending set and in every filter of the window at now, as a rule
	// in one round trip, and changes nothing. Verdicts are in the order of groups, which may contain
	// duplicates. Without groups the result is empty; for an unknown agent every group is Unseen. An
	// impression that Record confirmed or that is still claimed is never Unseen. A pending group is
	// Pending even if filters contain it; otherwise the latest day that contains it counts. The share
	// of unseen groups reported as seen is at most the configured rate over the window. After an error
	// there are no verdicts; if it wraps [ErrUnavailable], retry.
	Check(ctx context.Context, agent string, groups []string, now time.Time) (Checked, error)
}

// Filters looks up recorded impressions.
type Filters interface {
	// Recorded reports for each key, a group or an id, whether a filter of the window has it,
	// pending or not. Errors are those of [Checker].
	Recorded(ctx context.Context, agent string, keys []string, now time.Time) ([]bool, error)
}

// Claimer is the pending set as sessions in this process use it, with at most one call at a time
// per agent. (Sessions in Redis change it inside their own scripts, atomically with the session.)
type Claimer interface {
	// Pending reports for each group whether it is pending.
	Pending(ctx context.Context, agent string, groups []string, now time.Time) ([]bool, error)
	// Claim adds groups to the pending set, as durably as the store can. After an error nothing is
	// claimed.
	Claim(ctx context.Context, agent string, groups []string, now time.Time) error
	// Release removes groups that were claimed and not delivered from the pending set, except held
	// ones ([Claimer.AddShown]). Groups that are not pending are ignored, so Release may be retried after
	// an error.
	Release(ctx context.Context, agent string, groups []string) error
	// AddShown adds groups to the pending set that were shown at that time by something other than a
	// claim, even if they are pending already. The later of two times counts. Releasing an earlier
	// claim does not remove them: only Settle, Forget and expiry do. Hold may be retried after an
	// error.
	AddShown(ctx context.Context, agent string, groups []string, at time.Time) error
}

// Writer is the part of the store that the recorder uses.
type Writer interface {
	// Record adds a batch, over any number of agents, to the filter of now's day. It returns the
	// impressions that are not confirmed, in any order, with an error that gives the reason; nil and
	// nil confirm all. Unconfirmed impressions may be in the filter nevertheless. Recording them again
	// is safe, even on a later day.
	Record(ctx context.Context, batch []Impression, now time.Time) (unconfirmed []Impression, err error)
	// ClearPending removes impressions from the pending sets. Only impressions that Record has confirmed may
	// be settled, and only after a grace period. Impressions that are not pending are ignored. Settle
	// may be retried after an error.
	ClearPending(ctx context.Context, batch []Impression) error
}

// Store is a complete dedup backend.
type Store interface {
	Checker
	Writer
	// Forget removes all of an agent's groups from the pending set. Groups that were served and are
	// not yet in a filter may be served again. Forget may be retried after an error.
	Forget(ctx context.Context, agent string) error
}

// Config holds the settings that all backends share.
type Config struct {
	WindowDays        int           // length of the window, today included
	FalsePositiveRate float64       // for the whole window, between 0 and 1, both excluded
	DailyCapacity     int           // impressions that the filters of a day are sized for, all shards together
	Shards            int           // number of filters per day (redisbloom)
	PendingTTL        time.Duration // pending entries older than this no longer count
	Served            bool          // impressions.on: true = served, false = seen
}

// OutageMarkerTTL is how long a server's marker lasts without renewal: long enough to restart a server that
// died.
const OutageMarkerTTL = 60 * time.Second

// OutageMarkers let servers warn one another that they have served groups the store does not yet know of,
// because it was down.
type OutageMarkers interface {
	OutageMarker
	// Any reports whether any server's marker exists, including this server's. An error wraps
	// [ErrUnavailable] if the store is down.
	Any(ctx context.Context) (bool, error)
}

// OutageMarker is the part of [OutageMarkers] that writes.
type OutageMarker interface {
	// Set creates or renews a server's marker for [OutageMarkerTTL]. It may be retried after an error, which
	// wraps [ErrUnavailable] if the store is down.
	Set(ctx context.Context, server string) error
	// Remove deletes the marker, if there is one. If it fails, the marker expires after [OutageMarkerTTL]; errors
	// are as for Leave.
	Remove(ctx context.Context, server string) error
}
