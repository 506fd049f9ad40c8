package rediskeys

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// ErrNotSent is wrapped by the error of a command that was rejected before it was sent, because
// Redis is known to be down.
var ErrNotSent = errors.New("not sent")

// aboutTheCommand are the codes of error replies that are about the command and its keys. All other
// codes are about the server or the connection: the server is loading its data, failing over, out
// of memory, or rejects this client.
var aboutTheCommand = []string{"ERR", "WRONGTYPE", "CROSSSLOT", "NOSCRIPT", "BUSYGROUP", "BUSYKEY", "NOGROUP"}

// refusals are the prefixes of replies of a server that rejects commands of this client: its
// password or its rights have changed, or the command does not exist. In a transaction the server
// may report only that an earlier command of it was rejected.
var refusals = []string{
	"NOAUTH", "WRONGPASS", "NOPERM", "DENIED", "EXECABORT", "ERR AUTH", "ERR Client sent AUTH", "ERR invalid password",
	"ERR invalid username-password", "ERR operation not permitted", "ERR Client IP", "ERR illegal address", "ERR unknown command",
	"ERR DB index is out of range", "ERR SELECT is not allowed", "ERR This instance has cluster support disabled", "NOPROTO",
	"ERR Protocol error", "ERR ACL failure in script", "ERR The user executing the script", unsupported,
}

// unsupported begins the reply of a proxy, such as Envoy, to a command that it does not know.
const unsupported = "unsupported command"

// cannotNow are other prefixes of replies by which a server, or a proxy in front of it, reports
// that it cannot answer now.
var cannotNow = []string{
	"ERR max ", "ERR Out of memory", "ERR out of memory", "ERR Insufficient memory",
	"ERR Proxy", "ERR Connection ", "ERR Server ", "ERR server ", "ERR no upstream", "ERR upstream", "no upstream host", "upstream failure",
}

// Unreachable reports whether an error means that Redis was unavailable: no connection, a timeout,
// or a server that currently cannot answer or rejects this client ([Refused]). A call cancelled by
// the caller is not such an error.
func Unreachable(err error) bool {
	if err == nil || errors.Is(err, redis.Nil) || errors.Is(err, context.Canceled) {
		return false
	}
	var reply redis.Error
	if errors.Is(err, ErrReplicas) || !errors.As(err, &reply) {
		return true
	}
	text := textOf(reply)
	code, _, _ := strings.Cut(text, " ")
	isCode := code != "" && strings.Trim(code, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
	aboutTheServer := isCode && !slices.Contains(aboutTheCommand, code)
	return aboutTheServer || hasAnyPrefix(text, refusals) || hasAnyPrefix(text, cannotNow)
}

// wrongServer are the codes of replies of a server that is not the master, not yet or not any more:
// the address that it was reached by may lead to the master by now.
var wrongServer = []string{"READONLY", "MASTERDOWN", "LOADING", "NOREPLICAS"}

// WrongServer reports whether a reply came from a server that is not the master, or not one that may
// act as such. The command was not run.
func WrongServer(err error) bool {
	if err == nil {
		return false
	}
	var reply redis.Error
	if !errors.As(err, &reply) {
		return false
	}
	return hasAnyPrefix(textOf(reply), wrongServer)
}

// noWrites are the codes of replies of a server that answers reads, but accepts no writes for now.
var noWrites = []string{"READONLY", "NOREPLICAS", "MISCONF", "OOM"}

// RefusesWrites reports whether a reply means that the server accepts no writes from any client.
func RefusesWrites(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply) && hasAnyPrefix(textOf(reply), noWrites)
}

// scriptFailed begins the reply by which servers before Redis 7 report an error inside a script.
const scriptFailed = "ERR Error running script"

// textOf returns the text of a reply, without what a script adds to it.
func textOf(reply redis.Error) string {
	text := reply.Error()
	_, of, ok := strings.Cut(text, ": -")
	if ok && strings.HasPrefix(text, scriptFailed) {
		return of
	}
	return text
}

// Foreign reports whether a key has another type than the command requires: other software has
// written it. The agent that the key belongs to is served without it; other agents are not
// affected.
func Foreign(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply) && (strings.HasPrefix(reply.Error(), "WRONGTYPE") || strings.Contains(reply.Error(), ": -WRONGTYPE"))
}

// Refused reports whether an error means that the server rejects this client: its credentials, its
// rights, or a command that it does not know. At startup that is a configuration error; later it is
// an outage.
func Refused(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply) && hasAnyPrefix(reply.Error(), refusals)
}

func hasAnyPrefix(text string, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(text, word) })
}

// Failed wraps the error of a step, nil for none. If Redis was unavailable, or the key has a
// foreign type, it also wraps outage, the error that callers check for.
func Failed(outage error, step string, err error) error {
	switch {
	case err == nil:
		return nil
	case Unreachable(err), Foreign(err):
		return fmt.Errorf("%w: %s: redis: %w", outage, step, err)
	}
	return fmt.Errorf("%s: redis: %w", step, err)
}

// Uncertain reports whether it is unknown if Redis has run the command. The client resends a
// command that was not answered, so the last error is no evidence about the first attempt: only a
// command that was rejected before it was sent has certainly not run.
func Uncertain(err error) bool {
	return Unreachable(err) && !errors.Is(err, ErrNotSent)
}

// Silent reports whether Redis did not answer a call, so that the call lasted until its timeout. A
// server that answers that it is unavailable is not silent, nor is one whose replicas lag.
func Silent(err error) bool {
	if !Unreachable(err) {
		return false
	}
	var reply redis.Error
	return !errors.As(err, &reply) && !errors.Is(err, ErrShort)
}
