package social

import (
	"context"
	"time"

	"github.com/freshet/freshet/feed"
)

// Actor is the agent who makes a call, as far as writes must know it.
type Actor struct {
	Agent string
	// Token means that the agent was identified by a token, issued at Issued, in Unix seconds; 0 if the
	// token does not say when.
	Token  bool
	Issued int64
	// Public means that others may see what the call writes: a suspended agent must not make it.
	Public bool
	// Removes means that the call takes away what others see. A suspended agent may make it, but not one
	// who was erased after its token was issued: another may have the id now.
	Removes bool
}

type actorKey struct{}

// WithActor returns a context for the calls of an agent to a [Store]. Writes then fail with
// [feed.ErrForbidden] for a suspended agent, if they are public, and with [feed.ErrUnauthenticated] if the agent
// was erased after its token was issued, if they are public or remove something.
func WithActor(ctx context.Context, a Actor) context.Context {
	return context.WithValue(ctx, actorKey{}, a)
}

// ActorOf returns the actor of a context; the zero Actor if there is none.
func ActorOf(ctx context.Context) Actor {
	a, _ := ctx.Value(actorKey{}).(Actor)
	return a
}

// Before reports whether the actor's token is from before the agent was erased, up to a stamp.
func (a Actor) Before(erased int64) bool { return a.Token && erased > 0 && a.Issued*1e6 <= erased }

// Check returns the error of a write by the actor, as of now: it is suspended until a stamp, for a reason, or was
// erased up to a stamp.
func (a Actor) Check(now, suspendedUntil int64, reason string, erased int64) error {
	if a.Before(erased) {
		return feed.Errorf(feed.ErrUnauthenticated, "this token is from before %s was erased: sign in again; a token must have the claim iat", a.Agent)
	}
	if !a.Public || suspendedUntil <= now {
		return nil
	}
	until := time.UnixMicro(suspendedUntil).UTC().Format(time.RFC3339)
	if reason == "" {
		return feed.Errorf(feed.ErrForbidden, "%s is suspended until %s", a.Agent, until)
	}
	return feed.Errorf(feed.ErrForbidden, "%s is suspended until %s: %s", a.Agent, until, reason)
}
