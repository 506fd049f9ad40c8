package feed

import (
	"errors"
	"fmt"
)

// The kinds of error, by what a caller can do. Every error that a caller causes or can
// wait out is of one of them, by [errors.Is], whichever package it comes from. An
// error of no kind is a defect.
var (
	// ErrInvalid: the request is wrong and stays so; correct it.
	ErrInvalid = errors.New("bad request")
	// ErrBadAction, ErrBadLimit and ErrBadID say of an invalid request which part is
	// wrong: the action, how many are asked for, or a malformed id.
	ErrBadAction = Errorf(ErrInvalid, "bad action")
	ErrBadLimit  = Errorf(ErrInvalid, "bad limit")
	ErrBadID     = Errorf(ErrInvalid, "bad id")
	// ErrTooLarge: the request has more bytes than it may; send less.
	ErrTooLarge = errors.New("too large")
	// ErrType: what is sent is of a type that is not taken; send another.
	ErrType = errors.New("not a type that can be taken")
	// ErrUnauthenticated: it is not known who asks; send a token, or a new one.
	ErrUnauthenticated = errors.New("unauthenticated")
	// ErrForbidden: who asks may not do this; ask as somebody who may.
	ErrForbidden = errors.New("forbidden")
	// ErrNotFound: there is nothing by this name, or nothing that who asks may see.
	ErrNotFound = errors.New("not found")
	// ErrConflict: the id of the request belongs to another one; send it with a new id.
	ErrConflict = errors.New("conflict")
	// ErrChanged: others have written meanwhile; read again, then write.
	ErrChanged = errors.New("not the current version")
	// ErrRule: the request is well-formed, and a post or an image breaks a rule; change
	// that.
	ErrRule = errors.New("against a rule")
	// ErrLimit: there are as many as there may be; remove some.
	ErrLimit = Errorf(ErrRule, "limit reached")
	// ErrTooMany: who asks has asked too often, or has too much open; slow down.
	ErrTooMany = errors.New("too many requests")
	// ErrBusy: the process has no room for the work; ask again in a moment. It is no
	// defect and no outage, so nobody logs it.
	ErrBusy = errors.New("the server is busy; try again in a moment")
	// ErrUnavailable: something that is needed cannot be asked; ask again later. See
	// [Outage].
	ErrUnavailable = errors.New("temporarily unavailable")
)

// Error is an error of a kind whose text callers may read.
type Error struct {
	kind error
	err  error // has the text, and the causes
}

// Errorf returns an error of a kind. The text is as that of [fmt.Errorf], does not
// repeat the kind's, and is for callers too: nothing in it is secret.
func Errorf(kind error, format string, args ...any) error {
	return &Error{kind: kind, err: fmt.Errorf(format, args...)}
}

// Error returns the text.
func (e *Error) Error() string { return e.err.Error() }

// Unwrap returns the kind and the causes.
func (e *Error) Unwrap() []error { return []error{e.kind, e.err} }

// Outage is the error that something is unavailable. A contract declares one for its
// store, and the backends wrap it: [errors.Is] tells it from the outage of any other
// store, and all of them are [ErrUnavailable].
type Outage struct {
	Text  string // for logs
	Shown string // for callers
}

// Error returns the text for logs.
func (o *Outage) Error() string { return o.Text }

// Is makes every outage [ErrUnavailable].
func (o *Outage) Is(target error) bool { return target == ErrUnavailable }

// Shown returns what callers may read of an error of a kind: the text of the first
// [Error] or [Outage] of that kind in it, or "" where there is none.
func Shown(err, kind error) string {
	var within []error
	switch e := any(err).(type) { // this one, not what it wraps
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
		if text := Shown(wrapped, kind); text != "" {
			return text
		}
	}
	return ""
}

// Refused reports whether an error says something of the request and not of what was
// asked: asking again does not help.
func Refused(err error) bool {
	for _, kind := range []error{ErrInvalid, ErrForbidden, ErrNotFound, ErrConflict, ErrRule} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}
