package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/freshet/freshet/feed"
)

// What a server refuses; an [*Error] is one of them by [errors.Is]. They are the kinds
// of [feed], so that what is matched in a server's process is matched here, too.
var (
	ErrBadRequest      = feed.ErrInvalid         // 400: the call is wrong and stays so
	ErrUnauthenticated = feed.ErrUnauthenticated // 401: who calls is not known
	ErrForbidden       = feed.ErrForbidden       // 403: who calls may not
	ErrNotFound        = feed.ErrNotFound        // 404
	ErrConflict        = feed.ErrConflict        // 409: the request id or key belongs to another call
	ErrPrecondition    = feed.ErrChanged         // 412: read again, then write
	ErrTooLarge        = feed.ErrTooLarge        // 413
	ErrUnprocessable   = feed.ErrRule            // 422: a post breaks a rule, or there are as many as there may be
	ErrRateLimited     = feed.ErrTooMany         // 429: wait for RetryAfter
	ErrUnavailable     = feed.ErrUnavailable     // 503: the server is busy, or something it needs is down
)

// What is no answer of a server; it is never an [*Error].
var (
	ErrUnreachable = errors.New("cannot reach the server") // no whole answer came
	ErrNotFreshet  = errors.New("not a Freshet server")    // the answer is not Freshet's
	// ErrSuperseded says that there was no further try, because a newer call about the same
	// thing decides.
	ErrSuperseded = errors.New("a newer call about the same thing was made")
)

// byStatus is how an [*Error] finds its sentinel.
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

// Error is an answer that is not a success.
type Error struct {
	Status     int             // of HTTP
	Code       int             // of the envelope; 0: the answer was none of Freshet's
	Msg        string          // why
	RetryAfter time.Duration   // how long the server asks to wait; 0: it does not
	RequestID  string          // of the call, as the server's log has it
	Data       json.RawMessage // what was done nevertheless, such as an upload's report; mostly nil
}

// Error says what the server said.
func (e *Error) Error() string {
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
