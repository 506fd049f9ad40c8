package redis

import (
	"context"
	"crypto/rand"

	"github.com/freshet/freshet/social/timeline"
)

// Push implements [timeline.Writer] in one pipeline for every [pipelined] lists.
func (l *Lists) Push(ctx context.Context, additions []timeline.Addition) ([]int, error) {
	held, names, args := make([]int, len(additions)), make([]string, len(additions)), make([][]any, len(additions))
	for i := range additions {
		a := &additions[i]
		names[i] = a.List
		args[i] = withEntries(append(make([]any, 0, 2+2*len(a.Entries)), &a.Version, l.cfg.Cap), a.Entries)
	}
	cmds, err := l.eachOf(ctx, pushScript, names, args, true)
	for i, cmd := range cmds {
		held[i], _ = cmd.Int()
	}
	return held, contractError("push", err)
}

// Remove implements [timeline.Writer] in one pipeline for every [pipelined] lists.
func (l *Lists) Remove(ctx context.Context, names []string, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	args := make([]any, 0, 1+len(ids))
	_, err := l.each(ctx, removeScript, names, withIDs(append(args, unique()), ids), true)
	return contractError("remove", err)
}

// Replace implements [timeline.Writer] in one round trip.
func (l *Lists) Replace(ctx context.Context, list string, c timeline.Change) (bool, error) {
	at, id := floor(c.Floor)
	args := make([]any, 0, 6+len(c.Remove)+2*len(c.Add))
	args = append(args, c.Version, unique(), l.cfg.Cap, at, id, len(c.Remove))
	args = withEntries(withIDs(args, c.Remove), c.Add)
	cmds, err := l.each(ctx, replaceScript, []string{list}, args, true)
	if err != nil {
		return false, contractError("replace", err)
	}
	done, err := cmds[0].Bool()
	return done, contractError("replace", err)
}

// ClearToken implements [timeline.Writer] in one pipeline for every [pipelined] lists.
func (l *Lists) ClearToken(ctx context.Context, names []string) error {
	_, err := l.each(ctx, clearScript, names, []any{unique()}, true)
	return contractError("clear token", err)
}

// Drop implements [timeline.Writer] in one pipeline for every [pipelined] lists.
func (l *Lists) Drop(ctx context.Context, names []string) error {
	_, err := l.each(ctx, dropScript, names, nil, true)
	return contractError("drop", err)
}

func withIDs(args []any, ids []string) []any {
	for i := range ids {
		args = append(args, &ids[i])
	}
	return args
}

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
	args = append(args, token, l.cfg.Cap, timeline.TTL.Milliseconds(), at, id)
	done, err := l.run(ctx, commitScript, list, withEntries(args, c.Entries)...).Bool()
	return done, contractError("commit", err)
}

// Abandon implements [timeline.Builder] in one round trip.
func (l *Lists) Abandon(ctx context.Context, list, token string) error {
	return contractError("abandon", l.run(ctx, abandonScript, list, token).Err())
}
