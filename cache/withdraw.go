package cache

import (
	"context"
	"time"
)

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
