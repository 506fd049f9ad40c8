package prove

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/freshet/freshet/internal/freeport"
)

// Child describes a server that runs in a process of its own, so that it can be killed.
type Child struct {
	Kind  string          // a key of the kinds given to [Serve]
	Addr  string          // where it serves HTTP
	Ahead time.Duration   // how far its clock is ahead of the machine's
	Spec  json.RawMessage // what else the kind needs
}

// Now returns the time by the server's clock.
func (c Child) Now() time.Time { return time.Now().Add(c.Ahead) }

// Serve is the main function of a child process: it runs the server that the argument describes,
// until ctx ends.
func Serve(ctx context.Context, argument string, kinds map[string]func(context.Context, Child) error) error {
	var c Child
	if err := json.Unmarshal([]byte(argument), &c); err != nil {
		return fmt.Errorf("the server's description: %w", err)
	}
	run := kinds[c.Kind]
	if run == nil {
		return fmt.Errorf("no kind of server %q", c.Kind)
	}
	return run(ctx, c)
}

// Process is a child process that serves HTTP at an address that stays the same when it is killed
// and started again. Its methods may be called concurrently, Restart once at a time.
type Process struct {
	URL   string // http://host:port
	child *Child // nil for a program that is not ours
	cmd   []string
	ready string // path that answers 200 once it serves
	log   string // file

	mu     sync.Mutex
	exec   *exec.Cmd
	exited chan struct{}
}

// StartProcess starts a server of a kind with a specification that is encoded as JSON, and returns
// once the path ready answers 200. What it logs is appended to a file.
func StartProcess(ctx context.Context, command []string, kind, log, ready string, spec any) (*Process, error) {
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	addr, err := freeport.Addr(ctx)
	if err != nil {
		return nil, err
	}
	p := &Process{URL: "http://" + addr, child: &Child{Kind: kind, Addr: addr, Spec: text}, cmd: command, ready: ready, log: log}
	return p, p.start(ctx)
}

// StartProgram starts a program that serves HTTP at an address, and returns once the path ready
// answers 200. What it logs is appended to a file. Its clock is the machine's.
func StartProgram(ctx context.Context, command []string, addr, log, ready string) (*Process, error) {
	p := &Process{URL: "http://" + addr, cmd: command, ready: ready, log: log}
	return p, p.start(ctx)
}

// Restart kills it as kill -9 does, and starts it with a clock that is ahead, if it is ours. If it exits before
// it is ready, because what it needs is down, it is started again, as a supervisor does.
func (p *Process) Restart(ctx context.Context, ahead time.Duration) error {
	p.Kill()
	if p.child != nil {
		p.child.Ahead = ahead
	}
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	for {
		err := p.start(ctx)
		if !errors.Is(err, errExited) || pause(ctx, restartPause) != nil {
			return err
		}
	}
}

// Kill ends it at once, and returns when it has ended.
func (p *Process) Kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.exec != nil {
		_ = p.exec.Process.Kill()
		<-p.exited
		p.exec = nil
	}
}

// ID returns the process id, 0 while it does not run.
func (p *Process) ID() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.exec == nil {
		return 0
	}
	return p.exec.Process.Pid
}

func (p *Process) start(ctx context.Context) error {
	args := p.cmd[1:len(p.cmd):len(p.cmd)]
	if p.child != nil {
		text, err := json.Marshal(p.child)
		if err != nil {
			return err
		}
		args = append(args, string(text))
	}
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	cmd := exec.CommandContext(context.WithoutCancel(ctx), p.cmd[0], args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = ownEnvironment()
	if err := cmd.Start(); err != nil {
		return err
	}
	exited := make(chan struct{})
	go func() { _ = cmd.Wait(); close(exited) }()
	p.mu.Lock()
	p.exec, p.exited = cmd, exited
	p.mu.Unlock()
	if err := p.await(ctx, exited); err != nil {
		p.Kill()
		said, _ := os.ReadFile(p.log)
		return fmt.Errorf("%w; its log ends with: %s", err, said[max(0, len(said)-2000):])
	}
	return nil
}

const (
	readyWithin  = 2 * time.Minute // bounds a start
	restartPause = 500 * time.Millisecond
)

var errExited = errors.New("the server exited before it was ready")

// await returns when the server is ready.
func (p *Process) await(ctx context.Context, exited <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.URL+p.ready, nil)
		if err != nil {
			return err
		}
		res, err := client.Do(req)
		if err == nil {
			_ = res.Body.Close()
			if res.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the server did not become ready: %w", ctx.Err())
		case <-exited:
			return errExited
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// ownEnvironment returns this process's environment without settings of servers.
func ownEnvironment() []string {
	var env []string
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "FRESHET_") {
			env = append(env, pair)
		}
	}
	return env
}
