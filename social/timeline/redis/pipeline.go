package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"github.com/freshet/freshet/internal/rediskeys"
	"github.com/freshet/freshet/internal/safego"
)

// pipelined is the maximum number of lists per pipeline: enough to make round trips cheap, and
// few enough not to block a server for long.
const pipelined = 500

// alone limits the concurrent calls for lists that have moved to another server.
const alone = 16

// each runs a script with the same arguments on many lists, as eachOf does.
func (l *Lists) each(ctx context.Context, s *redis.Script, names []string, args []any, write bool) ([]*redis.Cmd, error) {
	return l.eachOf(ctx, s, names, slices.Repeat([][]any{args}, len(names)), write)
}

// eachOf runs a script on many lists, each with its own arguments, and returns the replies in the
// order of names. The error is the first of all. Lists without an error still have their replies.
func (l *Lists) eachOf(ctx context.Context, s *redis.Script, names []string, args [][]any, write bool) ([]*redis.Cmd, error) {
	cmds := make([]*redis.Cmd, len(names))
	var first error
	for from := 0; from < len(names); from += pipelined {
		part := cmds[from:min(from+pipelined, len(names))]
		first = cmp.Or(first, rediskeys.RunEach(s, part, func(run rediskeys.Run, which []int) error {
			pipe, keys := l.client.Pipeline(), make([]string, len(which))
			for i, at := range which {
				keys[i] = l.key(names[from+at])
				part[at] = run(ctx, pipe, keys[i:i+1], args[from+at]...)
			}
			return l.send(ctx, pipe, keys, write)
		}))
	}
	failed := 0
	for _, cmd := range cmds {
		if err := cmd.Err(); err != nil {
			failed++
			first = cmp.Or(first, err)
		}
	}
	if first != nil && len(names) > 1 {
		first = fmt.Errorf("%d of %d lists failed: %w", failed, len(names), first)
	}
	return cmds, first
}

// send sends a pipeline of one command for each key. It returns an error if too few replicas have
// confirmed; each command has its other errors.
func (l *Lists) send(ctx context.Context, pipe redis.Pipeliner, keys []string, write bool) error {
	if !write || l.cfg.Replicas.N == 0 {
		_, _ = pipe.Exec(ctx)
		return nil
	}
	queued := pipe.Cmds()
	pipe.Discard()
	return l.confirmed(ctx, keys, queued)
}

// confirmed sends each master its commands, and waits for the replicas. It repeats commands for
// lists that have moved to another master one by one.
func (l *Lists) confirmed(ctx context.Context, keys []string, cmds []redis.Cmder) error {
	var masters errgroup.Group
	for _, which := range l.byMaster(ctx, keys) {
		masters.Go(safego.Func(func() error {
			part := make([]redis.Cmder, len(which), len(which)+1)
			for i, at := range which {
				part[i] = cmds[at]
			}
			// PING is last, because an error of the last command would be taken as that of all.
			part = append(part, redis.NewStatusCmd(ctx, "ping"))
			return l.cfg.Replicas.Exec(ctx, l.client, keys[which[0]], part...)
		}))
	}
	err := masters.Wait()
	var moved errgroup.Group
	moved.SetLimit(alone)
	for i, cmd := range cmds {
		if hasMoved(cmd.Err()) {
			moved.Go(safego.Func(func() error { return l.cfg.Replicas.Exec(ctx, l.client, keys[i], cmd) }))
		}
	}
	return errors.Join(err, moved.Wait())
}

// byMaster groups the indexes of keys by the server that has them.
func (l *Lists) byMaster(ctx context.Context, keys []string) map[string][]int {
	parts := make(map[string][]int)
	for i, key := range keys {
		// Keys whose server is unknown form one group, which gets the error again.
		_, addr, _ := rediskeys.MasterOf(ctx, l.client, key)
		parts[addr] = append(parts[addr], i)
	}
	return parts
}

func hasMoved(err error) bool {
	return slices.ContainsFunc([]string{"MOVED ", "ASK ", "TRYAGAIN"}, func(word string) bool { return redis.HasErrorPrefix(err, word) })
}
