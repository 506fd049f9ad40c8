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

// temporary are the first words of replies a server gives when it cannot
// answer now but may soon: loading its data, failing over, out of memory.
var temporary = []string{
	"LOADING", "CLUSTERDOWN", "MASTERDOWN", "READONLY", "TRYAGAIN", "NOREPLICAS", "BUSY", "OOM", "MISCONF",
	"ERR max number of clients",
}

// refusals are the first words of replies a server gives when it does not take commands
// of this client: its password or its rights are others now, or what it calls is gone. In
// a transaction the server may say only that an earlier command of it was refused.
var refusals = []string{
	"NOAUTH", "WRONGPASS", "NOPERM", "EXECABORT", "ERR AUTH", "ERR invalid password", "ERR unknown command",
	"ERR Protocol error: unauthenticated", "ERR ACL failure in script", "ERR The user executing the script",
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
	return begins(reply, temporary) || begins(reply, refusals)
}

// Refused reports whether an error says that the server refuses this client: its
// credentials, its rights, or a command that it does not know. When a system starts, that
// is a mistake in the configuration; while it serves, it is an outage.
func Refused(err error) bool {
	var reply redis.Error
	return errors.As(err, &reply) && begins(reply, refusals)
}

func begins(reply redis.Error, words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(reply.Error(), word) })
}

// Failed gives the error of a step, nil for none, the outage that its callers look for
// where Redis could not be asked.
func Failed(outage error, step string, err error) error {
	switch {
	case err == nil:
		return nil
	case Unreachable(err):
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
