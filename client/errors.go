package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/freshet/freshet/feed"
)

// Refusals by a server; an [*Error] matches one of them with [errors.Is]. They are the error kinds
// of [feed], so that matching works the same way as inside the server.
var (
	ErrBadRequest      = feed.ErrInvalid         // 400: the call is invalid; do not repeat it
	ErrUnauthenticated = feed.ErrUnauthenticated // 401: the caller is unknown
	ErrForbidden       = feed.ErrForbidden       // 403: the caller lacks permission
	ErrNotFound        = feed.ErrNotFound        // 404
	ErrConflict        = feed.ErrConflict        // 409: the request id or key belongs to another call
	ErrPrecondition    = feed.ErrChanged         // 412: read again, then write
	ErrTooLarge        = feed.ErrTooLarge        // 413
	ErrUnprocessable   = feed.ErrRule            // 422: a post breaks a rule, or a limit is reached
	ErrRateLimited     = feed.ErrTooMany         // 429: wait for RetryAfter
	ErrUnavailable     = feed.ErrUnavailable     // 503: the server is busy, or something it needs is down
)

// Errors without a valid response of a server; they are never an [*Error].
var (
	ErrUnreachable = errors.New("cannot reach the server") // no complete response was received
	ErrNotFreshet  = errors.New("the response is not from a Freshet server")
	// ErrSuperseded means that there was no further attempt, because a newer call on the same subject
	// was made.
	ErrSuperseded = errors.New("superseded by a newer call on the same subject")
)

// byStatus maps the status of an [*Error] to its sentinel.
var byStatus = map[int]error{
	http.StatusBadRequest:            ErrBadRequest,
	http.StatusUnauthorized:          ErrUnauthenticated,
	http.StatusForbidden:             ErrForbidden,
	http.StatusNotFound:              ErrNotFound,
	http.StatusConflict:              ErrConflict,
	http.StatusPreconditionFailed:    ErrPrecondition,
	http.StatusRequestEntityTooLarge: ErrTooLarge,
	http.StatusUnprocessableEntity:   ErrUnprocessable,
	http.StatusTooManyRequests:       ErrRateLimited,
	http.StatusServiceUnavailable:    ErrUnavailable,
}

// Error is an unsuccessful response.
type Error struct {
	Status     int             // HTTP status
	Code       int             // of the envelope; 0 if the response has no Freshet envelope
	Msg        string          // the reason
	RetryAfter time.Duration   // the wait that the server asks for; 0 for none
	RequestID  string          // of the call, as in the server's log
	Data       json.RawMessage // partial result, such as an upload's report; usually nil
	Location   string          // where a redirect leads, which is not followed; "" for none
}

// Error returns the status, code and message of the response, or where a redirect leads.
func (e *Error) Error() string {
	if e.Location != "" {
		return fmt.Sprintf("the server answered %d %s to %s, which is not followed: use the address that it leads to", e.Status, http.StatusText(e.Status), e.Location)
	}
	if e.Code == 0 {
		return fmt.Sprintf("the server answered %d %s", e.Status, http.StatusText(e.Status))
	}
	return fmt.Sprintf("the server answered %d (%d): %s", e.Status, e.Code, e.Msg)
}

// Is reports whether target is the sentinel of the status.
func (e *Error) Is(target error) bool {
	known := byStatus[e.Status]
	return known != nil && known == target
}
