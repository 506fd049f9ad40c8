package rediskeys

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/internal/periodic"
)

// ErrReplicas means that a write was made, but fewer replicas than configured confirmed it in time:
// a failover may undo it.
var ErrReplicas = errors.New("too few replicas confirmed the write")

// ErrShort is the [ErrReplicas] of a master that answered.
var ErrShort = fmt.Errorf("%w in time", ErrReplicas)

const (
	// redirects is the maximum number of redirects that a write follows.
	redirects = 5
	// redirectPause is the first pause before a redirect; it doubles.
	redirectPause = 10 * time.Millisecond
	// waitShare is the largest share of the remaining time that is spent waiting for replicas: the
	// caller needs time to continue without them.
	waitShare = 0.75
)

// Replicas defines how many replicas must have a write before it counts. Redis replicates
// asynchronously, so without this a write that was answered can be lost with the master.
type Replicas struct {
	N       int           // 0 means that the master is enough
	Timeout time.Duration // timeout of the wait; at least 1ms
	// Guard runs a call, or refuses it with an error. Nil runs all calls. On a cluster these writes
	// go directly to the nodes, bypassing the hooks of the cluster client.
	Guard func(ctx context.Context, call func(context.Context) error) error
}

// Exec sends commands on one key, or on keys of its slot, to the key's master and waits for the
// replicas, all in one round trip over one connection: WAIT covers only writes of its own
// connection. It follows a key that has moved, which a pipeline of the cluster client with a WAIT
// cannot do, because WAIT has no key. It waits for [Replicas.Timeout], or less if ctx ends earlier.
//
// On a cluster nothing is retried after a broken connection: it is unknown whether the write was
// made. Each command has its own error; the returned error is [ErrReplicas], or that of the
// connection.
func (r Replicas) Exec(ctx context.Context, client redis.Cmdable, key string, cmds ...redis.Cmder) error {
	if r.Guard == nil {
		return r.exec(ctx, client, key, cmds)
	}
	asked := false
	err := r.Guard(ctx, func(ctx context.Context) error {
		asked = true
		return r.exec(ctx, client, key, cmds)
	})
	if err != nil && !asked {
		return setErr(cmds, err)
	}
	return err
}

func (r Replicas) exec(ctx context.Context, client redis.Cmdable, key string, cmds []redis.Cmder) error {
	cluster, _ := client.(*redis.ClusterClient)
	var asked *redis.Client
	for try := 0; ; try++ {
		node, err := masterOf(ctx, client, key)
		if asked != nil {
			node, err = asked, nil
		}
		if err != nil {
			return setErr(cmds, err)
		}
		err = send(ctx, r, node, asked != nil, cmds)
		again := refused(cmds)
		answered := again == nil && !undelivered(err)
		if cluster == nil || answered || try == redirects {
			return err
		}
		if asked, err = follow(ctx, cluster, again); err != nil {
			return setErr(cmds, err)
		}
		if err := periodic.Pause(ctx, redirectPause<<try); err != nil {
			return setErr(cmds, err)
		}
	}
}

func send(ctx context.Context, r Replicas, node *redis.Client, asking bool, cmds []redis.Cmder) error {
	pipe := node.Pipeline()
	for _, cmd := range cmds {
		if asking { // which applies to one command only
			_ = pipe.Process(ctx, redis.NewStatusCmd(ctx, "asking"))
		}
		cmd.SetErr(nil)
		_ = pipe.Process(ctx, cmd)
	}
	timeout := r.patience(ctx)
	wait := redis.NewIntCmd(ctx, "wait", r.N, timeout.Milliseconds())
	_ = pipe.Process(ctx, wait)
	_, err := pipe.Exec(ctx)
	last := cmds[len(cmds)-1].Err()
	switch {
	case last != nil && !errors.Is(last, redis.Nil):
		var reply redis.Error
		if errors.As(last, &reply) {
			return nil // it was answered with an error, which is the command's own
		}
		return err
	case wait.Err() != nil:
		return fmt.Errorf("%w: %w", ErrReplicas, wait.Err())
	case wait.Val() < int64(r.N):
		return fmt.Errorf("%w: %d of %d within %s", ErrShort, wait.Val(), r.N, timeout)
	}
	return nil
}

