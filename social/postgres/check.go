package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/freshet/freshet/feed"
)

// OldestServer is the oldest supported server, as a server_version_num.
const OldestServer = 130000

// Report describes the database to an operator.
type Report struct {
	Address  string // where it was reached
	Server   string // the server's version, as it reports it
	Number   int    // the same as a number; see [OldestServer]
	Schema   Schema
	Encoding string // must be UTF8
	// ReadOnly means that it accepts no writes: it is a replica, or is configured so.
	ReadOnly bool
	// Conns is the maximum number of connections of this process, ServerConns that of all processes
	// with this user: the lowest limit of the server, the database and the role.
	Conns, ServerConns int
	// Pooled means that a pooler such as PgBouncer answers, and Prepares that this process uses
	// prepared statements, which in transaction mode do not exist on the next connection. Prepares is
	// false behind a pooler that prepares them itself on each connection, as PgBouncer 1.21 and newer can.
	Pooled, Prepares bool
	// Invalid are indexes that exist but are not used, as after an interrupted build.
	Invalid []string
	// Path is the search_path of the session if it is not the one of the URL, as when a pooler ignores
	// that; otherwise "".
	Path string
	// Unanswered are other addresses of the database, such as that of IPv6, at which nothing answers.
	Unanswered []string
	// Unsafe are settings with which the server can lose committed data.
	Unsafe []string
	// Refused is why a row could not be written, or a table not be created, which a migration does;
	// nil also if that could not be tried.
	Refused error
	// Skew is how far the server's clock is ahead of this machine's. Its error is at most half of
	// Trip, the round trip time of the query.
	Skew, Trip time.Duration
}

// Check reads the state of the database. It changes nothing and can run before [Store.Migrate]. The
// error wraps [social.ErrUnavailable] if the server does not answer or the user may not connect.
func (s *Store) Check(ctx context.Context) (Report, error) {
	pool := s.db.pool.Config()
	mode := pool.ConnConfig.DefaultQueryExecMode
	r := Report{Conns: int(pool.MaxConns), Prepares: mode != pgx.QueryExecModeExec && mode != pgx.QueryExecModeSimpleProtocol}
	err := pgx.BeginTxFunc(ctx, s.db.pool, pgx.TxOptions{}, func(on pgx.Tx) (err error) {
		q := newQuerying(ctx, on)
		var pid uint32
		if _, err := q.Row([]any{&pid}, `SELECT pg_backend_pid()`); err != nil {
			return err
		}
		r.Address = on.Conn().PgConn().Conn().RemoteAddr().String()
		r.Pooled = pid != on.Conn().PgConn().PID() // a pooler reports a different number
		if r.Pooled && r.Prepares {
			var named bool // with names of its own, PgBouncer knows which connection has which
			if _, err := q.Row([]any{&named}, `SELECT EXISTS (SELECT FROM pg_prepared_statements WHERE starts_with(name, 'PGBOUNCER_'))`); err != nil {
				return err
			}
			r.Prepares = !named
		}
		if err := r.readSkew(q, s.clock); err != nil {
			return err
		}
		if _, err := q.Row([]any{&r.Server, &r.Number, &r.Encoding, &r.ServerConns, &r.ReadOnly}, `SELECT current_setting('server_version'),
			current_setting('server_version_num')::int, current_setting('server_encoding'),
			(SELECT least(current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int,
				CASE WHEN datconnlimit >= 0 THEN datconnlimit END, CASE WHEN rolconnlimit >= 0 THEN rolconnlimit END)
				FROM pg_database, pg_roles WHERE datname = current_database() AND rolname = current_user),
			pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean`); err != nil {
			return err
		}
		want := pool.ConnConfig.RuntimeParams["search_path"]
		if want != "" {
			if _, err := q.Row([]any{&r.Path}, `SELECT CASE WHEN current_setting('search_path') <> $1 THEN current_setting('search_path') ELSE '' END`, want); err != nil {
				return err
			}
		}
		if r.Invalid, err = texts(ctx, on, `SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
			JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = current_schema() WHERE NOT i.indisvalid ORDER BY c.relname`); err != nil {
			return err
		}
		r.Unsafe, err = texts(ctx, on, `SELECT name FROM pg_settings
			WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') AND setting = 'off' ORDER BY name`)
		return err
	})
	if err == nil { // not within the transaction, which the lack of a privilege would abort
		r.Schema, err = newQuerying(ctx, s.db.pool).inspect()
	}
	if err != nil {
		return Report{}, dialect.Failed(ctx, "check", err)
	}
	if s.unanswered != nil {
		r.Unanswered = s.unanswered()
	}
	whole := fatal(r.Schema.Problems) == nil
	switch {
	case r.ReadOnly || !whole:
	case r.Schema.Found >= r.Schema.Known:
		r.Refused = reason(s.try(ctx, `INSERT INTO freshet_settings (name, value) VALUES ('tried', '') ON CONFLICT DO NOTHING`))
	default: // a migration creates tables
		r.Refused = reason(s.try(ctx, `CREATE TABLE freshet_tried ()`))
	}
	return r, nil
}

// tryFor is how long an attempt to write may take.
const tryFor = 5 * time.Second

// try runs a statement, rolls it back to a savepoint, and commits. That stores nothing, but the commit
// waits for the disk, and for the replicas that it needs, as that of a post does.
func (s *Store) try(ctx context.Context, text string) error {
	ctx, cancel := context.WithTimeout(ctx, tryFor)
	defer cancel()
	on, err := s.db.pool.BeginTx(ctx, pgx.TxOptions{})
	if err != nil {
		return err
	}
	defer func() { _ = on.Rollback(ctx) }()
	part, err := on.Begin(ctx)
	if err != nil {
		return err
	}
	if _, err := part.Exec(ctx, text); err != nil {
		return err
	}
	if err := part.Rollback(ctx); err != nil {
		return err
	}
	err = s.db.commits.Run(func() error { return on.Commit(ctx) })
	if ctx.Err() != nil {
		err = s.db.commits.Explain(err, Disk)
	}
	return err
}

// texts reads a column of strings.
func texts(ctx context.Context, on pgx.Tx, text string) ([]string, error) {
	rows, err := on.Query(ctx, text)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// readSkew compares the clocks, by the fastest of three queries.
func (r *Report) readSkew(q querying, clock feed.Clock) error {
	for i := range 3 {
		var at int64
		before := clock()
		if _, err := q.Row([]any{&at}, `SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint`); err != nil {
			return fmt.Errorf("clock: %w", err)
		}
		trip := clock().Sub(before)
		if i == 0 || trip < r.Trip {
			r.Skew, r.Trip = time.UnixMicro(at).Sub(before.Add(trip/2)), trip
		}
	}
	return nil
}
