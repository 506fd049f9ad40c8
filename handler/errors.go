package handler

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/freshet/freshet/feed"
)

// moved has the addresses of pages that people may write otherwise, or may have kept.
var moved = map[string]string{
	"/docs/": "/docs", "/console/": "/console", "/lab": "/console#/ranking", "/lab/": "/console#/ranking",
}

// noRoute answers calls without a matching route. It redirects to pages that have moved.
func noRoute(c *call) error {
	r := c.gin.Request
	to, isPage := moved[r.URL.Path]
	if isPage && isRead(r) {
		http.Redirect(c.gin.Writer, r, to, http.StatusPermanentRedirect)
		return nil
	}
	return feed.Errorf(feed.ErrNotFound, "no such route")
}

// noMethod answers calls with a method that the path does not support.
func noMethod(*call) error {
	return problem{
		status: http.StatusMethodNotAllowed, code: 40501,
		msg: "method not allowed; the Allow header lists the supported methods",
	}
}

// statusClientGone is nginx's status for a client that disconnected. It excludes such calls from
// the error count.
const statusClientGone = 499

// problem is the answer to an error. It is also used as an error by this package only.
type problem struct {
	is     error // matched with errors.Is
	status int
	code   int
	// msg is the text for callers if the error has none for them ([feed.Shown]); "" means the
	// error's own text, which then describes only the caller's input.
	msg string
}

func (p problem) Error() string { return p.msg }

// clientGone is used in the log and the metrics only.
var clientGone = problem{status: statusClientGone, code: 49901, msg: "the client disconnected before the answer was ready"}

// problems maps errors to answers; the first match is used. An error without a match is 50001.
var problems = []problem{
	{is: feed.ErrTooLarge, status: http.StatusRequestEntityTooLarge, code: 41301},
	{is: feed.ErrUnavailable, status: http.StatusServiceUnavailable, code: 50301, msg: "a dependency is unavailable; try again later"},
	{is: context.DeadlineExceeded, status: http.StatusServiceUnavailable, code: 50301, msg: "the request timed out; try again later"},
	{is: context.Canceled, status: http.StatusServiceUnavailable, code: 50301, msg: "the request was cancelled; try again later"},
	{is: feed.ErrBadID, status: http.StatusBadRequest, code: 40004},
	{is: feed.ErrBadAction, status: http.StatusBadRequest, code: 40002},
	{is: feed.ErrBadLimit, status: http.StatusBadRequest, code: 40003},
	{is: feed.ErrInvalid, status: http.StatusBadRequest, code: 40001},
	{is: feed.ErrUnauthenticated, status: http.StatusUnauthorized, code: 40101},
	{is: feed.ErrForbidden, status: http.StatusForbidden, code: 40301},
	// Missing and invisible things get the same answer.
	{is: feed.ErrNotFound, status: http.StatusNotFound, code: 40401, msg: "not found: nothing exists with this id"},
	{is: feed.ErrGone, status: http.StatusGone, code: 41001},
	{is: feed.ErrConflict, status: http.StatusConflict, code: 40901, msg: "the request id belongs to another request; use a new one"},
	{is: feed.ErrChanged, status: http.StatusPreconditionFailed, code: 41201},
	{is: feed.ErrType, status: http.StatusUnsupportedMediaType, code: 41501},
	{is: feed.ErrLimit, status: http.StatusUnprocessableEntity, code: 42202},
	{is: feed.ErrRule, status: http.StatusUnprocessableEntity, code: 42201},
	{is: feed.ErrBusy, status: http.StatusServiceUnavailable, code: 50301},
	{is: feed.ErrTooMany, status: http.StatusTooManyRequests, code: 42901},
}

// problemOf returns the answer to an error, including msg.
func problemOf(err error) problem {
	var own problem
	if errors.As(err, &own) {
		return own
	}
	for _, p := range problems {
		if errors.Is(err, p.is) {
			if p.msg == "" {
				p.msg = err.Error()
			} else {
				p.msg = cmp.Or(feed.Shown(err, p.is), p.msg)
			}
			p.msg = feed.Brief(p.msg)
			return p
		}
	}
	return problem{status: http.StatusInternalServerError, code: 50001, msg: "internal error; the cause is in the server's log"}
}

// partial is an error with a report of the work done before it.
type partial struct {
	error
	data any
}

func (p partial) Unwrap() error { return p.error }
