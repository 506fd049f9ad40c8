package postgres

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sync/semaphore"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social/sqlstore"
)

// database runs calls on a pool of connections.
type database struct {
	*connections
	guard    func(ctx context.Context, kind string, call func(context.Context) error) error
	migrated atomic.Bool // the schema has been checked and is usable
	clock    feed.Clock
	refused  atomic.Pointer[refusal]
	// snapshots limits the connections of reads that gather rows from many places and may be slow.
	// Other reads, which are lookups, never wait for those.
	snapshots *semaphore.Weighted
}

// snapshotShare is the divisor for the part of the connections that snapshots may take: half.
const snapshotShare = 2

// guarded runs a call through the guard.
func (d *database) guarded(ctx context.Context, kind string, call func(context.Context) error) error {
	if !d.migrated.Load() {
		return errors.New("its schema has not been checked yet")
	}
	noted := func(ctx context.Context) error {
		err := call(ctx)
		if refuses(err) {
			d.refused.Store(&refusal{d.clock(), err})
		}
		return err
	}
	if d.guard == nil {
		return noted(ctx)
	}
	return d.guard(ctx, kind, noted)
}

// Read implements [sqlstore.Database].
func (d *database) Read(ctx context.Context, do func(sqlstore.Session) error) error {
	return d.guarded(ctx, "read", func(ctx context.Context) error {
		conn, release, err := d.acquire(ctx)
		if err != nil {
			return err
		}
		defer release()
		return do(querying{ctx, conn})
	})
}

// Snapshot implements [sqlstore.Database].
func (d *database) Snapshot(ctx context.Context, do func(sqlstore.Session) error) error {
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return d.guarded(ctx, "read", func(ctx context.Context) error {
		if err := d.snapshots.Acquire(ctx, 1); err != nil {
			return err
		}
		defer d.snapshots.Release(1)
		conn, release, err := d.acquire(ctx)
		if err != nil {
			return err
		}
		defer release()
		return pgx.BeginTxFunc(ctx, conn, options, func(on pgx.Tx) error { return do(querying{ctx, on}) })
	})
}

// attempts is the maximum number of runs of a transaction that PostgreSQL aborts in favor of
// another.
const attempts = 20

// Alone implements [sqlstore.Database].
func (d *database) Alone(ctx context.Context, do func(sqlstore.Session) error) (err error) {
	for range attempts {
		if err = d.Read(ctx, do); !retryable(err) {
			break
		}
	}
	return err
}

// Write implements [sqlstore.Database].
func (d *database) Write(ctx context.Context, do func(sqlstore.Writing) error) error {
	return d.guarded(ctx, "write", func(ctx context.Context) (err error) {
		for range attempts {
			if err = d.attempt(ctx, do); !retryable(err) {
				break
			}
		}
		return err
	})
}

// attempt runs a transaction once. It sends the last statements and the commit in one round trip;
// if a statement fails, the commit is not reached.
func (d *database) attempt(ctx context.Context, do func(sqlstore.Writing) error) (err error) {
	conn, release, err := d.acquire(ctx)
	if err != nil {
		return err
	}
	defer release() // closes a connection that is still in a transaction
	if _, err := conn.Exec(ctx, `begin isolation level read committed read write`); err != nil {
		return err
	}
	w := &writing{querying: querying{ctx, conn}}
	if err = do(w); err == nil {
		w.later.Queue(`commit`)
		err = conn.SendBatch(ctx, &w.later).Close()
	}
	if err != nil && !conn.Conn().IsClosed() {
		// If the context has ended, the connection is closed.
		_, _ = conn.Exec(ctx, `rollback`)
	}
	return err
}

// session runs statements: a pool or a connection, each separately, or a transaction.
type session interface {
	Exec(ctx context.Context, text string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, text string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, text string, args ...any) pgx.Row
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// querying runs statements.
type querying struct {
	ctx context.Context
	on  session
}

// writing runs the statements of a transaction.
type writing struct {
	querying
	later pgx.Batch // statements sent with the commit
}

// Later adds a statement that is sent together with the commit.
func (w *writing) Later(text string, args ...any) error {
	w.later.Queue(text, arguments(args)...)
	return nil
}

// Exec returns how many rows a statement changed.
func (q querying) Exec(text string, args ...any) (int64, error) {
	tag, err := q.on.Exec(q.ctx, text, arguments(args)...)
	return tag.RowsAffected(), err
}

// Row reads one row and reports whether there is one.
func (q querying) Row(into []any, text string, args ...any) (bool, error) {
	err := q.on.QueryRow(q.ctx, text, arguments(args)...).Scan(into...)
	var unreadable pgx.ScanArgError
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return false, nil
	case errors.As(err, &unreadable):
		return false, sqlstore.Damaged(err)
	}
	return err == nil, err
}

// Each calls scan for each row.
func (q querying) Each(scan func(sqlstore.Scan) error, text string, args ...any) error {
	rows, err := q.on.Query(q.ctx, text, arguments(args)...)
	if err != nil {
		return err
	}
	return eachOf(rows, scan)
}

func eachOf(rows pgx.Rows, scan func(sqlstore.Scan) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows.Scan); err != nil {
			return sqlstore.Damaged(err)
		}
	}
	return rows.Err()
}

// All sends all statements at once. Outside of a transaction they form one.
func (q querying) All(readings ...sqlstore.Reading) error {
	b := &pgx.Batch{}
	for _, r := range readings {
		if r.Text == "" {
			continue
		}
		queued := b.Queue(r.Text, arguments(r.Args)...)
		if r.Scan != nil {
			queued.Query(func(rows pgx.Rows) error { return eachOf(rows, r.Scan) })
		}
	}
	return q.on.SendBatch(q.ctx, b).Close()
}

// arguments converts arguments of a statement for the driver: a table becomes one array for each
// column. Arrays are never NULL. Bytes are text, as no column is a bytea: in the modes for poolers
// the driver does not know the types of the parameters, and would send bytes as a bytea.
func arguments(args []any) []any {
	out := make([]any, 0, len(args)+3)
	for _, arg := range args {
		switch arg := arg.(type) {
		case []string:
			out = append(out, array(arg))
		case sqlstore.List:
			out = append(out, array(arg))
		case []byte:
			out = append(out, string(arg))
		case sqlstore.Table:
			out = append(out, arg...)
		case sqlstore.Named:
			out = append(out, pgx.NamedArgs(arg))
		default:
			out = append(out, arg)
		}
	}
	return out
}

func array(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