// patience returns the time to wait for replicas. It is at least 1 ms, because WAIT treats 0 as no
// limit.
func (r Replicas) patience(ctx context.Context) time.Duration {
	end, ok := ctx.Deadline()
	if !ok {
		return r.Timeout
	}
	left := time.Duration(waitShare * float64(time.Until(end)))
	return max(min(r.Timeout, left), time.Millisecond)
}

// masterOf returns the master that holds a key.
func masterOf(ctx context.Context, client redis.Cmdable, key string) (*redis.Client, error) {
	switch c := client.(type) {
	case *redis.ClusterClient:
		return c.MasterForKey(ctx, key)
	case *redis.Client:
		return c, nil
	}
	return nil, fmt.Errorf("cannot determine the server of a key with a %T", client)
}

// refused returns the first reply, if any, that means that the commands were not run here or not
// now.
func refused(cmds []redis.Cmder) error {
	words := []string{"MOVED ", "ASK ", "TRYAGAIN", "CLUSTERDOWN", "READONLY", "MASTERDOWN", "LOADING"}
	for _, cmd := range cmds {
		var reply redis.Error
		if !errors.As(cmd.Err(), &reply) {
			continue
		}
		if slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(reply.Error(), w) }) {
			return reply
		}
	}
	return nil
}

// follow reloads the cluster's layout. While a slot is being migrated, a key may be on a server
// that does not own it yet; that server is returned.
func follow(ctx context.Context, cluster *redis.ClusterClient, reply error) (*redis.Client, error) {
	var addr string
	words := strings.Fields(fmt.Sprint(reply))
	if len(words) == 3 && words[0] == "ASK" {
		addr = words[2]
	}
	var mu sync.Mutex
	var asked *redis.Client
	err := cluster.ForEachMaster(ctx, func(_ context.Context, node *redis.Client) error {
		mu.Lock()
		defer mu.Unlock()
		if node.Options().Addr == addr {
			asked = node
		}
		return nil
	})
	return asked, err
}

// undelivered reports whether no connection was established, so that nothing was sent.
func undelivered(err error) bool {
	var dial *net.OpError
	return errors.As(err, &dial) && dial.Op == "dial"
}

func setErr(cmds []redis.Cmder, err error) error {
	for _, cmd := range cmds {
		cmd.SetErr(err)
	}
	return err
}

// Scripts returns a client that waits for the replicas after each script that writes. A script that
// ran but was not confirmed returns its reply along with the error.
func (r Replicas) Scripts(client redis.Cmdable) redis.Scripter {
	if r.N <= 0 {
		return client
	}
	return scripts{Scripter: client, client: client, replicas: r}
}

type scripts struct {
	redis.Scripter // for commands that do not write
	client         redis.Cmdable
	replicas       Replicas
}

func (s scripts) Eval(ctx context.Context, script string, keys []string, args ...any) *redis.Cmd {
	return s.run(ctx, "eval", script, keys, args)
}

func (s scripts) EvalSha(ctx context.Context, sha string, keys []string, args ...any) *redis.Cmd {
	return s.run(ctx, "evalsha", sha, keys, args)
}

func (s scripts) run(ctx context.Context, name, script string, keys []string, args []any) *redis.Cmd {
	all := make([]any, 0, 3+len(keys)+len(args))
	all = append(all, name, script, len(keys))
	for _, key := range keys {
		all = append(all, key)
	}
	cmd := redis.NewCmd(ctx, append(all, args...)...)
	cmd.SetFirstKeyPos(3)
	if err := s.replicas.Exec(ctx, s.client, keys[0], cmd); err != nil {
		cmd.SetErr(err)
	}
	return cmd
}
