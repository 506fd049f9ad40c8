// Package cache stores sessions and retry records. A session is the ranked, already deduplicated
// rest of an agent's last refresh, waiting to be paged. A retry record lets a repeated request_id
// return the same page. The backends are cache/redislist and cache/memory; the conformance suite is
// cache/cachetest.
package cache

import (
	"context"
	"errors"
	"time"

	"github.com/freshet/freshet/feed"
)

var (
	// ErrUnavailable is wrapped by errors that mean the store could not be reached; a retry may
	// succeed.
	ErrUnavailable = &feed.Outage{Text: "session store is unavailable", Shown: "the session store is unavailable; try again later"}
	// ErrUncertain is wrapped, in addition to [ErrUnavailable], by the error of a step that was sent
	// and got no reply: it is unknown whether it was executed.
	ErrUncertain = errors.New("the step may have been executed")
	// ErrConflict means that the agent used the request id for another feed, action or limit within
	// the last [RetryTTL].
	ErrConflict = feed.Errorf(feed.ErrConflict, "request_id was already used for another call; use a new one")
)

// RetryTTL is how long a page is stored under its request id.
const RetryTTL = 60 * time.Second

// AnsweredTTL is how long a page is stored at least after it was returned to another call: longer
// than a request may take, so that this call can still return it to the session.
const AnsweredTTL = 30 * time.Second

// MaxCalls is the number of calls that a record can distinguish. A further call gets the same page,
// and cannot return any of it to the session. Servers that share stored records must agree on it.
const MaxCalls = 17

// Call identifies the client's call that a step belongs to. The store keeps a record of the refs
// that each step of a call handed out. A step with a lost reply can therefore be run again and
// hands out the same refs, and refs that cannot be delivered can be returned exactly once. The zero
// Call has no record.
type Call struct {
	// RequestID is the client's id for the call, or "". For [RetryTTL], a later call with the same id
	// is answered from the record.
	RequestID string
	// Owner is unique to this call, so that a repeated step can be told apart from a retry by the
	// client. It consists of letters and digits.
	Owner  string
	Feed   feed.Name // the feed of the session
	Action string    // "refresh" or "load_more", as requested by the client
	Limit  int       // as requested by the client
	// Step numbers the steps of one call: 0 is its page, 1 and up add items to it.
	Step int
}

// None reports whether the call has no record.
func (c Call) None() bool { return c.RequestID == "" && c.Owner == "" }

// Record returns the name of the record: the request id, or a name that no client can send.
func (c Call) Record() string {
	if c.RequestID != "" {
		return c.RequestID
	}
	return "~" + c.Owner
}

// Page holds the refs that one step hands out.
type Page struct {
	Refs     []feed.Ref // best first; now in the pending set
	HasMore  bool       // the session is not empty
	Recorded bool       // the call's record already had the step; nothing changed
	Replayed bool       // as Again, and the record was made by another call with the same request id
	Shared   bool       // a further step, added to a record that was also returned to other calls
	Next     int        // number of the call's next step
	// Ahead holds the first refs left in the session, as [Sessions.Next] returns them; nil if the step
	// did not list them, see [Pop.Ahead].
	Ahead []feed.Ref
	// First means that the call contains the agent's first refresh: the store knew of no earlier one
	// within 8 days, in any feed, and [Replace.Known] was not set.
	First bool
}

// Replace describes the atomic page step of a refresh.
type Replace struct {
	Agent  string
	Ranked []feed.Ref // the filtered list, best first; groups are distinct; the store may keep and change it
	Limit  int
	Now    time.Time
	Call   Call
	// CheckedAt is [dedup.Checked.At] of the first check that the list is based on; 0 if there was no
	// check by the store's clock.
	CheckedAt int64
	// Known means that the caller knows from another source that the agent has refreshed before.
	Known bool
}

// Pop describes the step of a load_more.
type Pop struct {
	Agent string
	Limit int
	Now   time.Time
	Call  Call
	// Ahead is the number of refs to return in [Page.Ahead]. A store in which [Sessions.Next] costs
	// nothing may ignore it, and no store lists them for a step that was recorded before.
	Ahead int
}

