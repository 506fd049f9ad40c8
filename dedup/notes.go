package dedup

import (
	"context"
	"time"
)

// NoteTTL is how long a server's note stands if the server does not renew it:
// long enough for one that died to be started again.
const NoteTTL = 60 * time.Second

// Notes is how servers tell one another that they have handed out what the
// store does not know of yet, because it was down. Errors wrap [ErrUnavailable]
// where it still is.
type Notes interface {
	Noter
	// Any reports whether the note of any server stands.
	Any(ctx context.Context) (bool, error)
}

// Noter is the part of [Notes] that a server tells the others by.
type Noter interface {
	// Leave makes or renews the note of a server.
	Leave(ctx context.Context, server string) error
	// Remove takes it away; without one it does nothing.
	Remove(ctx context.Context, server string) error
}
