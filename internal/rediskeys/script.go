package rediskeys

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// Run adds one call of a script to a pipeline, by the script's hash or with its whole text.
type Run func(ctx context.Context, c redis.Scripter, keys []string, args ...any) *redis.Cmd

// RunEach runs a script once for each of cmds. send sends the commands with the given indices in
// one pipeline, and sets them. Commands that failed because the server does not know the script are
// sent once more with its text, and only those: other servers may be down. The error is that of
// send; each command has its own.
func RunEach(s *redis.Script, cmds []*redis.Cmd, send func(run Run, which []int) error) error {
	which := make([]int, len(cmds))
	for i := range which {
		which[i] = i
	}
	err := send(s.EvalSha, which)
	unknown := which[:0]
	for i, cmd := range cmds {
		if redis.HasErrorPrefix(cmd.Err(), "NOSCRIPT") {
			unknown = append(unknown, i)
		}
	}
	if len(unknown) == 0 {
		return err
	}
	return errors.Join(err, send(s.Eval, unknown))
}
