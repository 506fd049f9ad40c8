package testenv

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// OwnPostgres is a real PostgreSQL of one test, which the test may stop and restart. It retains
// committed data.
type OwnPostgres struct {
	URL  string // of its database, as its superuser
	t    testing.TB
	bin  string // directory of the programs
	data string
	port string
	as   *syscall.SysProcAttr // the server refuses to run as root
	cmd  *exec.Cmd
	held []int // frozen processes
}

// StartPostgres creates and starts one. It is stopped when the test ends.
func StartPostgres(t testing.TB) *OwnPostgres {
	t.Helper()
	p := newPostgres(t)
	p.run("initdb", "-D", p.data, "-U", "freshet", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	p.Start()
	t.Cleanup(p.Crash)
	return p
}

// StartStandby creates and starts a hot standby that follows p. It is stopped when the test ends.
func (p *OwnPostgres) StartStandby() *OwnPostgres {
	p.t.Helper()
	s := newPostgres(p.t)
	s.run("pg_basebackup", "-h", "127.0.0.1", "-p", p.port, "-U", "freshet", "-D", s.data, "-R", "-X", "stream", "-c", "fast", "--no-sync")
	s.Start()
	p.t.Cleanup(s.Crash)
	return s
}

// Addr returns its address.
func (p *OwnPostgres) Addr() string { return net.JoinHostPort("127.0.0.1", p.port) }

// newPostgres returns one with a directory, and a port that was free.
func newPostgres(t testing.TB) *OwnPostgres {
	t.Helper()
	p := &OwnPostgres{t: t, bin: postgresPrograms(t)}
	dir := t.TempDir()
	if os.Getuid() == 0 {
		p.as = asPostgres(t, dir)
	}
	p.data = filepath.Join(dir, "data")
	_, p.port, _ = net.SplitHostPort(FreeAddr(t))
	p.URL = fmt.Sprintf("postgres://freshet@127.0.0.1:%s/postgres?sslmode=disable", p.port)
	return p
}

// postgresPrograms returns the directory of the server's programs, which distributions do not
// include in PATH.
func postgresPrograms(t testing.TB) string {
	t.Helper()
	if path, err := exec.LookPath("postgres"); err == nil {
		if target, err := filepath.EvalSymlinks(path); err == nil { // the others may have no link
			path = target
		}
		return filepath.Dir(path)
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if len(found) > 0 {
		return filepath.Dir(found[len(found)-1])
	}
	missing(t, "PATH", "one with a postgres")
	return ""
}

// asPostgres makes the server run as the user postgres, who becomes the owner of the directory.
func asPostgres(t testing.TB, dir string) *syscall.SysProcAttr {
	t.Helper()
	u, err := user.Lookup("postgres")
	if err != nil {
		missing(t, "PATH", "one with a postgres, and make the user postgres, or do not run as root")
	}
	uid, _ := strconv.ParseUint(u.Uid, 10, 32)
	gid, _ := strconv.ParseUint(u.Gid, 10, 32)
	for _, err := range []error{os.Chmod(filepath.Dir(dir), 0o711), os.Chown(dir, int(uid), int(gid))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
}

func (p *OwnPostgres) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(p.bin, name), args...)
	cmd.Dir, cmd.SysProcAttr = "/", p.as
	return cmd
}

func (p *OwnPostgres) run(name string, args ...string) {
	p.t.Helper()
	if out, err := p.command(name, args...).CombinedOutput(); err != nil {
		p.t.Fatalf("%s: %v\n%s", name, err, out)
	}
}

// Start starts it and waits until it answers.
func (p *OwnPostgres) Start() {
	p.t.Helper()
	p.cmd = p.command("postgres", "-D", p.data, "-h", "127.0.0.1", "-p", p.port, "-k", "", "-F")
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	WaitFor(p.t, func() bool {
		c, err := pgx.Connect(context.Background(), p.URL)
		return err == nil && c.Close(context.Background()) == nil
	}, "the test's own postgres to answer")
}

// RequirePassword makes it ask these users for their passwords; it trusts all others.
func (p *OwnPostgres) RequirePassword(users ...string) {
	p.t.Helper()
	file := filepath.Join(p.data, "pg_hba.conf")
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
	main := p.cmd.Process.Pid
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
func (p *OwnPostgres) Crash() {
	if p.cmd != nil {
		_ = p.cmd.Process.Signal(syscall.SIGQUIT)
		_ = p.cmd.Wait()
		p.cmd = nil
	}
}
