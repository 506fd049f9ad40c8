package feed

import (
	"errors"
	"fmt"
	"strings"
)

// The kinds of error, by what a caller can do about them. Every error that a caller causes or can
// wait out matches one of them with [errors.Is], whichever package it comes from. An error of no
// kind is a defect.
var (
	// ErrInvalid: the request is invalid and repeating it does not help; correct it.
	ErrInvalid = errors.New("bad request")
	// ErrBadAction, ErrBadLimit and ErrBadID name the invalid part of a request: the action, the
	// number of items requested, or a malformed id.
	ErrBadAction = Errorf(ErrInvalid, "bad action")
	ErrBadLimit  = Errorf(ErrInvalid, "bad limit")
	ErrBadID     = Errorf(ErrInvalid, "bad id")
	// ErrTooLarge: the request exceeds its size limit; send fewer bytes.
	ErrTooLarge = errors.New("too large")
	// ErrType: the content has an unsupported type; send another.
	ErrType = errors.New("unsupported content type")
	// ErrUnauthenticated: the caller is not identified; send a token, or a new one.
	ErrUnauthenticated = errors.New("unauthenticated")
	// ErrForbidden: the caller lacks the permission; call as one who has it.
	ErrForbidden = errors.New("forbidden")
	// ErrNotFound: nothing has this name, or nothing that the caller may see.
	ErrNotFound = errors.New("not found")
	// ErrGone: it was there, and is not any more; begin again.
	ErrGone = errors.New("gone")
	// ErrConflict: the id of the request belongs to another request; send it with a new id.
	ErrConflict = errors.New("conflict")
	// ErrChanged: the resource was changed concurrently; read it again, then write.
	ErrChanged = errors.New("not the current version")
	// ErrRule: the request is well-formed, but a post or an image violates a rule; change it.
	ErrRule = errors.New("rule violated")
	// ErrLimit: the maximum number is reached; remove some.
	ErrLimit = Errorf(ErrRule, "limit reached")
	// ErrTooMany: the caller sends too many requests, or has too many open; slow down.
	ErrTooMany = errors.New("too many requests")
	// ErrBusy: the process has no capacity for the work; retry in a moment. It is neither a
	// defect nor an outage, and is not logged.
	ErrBusy = errors.New("the server is busy; try again in a moment")
	// ErrUnavailable: a dependency cannot be reached; retry later. See [Outage].
	ErrUnavailable = errors.New("temporarily unavailable")
)

// Error is an error of a kind with a text that callers may see.
type Error struct {
	kind error
	err  error // holds the text and the causes
}

// Errorf returns an error of a kind. The text is formatted as by [fmt.Errorf], does not repeat
// the kind's text, and is shown to callers: it must not contain secrets.
func Errorf(kind error, format string, args ...any) error {
	return &Error{kind: kind, err: fmt.Errorf(format, args...)}
}

// Error returns the text.
func (e *Error) Error() string { return e.err.Error() }

// Unwrap returns the kind and the causes.
func (e *Error) Unwrap() []error { return []error{e.kind, e.err} }

// Outage is the error of an unavailable dependency. Each contract declares one for its store, and
// the backends wrap it: [errors.Is] distinguishes it from the outage of any other store, and
// every Outage matches [ErrUnavailable].
type Outage struct {
	Text  string // for logs
	Shown string // for callers
}

// Error returns the text for logs.
func (o *Outage) Error() string { return o.Text }

// Is reports true for [ErrUnavailable].
func (o *Outage) Is(target error) bool { return target == ErrUnavailable }

// Shown returns the text of an error of a kind that callers may see: that of the first [Error] or
// [Outage] of that kind in the error, or "" if there is none.
func Shown(err, kind error) string {
	var within []error
	switch e := any(err).(type) { // this error itself, not the errors it wraps
	case *Error:
		if errors.Is(e.kind, kind) {
			return e.Error()
		}
		within = e.Unwrap()
	case *Outage:
		if errors.Is(ErrUnavailable, kind) {
			return e.Shown
		}
	case interface{ Unwrap() error }:
		within = []error{e.Unwrap()}
	case interface{ Unwrap() []error }:
		within = e.Unwrap()
	}
	for _, wrapped := range within {
		text := Shown(wrapped, kind)
		if text != "" {
			return text
		}
	}
	return ""
}

// maxMessage limits the text of an error for a caller, in bytes.
const maxMessage = 1000

// Brief shortens the text of an error for a caller. Of a long one, which repeats what the caller
// sent, the middle is left out: the end says what to send instead.
func Brief(text string) string {
	if len(text) <= maxMessage {
		return text
	}
	const end = maxMessage / 3
	return strings.ToValidUTF8(text[:maxMessage-end], "") + " … " + strings.ToValidUTF8(text[len(text)-end:], "")
}

// Refused reports whether an error is caused by the request rather than by the dependency, so
// that retrying does not help.
func Refused(err error) bool {
	for _, kind := range []error{ErrInvalid, ErrForbidden, ErrNotFound, ErrGone, ErrConflict, ErrRule} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}
