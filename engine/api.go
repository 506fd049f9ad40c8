package engine

import (
	"errors"

	"github.com/freshet/freshet/feed"
)

// Action is what a client asks of the feed.
type Action string

// The two actions of POST /v1/feed.
const (
	ActionRefresh  Action = "refresh"
	ActionLoadMore Action = "load_more"
)

// Bounds of a page.
const (
	DefaultLimit = 20
	MaxLimit     = 100
)

var (
	// ErrBadAction is wrapped by the error about an unknown action.
	ErrBadAction = errors.New("bad action")
	// ErrBadLimit is wrapped by the error about a limit out of bounds.
	ErrBadLimit = errors.New("bad limit")
)

// Request is one call of the feed.
type Request struct {
	Agent     string
	Action    Action
	Limit     int    // 1 to MaxLimit
	Silent    bool   // only with refresh: look, change nothing
	RequestID string // optional: the same id within a minute answers the same page
}

// Answer is what the reader is given.
type Answer struct {
	Docs      []feed.Doc // best first, never with a missing one
	HasMore   bool       // the session still holds something
	RequestID string     // as asked
	NewCount  int        // silent only: unseen items newer than the last refresh
	Degraded  []string   // what was missing, e.g. "dedup"; nil when nothing was
}