// Sessions stores one session per agent and feed; the pending set is shared by all feeds. Each
// method is atomic for its agent, across all servers that share the store; if the store could not
// be reached, the error wraps [ErrUnavailable].
//
// Refs that a step hands out, and refs that are withdrawn, are pending and in none of the agent's
// sessions from then on. Therefore a session may be paged even after its entries have left the
// pending set: its refs have not been handed out since they were selected, by this feed or any
// other.
type Sessions interface {
	// Replace drops refs from the ranked list that have become pending meanwhile, takes the first
	// Limit as the page, adds them to the pending set, and removes them from the agent's other
	// session. It replaces the old session by the rest with the configured TTL (if there is no rest,
	// there is no session), and stores Now as the time of the agent's last refresh.
	//
	// A step that the call's record already contains is answered from the record and changes nothing:
	// with Replayed if another call made the record, without if this one did. Step 0 of another call
	// returns all steps. A record of another feed, action or limit is [ErrConflict].
	//
	// After an error that wraps [ErrUncertain], run the step again with the same Call, or take it back
	// with Abandon. After any other error nothing has changed. An error that wraps
	// [feed.ErrUnavailable] and not [ErrUnavailable] means that the page is based on a check so old
	// that an impression may have left the pending set since: check again.
	Replace(ctx context.Context, r Replace) (Page, error)
	// Pop takes up to Limit refs from the head of the session, skipping pending ones, adds them to the
	// pending set and removes them from the agent's other session. It never extends the session's TTL.
	// An empty page means that the session is empty or does not exist; it is not recorded, so that
	// another call may still use the request id. Answers
	// from the record and errors are as for Replace.
	Pop(ctx context.Context, p Pop) (Page, error)
	// Replay returns the refs that another call with the same request id was handed out; ok is false
	// if there is no such record. A record of another feed, action or limit is [ErrConflict]. From
	// then on this call holds them too, see Restore. Replay may be repeated.
	Replay(ctx context.Context, agent string, call Call) (page Page, ok bool, err error)
	// Next returns the first n refs left in the session, in order: those that a Pop would hand out,
	// plus any that are pending. It changes nothing. Without a session the result is empty.
	Next(ctx context.Context, agent string, name feed.Name, n int) ([]feed.Ref, error)
	// Refreshed returns the Now of the last Replace of the agent's feed, with millisecond precision or
	// better; the zero time if there was none within 8 days.
	Refreshed(ctx context.Context, agent string, name feed.Name) (time.Time, error)
	// Restore reverses the handing out of refs that could not be delivered: they return to the head of
	// the session in order, and leave the pending set and the record; a record without refs is
	// deleted. A session that had ended gets the full TTL. Refs that the record does not list, or that
	// the call does not hold, are not changed, so restoring twice is harmless, even after an error.
	// Refs that were withdrawn meanwhile stay pending and are not restored.
	//
	// A ref is held by the call that it was handed out to and by each call that got it from the
	// record, until that call returns it. If other calls, which may have delivered it, hold it, it
	// stays pending and in the record; it is restored when the last of them returns it. Therefore each
	// call must return the refs that it does not deliver.
	Restore(ctx context.Context, agent string, refs []feed.Ref, call Call) error
	// Discard removes refs that will not be delivered from the pending set and the record without
	// restoring them: a later recall may propose them again. Refs that the record does not list, or
	// that the call does not hold, are not changed, so discarding twice is harmless, even after an
	// error. Refs that were withdrawn meanwhile, or that other calls hold, stay pending.
	Discard(ctx context.Context, agent string, refs []feed.Ref, call Call) error
	// Omit removes refs from the record that the response leaves out because they were shown before,
	// so that a retry leaves them out too. They stay pending. Refs that the record does not list are
	// ignored, so omitting twice is harmless, even after an error.
	Omit(ctx context.Context, agent string, refs []feed.Ref, call Call) error
	// Abandon discards all refs that the call was handed out from call.Step on, for a caller that does
	// not know them because the reply was lost. A step 0 that arrives later hands out nothing. Refs
	// that the call does not hold are not changed; refs that were withdrawn meanwhile, or that other
	// calls hold, stay pending. Abandoning twice is harmless, even after an error.
	Abandon(ctx context.Context, agent string, call Call) error
	// Delete ends the agent's sessions in all feeds; without one it does nothing. Refs that were
	// handed out stay pending. Delete may be retried after an error.
	Delete(ctx context.Context, agent string) error
	// Forget deletes the sessions and the time of the agent's last refresh. Records of calls remain,
	// for retries. Forget may be retried after an error.
	Forget(ctx context.Context, agent string) error
	Withdrawer
}

// Withdrawer removes from the sessions the groups that were shown without the session store: on a
// timeline, or while the store was down.
type Withdrawer interface {
	// Withdraw removes every ref with a group or id in groups from the agent's sessions, in all feeds,
	// and adds groups to the pending set as handed out at the given time, in one atomic step; pending
	// ones stay pending. A session keeps its order and its TTL; an empty one ends. Taking back a step
	// later does not remove the groups from the pending set. Withdraw may be retried after an error.
	Withdraw(ctx context.Context, agent string, groups []string, at time.Time) error
}
