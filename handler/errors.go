package handler

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/freshet/freshet/engine"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/ranking"
	"github.com/freshet/freshet/signals/events"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/graph"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/media"
)

var (
	errBadRequest      = errors.New("bad request")
	errUnauthenticated = errors.New("unauthenticated")
	errForbidden       = errors.New("forbidden")
	errNoRoute         = errors.New("no such route")
	errNoMethod        = errors.New("the route does not accept this method; the Allow header lists those it accepts")
	errTooLarge        = errors.New("too large")
	errRange           = errors.New("the image has no such range; Content-Range says how long it is")
	errRateLimited     = errors.New("too many requests of this agent")
	errBusy            = errors.New("the server is busy; try again in a moment")
	errUploads         = errors.New("too many uploads")
	// errClientGone is for the log and the metrics only.
	errClientGone = errors.New("the client disconnected before the answer was ready")
)

// ErrPrecondition is wrapped by errors about an If-Match that names another
// version than the stored one.
var ErrPrecondition = errors.New("the version in If-Match is not the current one; read it again")

// statusClientGone is nginx's status for a client that disconnected. It keeps such
// calls out of the count of errors.
const statusClientGone = 499

// nothingThere says no more than that: not whether there was something, or is for
// others.
const nothingThere = "not found: there is nothing under this id"

// problem is the answer to an error.
type problem struct {
	is     error // matched with errors.Is
	status int
	code   int
	// msg is for callers, where the error has no text for them ([feed.Shown]); "": the
	// error's own text, which is about the caller's input only.
	msg string
}

// problems maps errors to answers; the first match counts, so an error that wraps
// two of them gets the upper one. One that matches none is 50001.
var problems = []problem{
	{is: errClientGone, status: statusClientGone, code: 49901},
	{is: errTooLarge, status: http.StatusRequestEntityTooLarge, code: 41301},
	{is: feed.ErrUnavailable, status: http.StatusServiceUnavailable, code: 50301, msg: "something that is needed is unavailable; try again later"},
	{is: context.DeadlineExceeded, status: http.StatusServiceUnavailable, code: 50301, msg: "the answer took too long; try again later"},
	{is: context.Canceled, status: http.StatusServiceUnavailable, code: 50301, msg: "the work was cancelled; try again later"},
	{is: feed.ErrBadID, status: http.StatusBadRequest, code: 40004},
	{is: feed.ErrBadAction, status: http.StatusBadRequest, code: 40002},
	{is: ranking.ErrBadLimit, status: http.StatusBadRequest, code: 40003},
	{is: feed.ErrBadLimit, status: http.StatusBadRequest, code: 40003},
	{is: errBadRequest, status: http.StatusBadRequest, code: 40001},
	{is: feed.ErrInvalid, status: http.StatusBadRequest, code: 40001},
	{is: graph.ErrBadBody, status: http.StatusBadRequest, code: 40001},
	{is: events.ErrBadKind, status: http.StatusBadRequest, code: 40001},
	{is: social.ErrBad, status: http.StatusBadRequest, code: 40001},
	{is: errUnauthenticated, status: http.StatusUnauthorized, code: 40101},
	{is: errForbidden, status: http.StatusForbidden, code: 40301},
	{is: social.ErrNotAllowed, status: http.StatusForbidden, code: 40301},
	{is: social.ErrBlocked, status: http.StatusForbidden, code: 40301},
	{is: errNoRoute, status: http.StatusNotFound, code: 40401},
	{is: ranking.ErrNotFound, status: http.StatusNotFound, code: 40401},
	{is: feed.ErrNotFound, status: http.StatusNotFound, code: 40401, msg: nothingThere},
	// What is not there and what the caller may not see get one answer.
	{is: social.ErrNotFound, status: http.StatusNotFound, code: 40401, msg: nothingThere},
	{is: media.ErrNotFound, status: http.StatusNotFound, code: 40401, msg: nothingThere},
	{is: jobs.ErrNotFound, status: http.StatusNotFound, code: 40401, msg: "not found: there is no job with this id"},
	{is: errNoMethod, status: http.StatusMethodNotAllowed, code: 40501},
	{is: feed.ErrConflict, status: http.StatusConflict, code: 40901, msg: "the id of this call belongs to another one; use a new one"},
	{is: social.ErrKeyUsed, status: http.StatusConflict, code: 40901, msg: "the Idempotency-Key was used for another post within a day; use a new one"},
	{is: ranking.ErrChanged, status: http.StatusPreconditionFailed, code: 41201},
	{is: ErrPrecondition, status: http.StatusPreconditionFailed, code: 41201},
	{is: media.ErrType, status: http.StatusUnsupportedMediaType, code: 41501},
	{is: errRange, status: http.StatusRequestedRangeNotSatisfiable, code: 41601},
	{is: media.ErrImage, status: http.StatusUnprocessableEntity, code: 42201},
	{is: media.ErrBusy, status: http.StatusServiceUnavailable, code: 50301},
	{is: social.ErrBadPost, status: http.StatusUnprocessableEntity, code: 42201},
	{is: social.ErrLimit, status: http.StatusUnprocessableEntity, code: 42202},
	{is: errBusy, status: http.StatusServiceUnavailable, code: 50301},
	{is: engine.ErrWatches, status: http.StatusServiceUnavailable, code: 50301},
	{is: engine.ErrAgentWatches, status: http.StatusTooManyRequests, code: 42901},
	{is: errRateLimited, status: http.StatusTooManyRequests, code: 42901},
	{is: errUploads, status: http.StatusTooManyRequests, code: 42901},
}

// problemOf returns the answer to an error, with msg filled in.
func problemOf(err error) problem {
	for _, p := range problems {
		if errors.Is(err, p.is) {
			if p.msg == "" {
				p.msg = err.Error()
			} else {
				p.msg = cmp.Or(feed.Shown(err, p.is), p.msg)
			}
			return p
		}
	}
	return problem{status: http.StatusInternalServerError, code: 50001, msg: "internal error; the cause is in the server's log"}
}

// partial is an error with a report of what was done before it.
type partial struct {
	error
	data any
}

func (p partial) Unwrap() error { return p.error }
