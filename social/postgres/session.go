package postgres

import (
	"cmp"
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/freshet/freshet/internal/slowdisk"
	"github.com/freshet/freshet/social/sqlstore"
)

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
	// answered is set once a statement has changed something or returned a row.
	answered *bool
}

func newQuerying(ctx context.Context, on session) querying { return querying{ctx, on, new(bool)} }

// Exec returns how many rows a statement changed.
func (q querying) Exec(text string, args ...any) (int64, error) {
	tag, err := q.on.Exec(q.ctx, sqlstore.InPostgres(text), arguments(args)...)
	*q.answered = *q.answered || err == nil
	return tag.RowsAffected(), err
}

// Row reads one row and reports whether there is one.
func (q querying) Row(into []any, text string, args ...any) (bool, error) {
	err := q.on.QueryRow(q.ctx, sqlstore.InPostgres(text), arguments(args)...).Scan(into...)
	var unreadable pgx.ScanArgError
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return false, nil
	case errors.As(err, &unreadable):
		return false, sqlstore.Damaged(err)
	}
	*q.answered = *q.answered || err == nil
	return err == nil, err
}

// Each reads all rows.
func (q querying) Each(r sqlstore.Reading) error {
	rows, err := q.on.Query(q.ctx, sqlstore.InPostgres(r.Text), arguments(r.Args)...)
	if err != nil {
		return err
	}
	return q.scan(rows, r)
}

func (q querying) scan(rows pgx.Rows, r sqlstore.Reading) error {
	defer rows.Close()
	for rows.Next() {
		*q.answered = true
		if err := r.Scan(rows.Scan); err != nil {
			return sqlstore.Damaged(err)
		}
	}
	return rows.Err()
}

// All sends all statements at once. Outside of a transaction they form one.
func (q querying) All(readings ...sqlstore.Reading) error {
	b := &pgx.Batch{}
	for _, r := range readings {
		if r.Text != "" {
			q.queue(b, r)
		}
	}
	return q.on.SendBatch(q.ctx, b).Close()
}

func (q querying) queue(b *pgx.Batch, r sqlstore.Reading) {
	queued := b.Queue(sqlstore.InPostgres(r.Text), arguments(r.Args)...)
	if r.Scan != nil {
		queued.Query(func(rows pgx.Rows) error { return q.scan(rows, r) })
	}
}

// transaction runs the statements of a transaction. The first statements are sent together with the
// begin, the last with the commit. After an error it runs no statement: if the first statements
// failed before the begin was reached, later ones would each run in a transaction of their own.
type transaction struct {
	querying
	begin string    // empty once it has been sent
	later pgx.Batch // statements sent with the commit
	err   error

	committing bool              // the commit was sent: the transaction may have been committed
	commits    *slowdisk.Commits // observes the commit; nil if the transaction writes nothing
}

// Exec implements [sqlstore.Session].
func (t *transaction) Exec(text string, args ...any) (changed int64, err error) {
	switch {
	case t.err != nil:
		return 0, t.err
	case t.begin == "":
		changed, t.err = t.querying.Exec(text, args...)
		return changed, t.err
	}
	b := &pgx.Batch{}
	b.Queue(t.begin)
	t.begin = ""
	b.Queue(sqlstore.InPostgres(text), arguments(args)...).Exec(func(tag pgconn.CommandTag) error {
		changed = tag.RowsAffected()
		return nil
	})
	t.err = t.on.SendBatch(t.ctx, b).Close()
	return changed, t.err
}

// Row implements [sqlstore.Session].
func (t *transaction) Row(into []any, text string, args ...any) (found bool, err error) {
	if t.err == nil && t.begin == "" {
		found, t.err = t.querying.Row(into, text, args...)
		return found, t.err
	}
	err = t.Each(sqlstore.First(into, &found, text, args...))
	return found && err == nil, err
}

// Each implements [sqlstore.Session].
func (t *transaction) Each(r sqlstore.Reading) error {
	if t.err == nil && t.begin == "" {
		t.err = t.querying.Each(r)
		return t.err
	}
	return t.All(r)
}

// All implements [sqlstore.Session].
func (t *transaction) All(readings ...sqlstore.Reading) error {
	if t.err != nil {
		return t.err
	}
	if t.begin != "" {
		readings = append([]sqlstore.Reading{{Statement: sqlstore.Statement{Text: t.begin}}}, readings...)
		t.begin = ""
	}
	t.err = t.querying.All(readings...)
	return t.err
}

// Later implements [sqlstore.Writing].
func (t *transaction) Later(r sqlstore.Reading) error {
	t.queue(&t.later, r)
	return t.err
}

// end commits the transaction, or rolls it back after an error, which it returns. If a late
// statement fails, the commit is not reached.
func (t *transaction) end(conn *pgxpool.Conn, err error) error {
	err = cmp.Or(err, t.err)
	if t.begin != "" {
		if err != nil || t.later.Len() == 0 {
			return err
		}
		first := pgx.Batch{}
		first.Queue(t.begin)
		t.later.QueuedQueries = append(first.QueuedQueries, t.later.QueuedQueries...)
	}
	if err == nil {
		t.later.Queue(`commit`)
		t.committing = true
		commit := func() error { return conn.SendBatch(t.ctx, &t.later).Close() }
		if t.commits == nil {
			err = commit()
		} else if err = t.commits.Run(commit); t.ctx.Err() != nil {
			err = t.commits.Explain(err, Disk)
		}
	}
	if err != nil && !conn.Conn().IsClosed() {
		// If the context has ended, this fails, and the pool closes the connection.
		_, _ = conn.Exec(t.ctx, `rollback`)
	}
	return err
}

// arguments converts arguments of a statement for the driver: a table becomes one array for each
// column. Arrays are never NULL. Slices of bytes are text, except for [sqlstore.Bytes]: in the modes for
// poolers the driver does not know the types of the parameters, and would send all as a bytea.
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
		case sqlstore.Bytes:
			out = append(out, []byte(arg))
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
