package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/freshet/freshet/internal/periodic"
)

// A statement that changes a table waits until no transaction uses the table, and later transactions
// wait behind it: one backup would stop all servers. So a migration waits for a moment only, lets the
// others pass, and tries again. Once it has the table, it may take as long as it needs: an index of a
// large table takes longer than the limits that a role has for queries.

const (
	// tableWait is how long a statement of a migration waits for a table. Calls that wait behind it
	// have a third of server.request_timeout, by default two seconds.
	tableWait = 300 * time.Millisecond
	// blockedPause is the pause between two attempts of all servers together, for which others pass.
	blockedPause = 3 * time.Second
	// turnPause is the pause between two attempts to get the turn to migrate.
	turnPause = time.Second
	// sayEvery is the number of attempts between two lines of the log.
	sayEvery = 10
)

// ErrWaits means that a migration waits for other transactions, or for another server's migration.
var ErrWaits = errors.New("a migration of PostgreSQL waits")

// migrate applies the missing migrations up to a version, under a lock specific to the schema, once no
// other transaction uses the tables.
func (s *Store) migrate(ctx context.Context, to int64) (err error) {
	turn := &turn{db: s.db}
	if err := s.db.pool.QueryRow(ctx, `SELECT hashtextextended('freshet ' || current_schema(), 0)`).Scan(&turn.id); err != nil {
		return err
	}
	if turn.id == nil {
		return errNoSchema
	}
	source, err := fs.Sub(files, "migrations")
	if err != nil {
		return err
	}
	db := stdlib.OpenDBFromPool(s.db.pool)
	defer func() { err = errors.Join(err, db.Close()) }()
	provider, err := goose.NewProvider(goose.DialectPostgres, db, source, goose.WithSessionLocker(turn), goose.WithTableName(versions),
		goose.WithDisableGlobalRegistry(true), goose.WithSlog(slog.New(slog.DiscardHandler)))
	if err != nil {
		return err
	}
	defer s.db.unusable.Store(nil)
	for {
		_, err = provider.UpTo(ctx, to)
		if code(err) != lockNotAvailable || ctx.Err() != nil {
			return err
		}
		if turn.blocked%sayEvery == 0 {
			s.db.wait(ctx, "for a transaction that uses its tables: "+s.db.user(ctx)+". It continues once that has ended")
		}
		turn.blocked++
	}
}

// wait tells why a migration waits.
func (d *database) wait(ctx context.Context, why string) {
	err := fmt.Errorf("%w %s", ErrWaits, why)
	d.unusable.Store(&err)
	d.log.WarnContext(ctx, err.Error())
	if d.waits != nil {
		d.waits(err)
	}
}

// user describes the oldest transaction that uses a table of the schema.
func (d *database) user(ctx context.Context) (text string) {
	_, err := newQuerying(ctx, d.pool).Row([]any{&text}, `SELECT 'process ' || a.pid || ' (' || coalesce(nullif(a.application_name, ''), a.backend_type, 'unknown') ||
			coalesce('), since ' || to_char(a.xact_start AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), ')')
		FROM pg_locks l JOIN pg_class c ON c.oid = l.relation AND c.relnamespace = `+home+` JOIN pg_stat_activity a ON a.pid = l.pid
		WHERE l.granted AND l.pid <> pg_backend_pid() ORDER BY a.xact_start LIMIT 1`)
	if err != nil || text == "" {
		return "see pg_locks and pg_stat_activity"
	}
	return text
}

// limits are the time limits of a session that its server has; transaction_timeout is of PostgreSQL 17.
const limits = `FROM pg_settings WHERE name IN ('lock_timeout', 'statement_timeout', 'transaction_timeout', 'idle_in_transaction_session_timeout')`

// turn gives one server at a time the turn to migrate. It implements goose's SessionLocker.
type turn struct {
	db      *database
	id      *int64    // of the lock
	blocked int       // attempts that ended because tables were in use
	limited bool      // the limits of a migration are set
	holder  *pgx.Conn // holds the lock if the migration goes through a pooler
}

// SessionLock waits for the turn. After an attempt that was blocked it lets others pass first, and keeps
// the turn meanwhile: otherwise the attempts of several servers would add up.
func (t *turn) SessionLock(ctx context.Context, conn *sql.Conn) error {
	for n := 0; ; n++ {
		locked, err := t.lock(ctx, conn)
		if err != nil {
			return err
		}
		if locked {
			break
		}
		if n%sayEvery == 1 {
			t.db.wait(ctx, "for another server, which migrates the tables: "+t.owner(ctx, conn))
		}
		if err := periodic.Pause(ctx, turnPause); err != nil {
			return err
		}
	}
	var err error
	if t.limited {
		_, err = conn.ExecContext(ctx, `SELECT set_config(name, CASE name WHEN 'lock_timeout' THEN $1 ELSE '0' END, false) `+limits, strconv.FormatInt(tableWait.Milliseconds(), 10))
	}
	if err == nil {
		err = raiseSequence(ctx, conn)
	}
	if err == nil && t.blocked > 0 {
		err = periodic.Pause(ctx, blockedPause)
	}
	if err != nil {
		return errors.Join(err, t.SessionUnlock(context.WithoutCancel(ctx), conn))
	}
	return nil
}

