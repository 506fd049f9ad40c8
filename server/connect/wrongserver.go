package connect

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/configs"
	"github.com/freshet/freshet/internal/rediskeys"
)

const (
	// redisLifetime bounds how long a connection to a former master can remain in use that nothing
	// reveals, and redisJitter spreads the replacements.
	redisLifetime = 5 * time.Minute
	redisJitter   = time.Minute
	// leaveEvery is the least time between two replacements of all connections: the address may lead
	// to the same server for longer.
	leaveEvery = time.Second / 2
)

// follower is a hook of the client of a single address, such as a name or a proxy, that leads to the
// master, but may lead to a replica or a former master while the master is replaced. Connections
// opened then stay open. Once a reply shows that one of them leads to such a server, no connection
// that was opened before it is used again, and the call is repeated.
type follower struct {
	mu   sync.Mutex
	left time.Time // connections opened earlier are not used again
}

var _ redis.Hook = (*follower)(nil)

// Follow makes a client of [Redis] leave a server that its address no longer leads to, if it has a
// single address; others follow the master anyway. It must be called after all other hooks were added:
// the repetition of a call is part of that call for them.
func Follow(cfg configs.Config, client redis.UniversalClient) {
	if c, ok := client.(*redis.Client); ok && cfg.Redis.Server().MasterName == "" {
		c.AddHook(&follower{})
	}
}

// errLeft is the reason why a connection is not used again.
var errLeft = errors.New("the address may lead to another server by now")

// leave is called when the reply to a call that began at a time came from the wrong server. It
// reports whether a repetition may reach another server.
func (f *follower) leave(began time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if began.Before(f.left) {
		return true // another call has done it meanwhile
	}
	if time.Since(f.left) < leaveEvery {
		return false
	}
	f.left = time.Now()
	return true
}

func (f *follower) isLeft(opened time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return opened.Before(f.left)
}

// DialHook implements [redis.Hook].
func (f *follower) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		opened := time.Now() // the name may be resolved before a change
		conn, err := next(ctx, network, addr)
		if err != nil {
			return nil, err
		}
		return &leavable{Conn: conn, opened: opened, of: f}, nil
	}
}

// ProcessHook implements [redis.Hook].
func (f *follower) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		began := time.Now()
		err := next(ctx, cmd)
		if !rediskeys.WrongServer(err) {
			return err
		}
		left := f.leave(began)
		if !left {
			return err
		}
		cmd.SetErr(nil)
		return next(ctx, cmd)
	}
}

// ProcessPipelineHook implements [redis.Hook]. A pipeline may be repeated: every command may be, and
// no write of it was made.
func (f *follower) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		began := time.Now()
		err := next(ctx, cmds)
		for _, cmd := range cmds {
			if !rediskeys.WrongServer(cmd.Err()) {
				continue
			}
			left := f.leave(began)
			if !left {
				return err
			}
			for _, cmd := range cmds {
				cmd.SetErr(nil)
			}
			return next(ctx, cmds)
		}
		return err
	}
}

// leavable is a connection that its pool drops once it is left: before a pool hands out a connection,
// it asks for the file descriptor, to check whether the server has closed it.
type leavable struct {
	net.Conn
	opened time.Time
	of     *follower
}

// SyscallConn implements [syscall.Conn].
func (c *leavable) SyscallConn() (syscall.RawConn, error) {
	if c.of.isLeft(c.opened) {
		return nil, errLeft
	}
	if raw, ok := c.Conn.(syscall.Conn); ok {
		return raw.SyscallConn()
	}
	return unread{}, nil
}

// unread is the raw connection of one with TLS, whose bytes say nothing without its keys.
type unread struct{}

func (unread) Control(func(uintptr)) error    { return nil }
func (unread) Read(func(uintptr) bool) error  { return nil }
func (unread) Write(func(uintptr) bool) error { return nil }
