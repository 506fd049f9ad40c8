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
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/freshet/freshet/bench/prove"
	"github.com/freshet/freshet/internal/freeport"
)

// Redis is a redis-server of one run. It appends each write to its file before it answers, so a
// kill loses nothing that it has answered.
type Redis struct {
	Addr string

	dir    string
	args   []string
	cmd    *exec.Cmd
	exited chan struct{}
}

const (
	downFor   = time.Second     // of a Redis that was killed
	pausedFor = 2 * time.Second // of one that is paused; less than Sentinels wait
)

// ErrNoRedis means that there is no redis-server to run.
var ErrNoRedis = errors.New("redis-server is not in PATH")

// StartRedis starts one in a directory, with the module for Bloom filters, or without one if module
// is "", and further settings.
func StartRedis(ctx context.Context, dir, module string, more ...string) (*Redis, error) {
	lines := append([]string{`save ""`, "appendonly yes", "appendfsync everysec"}, more...)
	if module != "" {
		lines = append(lines, "loadmodule "+module)
	}
	return startServer(ctx, dir, strings.Join(lines, "\n"))
}

// startServer starts redis-server with a file of settings, which a Sentinel rewrites, and options.
func startServer(ctx context.Context, dir, settings string, options ...string) (*Redis, error) {
	if _, err := exec.LookPath("redis-server"); err != nil {
		return nil, ErrNoRedis
	}
	addr, err := freeport.Addr(ctx)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "conf")
	if err := os.WriteFile(file, []byte(settings+"\n"), 0o600); err != nil {
		return nil, err
	}
	r := &Redis{Addr: addr, dir: dir, args: append([]string{file}, options...)}
	if err := r.start(ctx); err != nil {
		return nil, err
	}
	return r, nil
}

// start starts it, and returns when it answers. One that does not is ended.
func (r *Redis) start(ctx context.Context) error {
	host, port, _ := net.SplitHostPort(r.Addr)
	args := append(append([]string{}, r.args...), "--bind", host, "--port", port, "--dir", r.dir, "--logfile", "log")
	cmd := exec.CommandContext(context.WithoutCancel(ctx), "redis-server", args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	exited := make(chan struct{})
	go func() { _ = cmd.Wait(); close(exited) }()
	r.cmd, r.exited = cmd, exited
	c := r.client()
	defer func() { _ = c.Close() }()
	for c.Ping(ctx).Err() != nil {
		select {
		case <-exited:
			return fmt.Errorf("redis-server has ended; see %s/log", r.dir)
		default:
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			r.Kill()
			return err
		}
	}
	return nil
}

func (r *Redis) client() *redis.Client {
	return redis.NewClient(&redis.Options{Addr: r.Addr, MaxRetries: -1})
}

// Faults returns the faults that a run makes every [prove.Options.Redis].
func (r *Redis) Faults() []prove.Fault {
	return []prove.Fault{{Name: "kill -9 of Redis, which starts again with its file", Do: r.Restart}}
}

// Restart kills it and starts it again with its file, a second later.
func (r *Redis) Restart(ctx context.Context) error {
	r.Kill()
	if err := pause(ctx, downFor); err != nil {
		return err
	}
	return r.start(ctx)
}

// Pause stops the process for two seconds.
func (r *Redis) Pause(ctx context.Context) error {
	if err := r.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	_ = pause(ctx, pausedFor)
	return r.cmd.Process.Signal(syscall.SIGCONT)
}

// Kill ends it at once.
func (r *Redis) Kill() {
	_ = r.cmd.Process.Kill()
	<-r.exited
}

// Version returns its version.
func (r *Redis) Version(ctx context.Context) string {
	c := r.client()
	defer func() { _ = c.Close() }()
	info, err := c.InfoMap(ctx, "server").Result()
	if err != nil {
		return ""
	}
	return info["Server"]["redis_version"]
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
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
