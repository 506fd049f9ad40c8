package rediskeys

import (
	"context"
	"errors"
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

// Unreachable reports whether an error says that Redis could not be asked: no
// connection, a timeout, or a server that cannot answer at the moment. A
// cancelled call is the caller's own doing and no such error.
func Unreachable(err error) bool {
	if err == nil || errors.Is(err, redis.Nil) || errors.Is(err, context.Canceled) {
		return false
	}
	var reply redis.Error
	if errors.Is(err, ErrReplicas) {
		return true
	}
	if !errors.As(err, &reply) {
		return true
	}
	for _, word := range temporary {
		if strings.HasPrefix(reply.Error(), word) {
			return true
		}
	}
	return false
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
