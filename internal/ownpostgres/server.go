// Package ownpostgres runs a PostgreSQL server of a test's or a benchmark's own, which may be killed.
package ownpostgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/freshet/freshet/internal/freeport"
)

// Server is a server on this machine that trusts every user. It retains committed data across crashes of its
// process, not of the machine.
type Server struct {
	URL  string // of the database postgres, as its superuser
	Addr string // host:port
	Data string // its directory
	// Settings are those it starts with, each as "name=value".
	Settings []string
	Runner   *syscall.SysProcAttr // starts programs as the user who owns the directory: the server refuses to run as root

	bin    string // directory of the programs
	cmd    *exec.Cmd
	exited chan struct{}
}

// ErrMissing means that the server's programs are not here, or nobody may run them.
var ErrMissing = errors.New("no postgres to run")

// New returns a server in a directory, with an address on which nobody listens. It has no data yet. The user
// postgres becomes the owner of the directory if root calls it.
func New(ctx context.Context, dir string) (*Server, error) {
	s := &Server{Data: filepath.Join(dir, "data"), bin: programs()}
	if s.bin == "" {
		return nil, fmt.Errorf("%w: neither in PATH nor in /usr/lib/postgresql", ErrMissing)
	}
	if os.Getuid() == 0 {
		err := s.handOver(dir)
		if err != nil {
			return nil, err
		}
	}
	addr, err := freeport.Addr(ctx)
	s.Addr, s.URL = addr, fmt.Sprintf("postgres://freshet@%s/postgres?sslmode=disable", addr)
	return s, err
}

// programs returns the directory of the server's programs, which distributions do not include in PATH; "" if
// there is none.
func programs() string {
	path, err := exec.LookPath("postgres")
	if err == nil {
		target, err := filepath.EvalSymlinks(path) // the others may have no link
		if err == nil {
			path = target
		}
		return filepath.Dir(path)
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(found) == 0 {
		return ""
	}
	return filepath.Dir(found[len(found)-1])
}

// handOver makes the user postgres the owner of a directory, who must be able to reach it.
func (s *Server) handOver(dir string) error {
	u, err := user.Lookup("postgres")
	if err != nil {
		return fmt.Errorf("%w: there is no user postgres, and it does not run as root", ErrMissing)
	}
	uid, _ := strconv.ParseUint(u.Uid, 10, 32)
	gid, _ := strconv.ParseUint(u.Gid, 10, 32)
	parent := filepath.Dir(dir)
	info, err := os.Stat(parent)
	if err != nil {
		return err
	}
	const reach = 0o011
	if info.Mode()&reach != reach {
		err = os.Chmod(parent, info.Mode()|reach)
	}
	s.Runner = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	return errors.Join(err, os.Chown(dir, int(uid), int(gid)))
}

// Init creates the data: an empty cluster.
func (s *Server) Init(ctx context.Context) error {
	return s.Run(ctx, "initdb", "-D", s.Data, "-U", "freshet", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
}

// Run runs one of PostgreSQL's programs as the user who owns the directory.
func (s *Server) Run(ctx context.Context, name string, args ...string) error {
	out, err := s.command(ctx, name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

func (s *Server) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(s.bin, name), args...)
	cmd.Dir, cmd.SysProcAttr = "/", s.Runner
	return cmd
}

// Start starts it, and returns when it answers.
func (s *Server) Start(ctx context.Context) error {
	host, port, _ := net.SplitHostPort(s.Addr)
	args := []string{"-D", s.Data, "-h", host, "-p", port, "-k", "", "-F"}
	for _, setting := range s.Settings {
		args = append(args, "-c", setting)
	}
	cmd := s.command(context.WithoutCancel(ctx), "postgres", args...)
	if err := cmd.Start(); err != nil {
		return err
	}
	exited := make(chan struct{})
	go func() { _ = cmd.Wait(); close(exited) }()
	s.cmd, s.exited = cmd, exited
	for {
		c, err := pgx.Connect(ctx, s.URL)
		if err == nil {
			return c.Close(ctx)
		}
		select {
		case <-exited:
			return errors.New("postgres has ended before it answered")
		case <-ctx.Done():
			s.Crash()
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// ID returns the id of its main process, 0 if it does not run.
func (s *Server) ID() int {
	if s.cmd == nil {
		return 0
	}
	return s.cmd.Process.Pid
}

// Crash ends it immediately, without writing unsaved data: the next start recovers from its log.
func (s *Server) Crash() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGQUIT)
	<-s.exited
	s.cmd = nil
}
