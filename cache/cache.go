// Package cache stores sessions (the ranked, already deduplicated rest of an
// agent's last refresh, waiting to be paged) and the retry records that make a
// repeated request_id answer the same page. The backends are in
// cache/redislist and cache/memory, the conformance suite in cache/cachetest.
package cache

import (
	"context"
	"errors"
	"time"

	"github.com/freshet/freshet/feed"
)

var (
	// ErrUnavailable is wrapped by errors that say the store could not be
	// asked at all; asking again later may help.
	ErrUnavailable = &feed.Outage{Text: "session store is unavailable", Shown: "the session store is unavailable; try again later"}
	// ErrUncertain is wrapped, beside [ErrUnavailable], by the error of a step
	// that was sent and not answered: it is not known whether it was made.
	ErrUncertain = errors.New("the step may have been made")
	// ErrForeign is wrapped, beside [ErrUnavailable], by the error of a step that met a key of
	// somebody else's in the agent's place. It lasts until that key is gone.
	ErrForeign = errors.New("a key of this agent has another type; remove it")
	// ErrConflict says that the request id was used for another action or
	// limit within the last [RetryTTL].
	ErrConflict = feed.Errorf(feed.ErrConflict, "request_id was already used for another call; use a new one")
)

// RetryTTL is how long a page is remembered under its request id.
const RetryTTL = 60 * time.Second

// AnsweredTTL is how long at least it is remembered after another call was answered with
// it: longer than a request may take, so that this one can still give it back.
const AnsweredTTL = 30 * time.Second

// MaxCalls is how many calls a record tells apart. A call beyond them is answered like the
// others, and can give nothing back.
const MaxCalls = 17

// Call identifies the call of a client that a step belongs to. The store keeps
// a record of what a call was handed out, step by step, so that a step whose
// answer was lost can be run again and hands out the same, and so that what
// cannot be delivered can be returned exactly once. The zero Call keeps no
// record.
type Call struct {
	// RequestID is the client's name for the call; "" where it gave none. A
	// later call with the same one is answered from the record, for
	// [RetryTTL].
	RequestID string
	// Owner is unique to this call, so that a step run again differs from a
	// retry by the client. Letters and digits.
	Owner string
	// Feed is the feed whose session the call is about. A request id names another
	// call in each of them.
	Feed   feed.Name
	Action string // "refresh" or "load_more", as the client asked
	Limit  int    // as the client asked
	// Step numbers the steps of one call: 0 is its page, 1 and up
	// fill it up.
	Step int
}

// None reports whether the call keeps no record.
func (c Call) None() bool { return c.RequestID == "" && c.Owner == "" }

// Record names the record: the request id, or a name that no client can send.
func (c Call) Record() string {
	if c.RequestID != "" {
		return c.RequestID
	}
	return "~" + c.Owner
}

// Page holds the refs that one step hands out.
type Page struct {
	Refs     []feed.Ref // best first; they are in the pending set now
	HasMore  bool       // the session still holds something
	Again    bool       // the call's record had the step already; nothing changed
	Replayed bool       // so it had, and another call with the same request id made the record
	Shared   bool       // a further step, of a record that other calls were answered with, too
	Next     int        // number of the call's next step
	// First says that the call holds the agent's first refresh: before it the store knew of none
	// within 8 days, of any feed, and [Replace.Known] was not set.
	First bool
}

// Replace is the atomic page step of a refresh.
type Replace struct {
	Agent  string
	Ranked []feed.Ref // the clean list, best first; groups are distinct
	Limit  int
	Now    time.Time
	Call   Call
	// CheckedAt is [dedup.Checked.At] of the first check the list was made
	// from; 0: no check by the store's clock.
	CheckedAt int64
	// Known says that the agent has refreshed before, as the caller knows from elsewhere.
	Known bool
}

// Pop is the step of a load_more.
type Pop struct {
	Agent string
	Limit int
	Now   time.Time
	Call  Call
}