// raiseSequence makes the ids of the table of versions continue after those that it has. Logical
// replication, by which a database may have been moved to another server, copies no sequences.
func raiseSequence(ctx context.Context, conn *sql.Conn) error {
	var there bool
	if err := conn.QueryRowContext(ctx, `SELECT to_regclass($1) IS NOT NULL`, versions).Scan(&there); err != nil || !there {
		return err
	}
	_, err := conn.ExecContext(ctx, `SELECT setval(of, used) FROM (SELECT pg_get_serial_sequence('`+versions+`', 'id') AS of, max(id) AS used FROM `+versions+`) s
		WHERE has_sequence_privilege(of, 'SELECT') AND used > coalesce(pg_sequence_last_value(of::regclass), 0)`)
	return err
}

// lock reports whether it got the lock. A pooler in transaction mode gives each transaction another session
// of the server: a lock of the session would also be one of its other clients, and nobody could release it.
// So there a transaction holds the lock, on a connection that is closed afterwards.
func (t *turn) lock(ctx context.Context, conn *sql.Conn) (locked bool, err error) {
	pid := uint32(0)
	if err := conn.QueryRowContext(ctx, `SELECT pg_backend_pid()`).Scan(&pid); err != nil {
		return false, err
	}
	t.limited = direct(conn, pid)
	if t.limited {
		err = conn.QueryRowContext(ctx, `SELECT pg_try_advisory_lock($1)`, *t.id).Scan(&locked)
		return locked, err
	}
	t.holder, err = t.db.separate(ctx)
	if err != nil {
		return false, err
	}
	locked, err = hold(ctx, t.holder, *t.id)
	if !locked {
		err = errors.Join(err, t.unhold(ctx))
	}
	return locked, err
}

// hold begins a transaction that takes the lock, and that no time limit ends.
func hold(ctx context.Context, conn *pgx.Conn, id int64) (locked bool, err error) {
	for _, text := range []string{`BEGIN`, `SELECT set_config(name, '0', true) ` + limits} {
		if _, err := conn.Exec(ctx, text); err != nil {
			return false, err
		}
	}
	err = conn.QueryRow(ctx, `SELECT pg_try_advisory_xact_lock($1)`, id).Scan(&locked)
	return locked, err
}

// unhold ends the transaction that holds the lock, and its connection.
func (t *turn) unhold(ctx context.Context) error {
	_, err := t.holder.Exec(ctx, `ROLLBACK`)
	err = errors.Join(err, t.holder.Close(ctx))
	t.holder = nil
	return err
}

// separate opens a connection that is not one of the pool, which may allow only one.
func (d *database) separate(ctx context.Context) (*pgx.Conn, error) {
	pool := d.pool.Config()
	if err := pool.BeforeConnect(ctx, pool.ConnConfig); err != nil {
		return nil, err
	}
	return pgx.ConnectConfig(ctx, pool.ConnConfig)
}

// owner describes the process that has the lock. It may be a session of a pooler that kept a lock which
// nobody releases: 0.1.0 left such locks behind.
func (t *turn) owner(ctx context.Context, conn *sql.Conn) (text string) {
	err := conn.QueryRowContext(ctx, `SELECT 'process ' || a.pid || ' (' || coalesce(nullif(a.application_name, ''), 'unknown') ||
			', ' || coalesce(a.state || ' since ' || to_char(a.state_change AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), 'unknown') || ')'
		FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
		WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 AND (l.classid::bigint << 32) | l.objid::bigint = $1
			AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) LIMIT 1`, *t.id).Scan(&text)
	if err != nil || text == "" {
		return "see pg_locks and pg_stat_activity"
	}
	return text + ". If that is a pooler's and no server migrates, end it with pg_terminate_backend"
}

// direct reports whether a connection leads to the process of the server that has a number. A pooler
// reports another one, and in transaction mode a setting would apply to other clients.
func direct(conn *sql.Conn, pid uint32) (yes bool) {
	_ = conn.Raw(func(driver any) error {
		c, ok := driver.(*stdlib.Conn)
		yes = ok && c.Conn().PgConn().PID() == pid
		return nil
	})
	return yes
}

// SessionUnlock ends the turn.
func (t *turn) SessionUnlock(ctx context.Context, conn *sql.Conn) error {
	if t.holder != nil {
		return t.unhold(ctx)
	}
	_, err := conn.ExecContext(ctx, `SELECT pg_advisory_unlock($1)`, *t.id)
	if t.limited {
		_, reset := conn.ExecContext(ctx, `SELECT set_config(name, reset_val, false) `+limits)
		err = errors.Join(err, reset)
	}
	return err
}
