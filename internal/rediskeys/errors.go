package rediskeys

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// ErrNotSent is wrapped by the error of a command that was refused before it
// was sent, because Redis is known to be down.
var ErrNotSent = errors.New("not sent")

// aboutTheCommand are the codes of replies that say something of the command and what it
// is about. With every other code a server says something of itself, or of the connection: it
// loads its data, fails over, is out of memory, or does not take this client.
var aboutTheCommand = []string{"ERR", "WRONGTYPE", "CROSSSLOT", "NOSCRIPT", "BUSYGROUP", "BUSYKEY", "NOGROUP"}

// refusals are the beginnings of replies a server gives when it does not take commands
// of this client: its password or its rights are others now, or what it calls is gone. In
// a transaction the server may say only that an earlier command of it was refused.
var refusals = []string{
	"NOAUTH", "WRONGPASS", "NOPERM", "DENIED", "EXECABORT", "ERR AUTH", "ERR Client sent AUTH", "ERR invalid password",
	"ERR invalid username-password", "ERR operation not permitted", "ERR Client IP", "ERR illegal address", "ERR unknown command",
	"ERR Protocol error", "ERR ACL failure in script", "ERR The user executing the script",
}

// cannotNow are other beginnings of replies with which a server, or a proxy before it, says
// that it cannot answer now.
var cannotNow = []string{
	"ERR max ", "ERR Out of memory", "ERR out of memory", "ERR Insufficient memory",
	"ERR Proxy", "ERR Connection ", "ERR Server ", "ERR server ", "ERR no upstream", "ERR upstream", "no upstream host", "upstream failure",
}

// Unreachable reports whether an error says that Redis could not be asked: no
// connection, a timeout, or a server that cannot answer at the moment or refuses this
// client ([Refused]). A cancelled call is the caller's own doing and no such error.
func Unreachable(err error) bool {
	if err == nil || errors.Is(err, redis.Nil) || errors.Is(err, context.Canceled) {
		return false
	}
	var reply redis.Error
	if errors.Is(err, ErrReplicas) || !errors.As(err, &reply) {
		return true
	}
	text := reply.Error()
	if _, of, ok := strings.Cut(text, ": -"); ok && strings.HasPrefix(text, "ERR Error running script") {
		text = of // how servers before Redis 7 answer a script that met it
	}
	code, _, _ := strings.Cut(text, " ")
	isCode := code != "" && strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
	return isCode && !slices.Contains(aboutTheCommand, code) || begins(text, refusals) || begins(text, cannotNow)
}

// Foreign reports whether a key is of another type than the command is for: somebody else has
// written it. Whoever it belongs to is served without it, and others are not concerned.
func Foreign(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply) && (strings.HasPrefix(reply.Error(), "WRONGTYPE") || strings.Contains(reply.Error(), ": -WRONGTYPE"))
}

// Refused reports whether an error says that the server refuses this client: its
// credentials, its rights, or a command that it does not know. When a system starts, that
// is a mistake in the configuration; while it serves, it is an outage.
func Refused(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply) && begins(reply.Error(), refusals)
}

func begins(text string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(text, word) })
}

// Failed gives the error of a step, nil for none, the outage that its callers look for
// where Redis could not be asked, or a key is somebody else's.
func Failed(outage error, step string, err error) error {
	switch {
	case err == nil:
		return nil
	case Unreachable(err), Foreign(err):
		return fmt.Errorf("%w: %s: redis: %w", outage, step, err)
	}
	return fmt.Errorf("%s: redis: %w", step, err)
}

// Uncertain reports whether an error leaves open if Redis has run the command.
// The client sends a command again whose answer it did not get, so the last
// error tells nothing of the first attempt: only what was refused before it was
// sent has certainly not been run.
func Uncertain(err error) bool {
	return Unreachable(err) && !errors.Is(err, ErrNotSent)
}

// Silent reports whether Redis gave no answer to a call, so that the call took
// as long as the caller had patience. A server that answers that it cannot is
// not silent, nor is one whose replicas are late.
func Silent(err error) bool {
	var reply redis.Error
	return Unreachable(err) && !errors.As(err, &reply) && !errors.Is(err, ErrShort)
}