// Sessions keeps one session per agent and feed; what is pending is of all feeds. Each
// method is one atomic step for its agent, over all servers that share the store; where it could not be asked, its
// error wraps [ErrUnavailable].
//
// What a step hands out, and what is withdrawn, is pending and in none of the agent's
// sessions from then on. So a session may be paged after its entries have left the
// pending set: what is in it has not been handed out since it was chosen, by this feed
// or by any other.
type Sessions interface {
	// Replace drops from the ranked list what has entered the pending set
	// meanwhile, takes the first Limit as the page and adds them to the
	// pending set, takes them out of the agent's other session, replaces the old
	// session by the rest with the configured TTL (no rest: no session), and
	// remembers Now as the agent's last refresh.
	//
	// A step that the call's record already has is answered from the record
	// and changes nothing: with Replayed where another call made the record,
	// and without where this one did. Step 0 of another call is answered with
	// all its steps. A record of another action or limit is [ErrConflict].
	//
	// After an error that wraps [ErrUncertain], run the step again with the same
	// Call, or take it back with Abandon. After any other error nothing has
	// changed; one that wraps [feed.ErrUnavailable] and not [ErrUnavailable] says that the
	// page was chosen from a check so long ago that an impression may have left the
	// pending set since: check again.
	Replace(ctx context.Context, r Replace) (Page, error)
	// Pop takes up to Limit from the head of the session, skipping what is
	// pending, adds them to the pending set and takes them out of the agent's
	// other session. It never extends the session's TTL. An empty page means there is no session (left); it is
	// not recorded. The record answers, and errors are, as for Replace.
	Pop(ctx context.Context, p Pop) (Page, error)
	// Replay looks up what another call with the same request id was handed
	// out; ok is false where there is no such record. From then on this call holds it,
	// too, see Restore. It may be asked again.
	Replay(ctx context.Context, agent string, call Call) (page Page, ok bool, err error)
	// Next reads the first n of what is left of the session, in order: what a Pop
	// would hand out, but for what is pending. It changes nothing. Without a session
	// there is nothing.
	Next(ctx context.Context, agent string, name feed.Name, n int) ([]feed.Ref, error)
	// Refreshed is the Now of the last Replace of the agent's feed, to the
	// millisecond at least; zero: none within 8 days.
	Refreshed(ctx context.Context, agent string, name feed.Name) (time.Time, error)
	// Restore undoes the handing out of refs that could not be delivered: they
	// go back to the head of the session in order, and leave the pending set
	// and the record; a record without refs is deleted. A session that had
	// ended gets the full TTL. What the record does not list, or the call does not
	// hold, is left as it is, so restoring twice is harmless, also after an error. What
	// was withdrawn meanwhile stays pending and goes nowhere.
	//
	// A ref is held by the call that it was handed out to and by each that was answered
	// with it from the record, until that call gives it back. Where others hold it, who may
	// have delivered it, it stays pending and in the record, and goes back when the last of
	// them gives it back. So each of them gives back what it does not deliver.
	Restore(ctx context.Context, agent string, refs []feed.Ref, call Call) error
	// Discard takes refs that are not to be delivered out of the pending set
	// and the record, and puts them nowhere: a later recall may propose them
	// again. What the record does not list, or the call does not hold, is left as it is,
	// so discarding twice is harmless, also after an error. What was withdrawn
	// meanwhile, or is held by other calls, stays pending.
	Discard(ctx context.Context, agent string, refs []feed.Ref, call Call) error
	// Omit takes refs that the answer leaves out, because they were shown
	// before, off the record, so that a retry leaves them out too. They stay
	// pending. What the record does not list is passed over, so omitting twice is
	// harmless, also after an error.
	Omit(ctx context.Context, agent string, refs []feed.Ref, call Call) error
	// Abandon discards whatever the call was handed out from call.Step on,
	// where that is not known because the answer was lost. A step 0
	// that arrives after it hands out nothing. What the call does not hold is left as
	// it is; what was withdrawn meanwhile, or is held by other calls, stays
	// pending. Abandoning twice is harmless, also after an error.
	Abandon(ctx context.Context, agent string, call Call) error
	// Delete ends the agent's sessions, of all feeds; without one it does nothing. What was
	// handed out stays pending. After an error delete again.
	Delete(ctx context.Context, agent string) error
	// Forget is Delete that also forgets when the agent last refreshed. Records of
	// calls stay, for retries. After an error forget again.
	Forget(ctx context.Context, agent string) error
	Withdrawer
}

// Withdrawer takes what was handed out without the store, on a timeline or while
// the store was down, out of what it is going to hand out.
type Withdrawer interface {
	// Withdraw takes every ref whose group or id is one of groups out of the
	// agent's sessions, of all feeds, and puts groups into the pending set as handed out at
	// that time, in one atomic step; what is pending already stays so. A
	// session keeps its order and its TTL; where nothing is left of it, it
	// ends. No step that is taken back later takes them out of the pending set.
	// After an error withdraw again: doing so twice is harmless.
	Withdraw(ctx context.Context, agent string, groups []string, at time.Time) error
}
