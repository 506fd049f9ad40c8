package testenv

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// PgBouncer is a real PgBouncer in front of an [OwnPostgres], which the test may stop and restart.
// Its clients log in with a password (SCRAM), and so does it at PostgreSQL.
type PgBouncer struct {
	Addr string
	t    testing.TB
	path string // of its program
	file string // its configuration
	as   *syscall.SysProcAttr
	cmd  *exec.Cmd

	copying sync.Mutex
}

// The role that uses PostgreSQL through PgBouncer, and its password. It owns the database of the
// same name, and may create others.
const (
	pooledRole     = "freshet_pooled"
	pooledPassword = "pa$s'w@rd"
)

// StartPgBouncer creates the role and its database, and starts a PgBouncer with these settings in
// front of it, each as "name = value". It is stopped when the test ends.
func StartPgBouncer(t testing.TB, server *OwnPostgres, settings ...string) *PgBouncer {
	t.Helper()
	b := &PgBouncer{Addr: FreeAddr(t), t: t, as: server.server.Runner, path: pgbouncerProgram(t)}
	secret := server.pooledRole()
	// A directory of its own beside the data, since both run as the same user.
	dir := filepath.Join(filepath.Dir(server.server.Data), "pgbouncer-"+Unique())
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	host, port, _ := net.SplitHostPort(b.Addr)
	_, serverPort, _ := net.SplitHostPort(server.Addr())
	users := filepath.Join(dir, "users.txt")
	b.file = filepath.Join(dir, "pgbouncer.ini")
	// The log is its standard error.
	lines := append([]string{
		"[databases]", "* = host=127.0.0.1 port=" + serverPort,
		"[pgbouncer]", "listen_addr = " + host, "listen_port = " + port, "unix_socket_dir =",
		"auth_type = scram-sha-256", "auth_file = " + users, "stats_users = " + pooledRole, "server_idle_timeout = 5",
	}, settings...)
	for file, text := range map[string]string{users: fmt.Sprintf("%q %q\n", pooledRole, secret), b.file: strings.Join(lines, "\n") + "\n"} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b.Start()
	t.Cleanup(b.Kill)
	return b
}

// pgbouncerProgram returns its path. Debian installs it where only root looks.
func pgbouncerProgram(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"pgbouncer", "/usr/sbin/pgbouncer"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	missing(t, "PATH", "one with a pgbouncer")
	return ""
}

// pooledRole creates the role and its database unless they exist, makes the server ask for its
// password, and returns the secret by which PgBouncer recognizes that.
func (p *OwnPostgres) pooledRole() (secret string) {
	p.t.Helper()
	ctx := p.t.Context()
	c, err := pgx.Connect(ctx, p.URL)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = c.Close(ctx) }()
	read := func() error {
		return c.QueryRow(ctx, `SELECT coalesce((SELECT rolpassword FROM pg_authid WHERE rolname = $1), '')`, pooledRole).Scan(&secret)
	}
	if err := read(); err != nil {
		p.t.Fatal(err)
	}
	if secret != "" {
		return secret
	}
	for _, text := range []string{
		"SET password_encryption = 'scram-sha-256'", // the default since version 14
		"CREATE ROLE " + pooledRole + " LOGIN CREATEDB PASSWORD '" + strings.ReplaceAll(pooledPassword, "'", "''") + "'",
		"CREATE DATABASE " + pooledRole + " OWNER " + pooledRole,
	} {
		if _, err := c.Exec(ctx, text); err != nil {
			p.t.Fatal(err)
		}
	}
	if err := read(); err != nil {
		p.t.Fatal(err)
	}
	p.RequirePassword(pooledRole)
	return secret
}

// URL returns the address of a database through PgBouncer, of the role's own if the name is "".
// Each parameter is "name=value".
func (b *PgBouncer) URL(database string, parameters ...string) string {
	if database == "" {
		database = pooledRole
	}
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(pooledRole, pooledPassword), Host: b.Addr, Path: "/" + database,
		RawQuery: strings.Join(append([]string{"sslmode=disable"}, parameters...), "&"),
	}
	return u.String()
}

// Direct returns the address of a database as the same role, without PgBouncer.
func (b *PgBouncer) Direct(server *OwnPostgres, database string) string {
	return strings.Replace(b.URL(database), "@"+b.Addr+"/", "@"+server.Addr()+"/", 1)
}

// pooledDatabase is a database behind a PgBouncer, used by one test at a time.
type pooledDatabase struct{ name, direct string }

// empty removes all rows but those that record the applied migrations, without PgBouncer.
func (d pooledDatabase) empty(ctx context.Context) error {
	return postgresExec(ctx, d.direct, emptySchema)
}

// remove does nothing: the server is removed with its test.
func (d pooledDatabase) remove(context.Context) error { return nil }

// Database returns the name of a database with the tables of the role's own one, without rows, which no
// other test uses. It may be one that an earlier test has used.
func (b *PgBouncer) Database(t testing.TB, server *OwnPostgres) (name string) {
	t.Helper()
	return schemas.take(t, "pgbouncer "+b.Addr, func() place {
		b.copying.Lock()
		defer b.copying.Unlock()
		name := strings.ReplaceAll(Unique(), "-", "_")
		for _, text := range []string{
			// A connection to the database that is copied would be in the way.
			"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '" + pooledRole + "'",
			"CREATE DATABASE " + name + " TEMPLATE " + pooledRole + " OWNER " + pooledRole,
		} {
			if err := postgresExec(t.Context(), server.URL, text); err != nil {
				t.Fatal(err)
			}
		}
		return pooledDatabase{name, b.Direct(server, name)}
	}).(pooledDatabase).name
}

// Start starts it and waits until it forwards a connection.
func (b *PgBouncer) Start() {
	b.t.Helper()
	b.cmd = exec.Command(b.path, "-q", b.file)
	b.cmd.Dir, b.cmd.SysProcAttr = "/", b.as
	if err := b.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	WaitFor(b.t, func() bool {
		c, err := pgx.Connect(context.Background(), b.URL(""))
		return err == nil && c.Close(context.Background()) == nil
	}, "the test's own pgbouncer to answer")
}

// Prepares reports whether it prepares the statements of its clients on each connection that it uses
// for them, as version 1.21 and newer can.
func (b *PgBouncer) Prepares() bool {
	b.t.Helper()
	ctx := b.t.Context()
	c, err := pgconn.Connect(ctx, b.URL("pgbouncer"))
	if err != nil {
		b.t.Fatal(err)
	}
	defer func() { _ = c.Close(ctx) }()
	results, err := c.Exec(ctx, "SHOW CONFIG").ReadAll()
	if err != nil {
		b.t.Fatal(err)
	}
	for _, row := range results[0].Rows {
		if string(row[0]) == "max_prepared_statements" {
			return string(row[1]) != "0"
		}
	}
	return false
}

// Kill ends it immediately, and with it its clients' connections.
func (b *PgBouncer) Kill() {
	if b.cmd != nil {
		_ = b.cmd.Process.Kill()
		_ = b.cmd.Wait()
		b.cmd = nil
	}
}
