// Package stores gives bench/prove the services of a run: a Redis of its own, which it may kill, and
// an empty schema in a PostgreSQL that exists.
package stores

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/internal/freeport"
)

// Redis is a redis-server of one run. It appends each write to its file before it answers, so a
// kill loses nothing that it has answered.
type Redis struct {
	Addr string

	module, dir string
	cmd         *exec.Cmd
	exited      chan struct{}
}

// downFor is how long a Redis that was killed is down.
const downFor = time.Second

// ErrNoRedis means that there is no redis-server to run.
var ErrNoRedis = errors.New("redis-server is not in PATH")

// StartRedis starts one in a directory, with the module for Bloom filters, or without one if module
// is "".
func StartRedis(ctx context.Context, dir, module string) (*Redis, error) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		return nil, ErrNoRedis
	}
	addr, err := freeport.Addr(ctx)
	if err != nil {
		return nil, err
	}
	r := &Redis{Addr: addr, module: module, dir: dir}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return r, r.start(ctx)
}

func (r *Redis) start(ctx context.Context) error {
	host, port, _ := net.SplitHostPort(r.Addr)
	args := []string{"--bind", host, "--port", port, "--dir", r.dir, "--save", "", "--appendonly", "yes", "--appendfsync", "everysec", "--logfile", "log"}
	if r.module != "" {
		args = append(args, "--loadmodule", r.module)
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), "redis-server", args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	exited := make(chan struct{})
	go func() { _ = cmd.Wait(); close(exited) }()
	r.cmd, r.exited = cmd, exited
	c := redis.NewClient(&redis.Options{Addr: r.Addr, MaxRetries: -1})
	defer func() { _ = c.Close() }()
	for c.Ping(ctx).Err() != nil {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-exited:
			return fmt.Errorf("redis-server has ended; see %s/log", r.dir)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// Restart kills it and starts it again with its file, a second later.
func (r *Redis) Restart(ctx context.Context) error {
	r.Kill()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(downFor):
	}
	return r.start(ctx)
}

// Kill ends it at once.
func (r *Redis) Kill() {
	_ = r.cmd.Process.Kill()
	<-r.exited
}

// Version returns its version.
func (r *Redis) Version(ctx context.Context) string {
	c := redis.NewClient(&redis.Options{Addr: r.Addr})
	defer func() { _ = c.Close() }()
	info, err := c.InfoMap(ctx, "server").Result()
	if err != nil {
		return ""
	}
	return info["Server"]["redis_version"]
}

// BloomModule returns the file of the module for Bloom filters of a running Redis, or "" if they are
// built in.
func BloomModule(ctx context.Context, url string) (string, error) {
	options, err := redis.ParseURL(url)
	if err != nil {
		return "", err
	}
	c := redis.NewClient(options)
	defer func() { _ = c.Close() }()
	modules, err := c.Do(ctx, "MODULE", "LIST").Slice()
	if err != nil {
		return "", err
	}
	for _, m := range modules {
		if fields, ok := m.(map[any]any); ok && fields["name"] == "bf" {
			path, _ := fields["path"].(string)
			return path, nil
		}
	}
	return "", nil
}
