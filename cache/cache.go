// Package cache answers for sessions: the ranked, already deduplicated rest of
// an agent's last refresh, waiting to be paged, and for the retry records that
// make a repeated request_id answer the same page. The backends are in
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
	ErrUnavailable = errors.New("session store is unavailable")
	// ErrConflict says that the request id was used for another action or
	// limit within the last [RetryTTL].
	ErrConflict = errors.New("request_id was already used for another call; use a new one")
	// ErrTooLate says that the page was chosen from a check so long ago that
	// an impression may have left the pending set since. Nothing changed;
	// refresh again.
	ErrTooLate = errors.New("the refresh took too long to be safe; try again")
)

// RetryTTL is how long a page is remembered under its request id.
const RetryTTL = 60 * time.Second

// Retry identifies a call that may be sent again. The zero Retry is a call
// without a request id: nothing is remembered.
type Retry struct {
	RequestID string
	Action    string // "refresh" or "load_more", as the client asked
	Limit     int
	// Extend is set on the further steps of one call (a top-up, a silent
	// extra refresh): the record is not answered but added to.
	Extend bool
}

// Page is what one step hands out.
type Page struct {
	Refs     []feed.Ref // best first; they are in the pending set now
	HasMore  bool       // the session still holds something
	Replayed bool       // answered from the retry record; nothing changed
}

// Replace is the atomic page step of a refresh.
type Replace struct {
	Agent  string
	Ranked []feed.Ref // the clean list, best first; groups are distinct
	Limit  int
	Now    time.Time
	Retry  Retry
	// CheckedAt is [dedup.Checked.At] of the first check the list was made
	// from; 0: no check by the store's clock.
	CheckedAt int64
}

// Pop is the step of a load_more.
type Pop struct {
	Agent string
	Limit int
	Now   time.Time
	Retry Retry
}

// Sessions keeps one session per agent. Each method is one atomic step for its
// agent, over all servers that share the store.
//
// Replace drops from the ranked list what has entered the pending set
// meanwhile, takes the first Limit as the page and adds them to the pending
// set, replaces the old session by the rest with the configured TTL (no rest:
// no session), and remembers Now as the agent's last refresh. On an error the
// old session stands.
//
// Pop takes up to Limit from the head of the session, skipping what is
// pending, and adds them to the pending set. It never extends the session's
// TTL. An empty page means there is no session (left); it is not remembered
// under the request id.
//
// Both answer from the retry record where there is one (unless Extend), or
// fail with [ErrConflict]; else they store {refs, has_more, action, limit}.
//
// Replay looks a retry record up and changes nothing; ok is false where there
// is none.
//
// Refreshed is the time of the agent's last Replace; zero: none within 8 days.
//
// Restore undoes the handing out of refs that could not be delivered: they go
// back to the head of the session in order, leave the pending set and the retry
// record; a record without refs is deleted. A session that had ended gets the
// full TTL. Where the retry record has been answered again meanwhile, nothing
// changes: the other answer may have what this one could not deliver.
//
// Delete ends the agent's session.
type Sessions interface {
	Replace(ctx context.Context, r Replace) (Page, error)
	Pop(ctx context.Context, p Pop) (Page, error)
	Replay(ctx context.Context, agent string, retry Retry) (page Page, ok bool, err error)
	Refreshed(ctx context.Context, agent string) (time.Time, error)
	Restore(ctx context.Context, agent string, refs []feed.Ref, retry Retry) error
	Delete(ctx context.Context, agent string) error
	Withdrawer
}
