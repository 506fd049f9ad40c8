package testenv

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/freshet/freshet/internal/ownpostgres"
)

// OwnPostgres is a real PostgreSQL of one test, which the test may stop and restart. It retains
// committed data.
type OwnPostgres struct {
	URL    string // of its database, as its superuser
	t      testing.TB
	server *ownpostgres.Server
	held   []int // frozen processes
}

// StartPostgres creates and starts one. It is stopped when the test ends.
func StartPostgres(t testing.TB) *OwnPostgres {
	t.Helper()
	p := newPostgres(t)
	p.must(p.server.Init(t.Context()))
	p.Start()
	return p
}

// StartStandby creates and starts a hot standby that follows p. It is stopped when the test ends.
func (p *OwnPostgres) StartStandby() *OwnPostgres {
	p.t.Helper()
	s := newPostgres(p.t)
	_, port, _ := net.SplitHostPort(p.Addr())
	s.must(s.server.Run(p.t.Context(), "pg_basebackup", "-h", "127.0.0.1", "-p", port, "-U", "freshet", "-D", s.server.Data, "-R", "-X", "stream", "-c", "fast", "--no-sync"))
	s.Start()
	return s
}

// Addr returns its address.
func (p *OwnPostgres) Addr() string { return p.server.Addr }

// newPostgres returns one with a directory, and a port that was free. It is stopped when the test ends.
func newPostgres(t testing.TB) *OwnPostgres {
	t.Helper()
	server, err := ownpostgres.New(t.Context(), t.TempDir())
	if errors.Is(err, ownpostgres.ErrMissing) {
		missing(t, "PATH", "one with a postgres, and make the user postgres, or do not run as root")
	}
	p := &OwnPostgres{t: t, server: server}
	p.must(err)
	p.URL = server.URL
	t.Cleanup(p.Crash)
	return p
}

func (p *OwnPostgres) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// Start starts it and waits until it answers.
func (p *OwnPostgres) Start() {
	p.t.Helper()
	p.must(p.server.Start(context.WithoutCancel(p.t.Context())))
}

// RequirePassword makes it ask these users for their passwords; it trusts all others.
func (p *OwnPostgres) RequirePassword(users ...string) {
	p.t.Helper()
	file := filepath.Join(p.server.Data, "pg_hba.conf")
	rules, err := os.ReadFile(file)
	if err != nil {
		p.t.Fatal(err)
	}
	// The first rule that matches decides. The file keeps its owner, who runs the server.
	text := fmt.Appendf(nil, "host all %s 127.0.0.1/32 scram-sha-256\n%s", strings.Join(users, ","), rules)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		p.t.Fatal(err)
	}
	if err := postgresExec(p.t.Context(), p.URL, "SELECT pg_reload_conf()"); err != nil {
		p.t.Fatal(err)
	}
	WaitFor(p.t, func() bool {
		c, err := pgx.Connect(context.Background(), strings.Replace(p.URL, "://freshet@", "://"+users[0]+"@", 1))
		if err == nil {
			_ = c.Close(context.Background())
		}
		return err != nil
	}, "the new rules")
}

// Freeze suspends it and the processes of its connections: it accepts connections, and answers
// nothing.
func (p *OwnPostgres) Freeze() {
	p.t.Helper()
	main := p.server.ID()
	p.signal(main, syscall.SIGSTOP) // so that it starts no more of them
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", main, main))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, text := range strings.Fields(string(children)) {
		if pid, err := strconv.Atoi(text); err == nil {
			p.signal(pid, syscall.SIGSTOP)
		}
	}
}

// Thaw resumes it. It may be called again.
func (p *OwnPostgres) Thaw() {
	p.t.Helper()
	for _, pid := range slices.Backward(p.held) {
		p.signal(pid, syscall.SIGCONT)
	}
	p.held = nil
}

func (p *OwnPostgres) signal(pid int, s syscall.Signal) {
	p.t.Helper()
	if err := syscall.Kill(pid, s); err != nil {
		p.t.Fatal(err)
	}
	if s == syscall.SIGSTOP {
		p.held = append(p.held, pid)
	}
}

// Crash ends it immediately, without writing unsaved data: the next start recovers from its log.
func (p *OwnPostgres) Crash() { p.server.Crash() }
