package redis

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/internal/testenv"
	"github.com/freshet/freshet/social/timeline/timelinetest"
)

// copies is a network that duplicates scripts: sometimes a copy reaches Redis right after the
// command, and sometimes much later, when the answer has long been used.
type copies struct {
	mu   sync.Mutex
	rnd  *rand.Rand
	late []redis.Cmder
	sent int
}

func (c *copies) DialHook(next redis.DialHook) redis.DialHook { return next }

func (c *copies) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		return c.around([]redis.Cmder{cmd}, func() error { return next(ctx, cmd) }, func(late redis.Cmder) { _ = next(ctx, late) })
	}
}

func (c *copies) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		return c.around(cmds, func() error { return next(ctx, cmds) }, func(late redis.Cmder) { _ = next(ctx, []redis.Cmder{late}) })
	}
}

// around sends a late copy, the commands, and copies of them.
func (c *copies) around(cmds []redis.Cmder, send func() error, again func(redis.Cmder)) error {
	if !slices.ContainsFunc(cmds, isScript) {
		return send() // includes the handshake of a connection that a script is waiting for
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if n := len(c.late); n > 0 && c.rnd.IntN(3) == 0 {
		i := c.rnd.IntN(n)
		again(c.late[i])
		c.late = slices.Delete(c.late, i, i+1)
		c.sent++
	}
	err := send()
	for _, cmd := range cmds {
		if !isScript(cmd) {
			continue
		}
		late := redis.NewCmd(context.Background(), cmd.Args()...)
		switch c.rnd.IntN(4) {
		case 0:
			again(late)
			c.sent++
		case 1:
			c.late = append(c.late, late)
		}
	}
	return err
}

func isScript(cmd redis.Cmder) bool { return strings.HasPrefix(cmd.Name(), "eval") }

// TestModelWithLateCopies runs the random schedules over such a network. A client retries a script
// when it gets no answer, and the first attempt may still be in transit.
func TestModelWithLateCopies(t *testing.T) {
	var all copies
	all.rnd = rand.New(rand.NewPCG(1, 3))
	timelinetest.Model(t, func(t *testing.T, most int) timelinetest.Env {
		client, prefix := testenv.Redis(t)
		other := redis.NewClient(client.(*redis.Client).Options())
		client.AddHook(&all)
		other.AddHook(&all)
		return env(t, client, other, Config{KeyPrefix: prefix, Cap: most})
	}, testenv.Steps(60, 200))
	t.Logf("%d copies were sent", all.sent)
}
