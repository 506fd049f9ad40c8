package dedup

import (
	"context"
	"time"
)

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
