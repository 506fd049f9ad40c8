package redis

import (
	"context"
	"crypto/rand"

	"github.com/freshet/freshet/social/timeline"
)

// unique returns a prefix for the tokens or versions of a call. 11 characters are
// 55 bits; with more, the mark would not fit a listpack.
func unique() string { return rand.Text()[:11] }

// Begin implements [timeline.Builder] in one round trip.
func (l *Lists) Begin(ctx context.Context, list string) (string, timeline.State, error) {
	reply, err := l.run(ctx, beginScript, list,
		unique(), l.cfg.Clock().UnixMilli(), timeline.TakeOver.Milliseconds(), timeline.BuildTTL.Milliseconds()).Text()
	switch {
	case err != nil:
		return "", timeline.None, contractError("begin", err)
	case reply == "r":
		return "", timeline.Ready, nil
	case reply == "b":
		return "", timeline.Building, nil
	}
	return reply, timeline.Building, nil
}

// Commit implements [timeline.Builder] in one round trip.
func (l *Lists) Commit(ctx context.Context, list, token string, c timeline.Content) (bool, error) {
	at, id := floor(c.Floor)
	args := make([]any, 0, 5+2*len(c.Entries))
	args = append(args, token, l.cfg.Cap, l.cfg.TTL.Milliseconds(), at, id)
	done, err := l.run(ctx, commitScript, list, withEntries(args, c.Entries)...).Bool()
	return done, contractError("commit", err)
}

// Abandon implements [timeline.Builder] in one round trip.
func (l *Lists) Abandon(ctx context.Context, list, token string) error {
	return contractError("abandon", l.run(ctx, abandonScript, list, token).Err())
}
