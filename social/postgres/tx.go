package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/freshet/freshet/social/jobs"
)

// session runs statements: the pool, each by itself, or a
// transaction.
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

// exec returns how many rows a statement changed.
func (q querying) exec(text string, args ...any) (int64, error) {
	tag, err := q.on.Exec(q.ctx, text, args...)
	return tag.RowsAffected(), err
}

func (q querying) row(text string, args ...any) pgx.Row { return q.on.QueryRow(q.ctx, text, args...) }

// each calls scan for each row.
func (q querying) each(scan func(pgx.Rows) error, text string, args ...any) error {
	rows, err := q.on.Query(q.ctx, text, args...)
	if err != nil {
		return err
	}
	return eachOf(rows, scan)
}

func eachOf(rows pgx.Rows, scan func(pgx.Rows) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// texts reads a column of texts.
func (q querying) texts(text string, args ...any) (list []string, err error) {
	err = q.each(func(rows pgx.Rows) error {
		var s string
		err := rows.Scan(&s)
		list = append(list, s)
		return err
	}, text, args...)
	return list, err
}

// found reads one row and says whether there is one.
func found(row pgx.Row, into ...any) (bool, error) {
	err := row.Scan(into...)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

// guarded runs a call, if it is let.
func (s *Store) guarded(ctx context.Context, kind string, call func(context.Context) error) error {
	if s.guard == nil {
		return call(ctx)
	}
	return s.guard(ctx, kind, call)
}

// read runs do, each of its statements by itself.
func (s *Store) read(ctx context.Context, do func(querying) error) error {
	if !s.migrated.Load() {
		return errNotMigrated
	}
	return s.guarded(ctx, "read", func(ctx context.Context) error { return do(querying{ctx, s.pool}) })
}

// snapshot runs do, all of whose statements see one state of the database.
func (s *Store) snapshot(ctx context.Context, do func(querying) error) error {
	if !s.migrated.Load() {
		return errNotMigrated
	}
	options := pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}
	return s.guarded(ctx, "read", func(ctx context.Context) error {
		return pgx.BeginTxFunc(ctx, s.pool, options, func(on pgx.Tx) error { return do(querying{ctx, on}) })
	})
}

// tx is one transaction under way.
type tx struct {
	querying
	now   time.Time
	later pgx.Batch // statements that go with the commit
	dirty map[mark]jobs.Dirty
	renew map[string]bool // agents whose lists are rebuilt for their follows; nil: each follow is marked
}

// attempts is how often a transaction is run that PostgreSQL ends for the sake
// of another.
const attempts = 20

// write runs do in a transaction, which holds if do returns nil. It may run do
// more than once.
func (s *Store) write(ctx context.Context, do func(*tx) error) error {
	if !s.migrated.Load() {
		return errNotMigrated
	}
	return s.guarded(ctx, "write", func(ctx context.Context) error { return s.attempts(ctx, do) })
}

func (s *Store) attempts(ctx context.Context, do func(*tx) error) error {
	for attempt := 1; ; attempt++ {
		t := &tx{querying: querying{ctx: ctx}, now: s.opts.Clock(), dirty: map[mark]jobs.Dirty{}}
		err := s.attempt(t, do)
		if err == nil && t.wakes() {
			s.wake()
		}
		if !again(err) || attempt == attempts {
			return err
		}
	}
}

// attempt runs a transaction once. The commit goes with the last statements, in
// one trip; it is not reached if one of them fails.
func (s *Store) attempt(t *tx, do func(*tx) error) (err error) {
	conn, err := s.pool.Acquire(t.ctx)
	if err != nil {
		return err
	}
	defer conn.Release() // which closes one that is still in a transaction
	if _, err := conn.Exec(t.ctx, `begin isolation level read committed read write`); err != nil {
		return err
	}
	t.on = conn
	if err = do(t); err == nil {
		t.markAll()
		t.later.Queue(`commit`)
		err = conn.SendBatch(t.ctx, &t.later).Close()
	}
	if err != nil && !conn.Conn().IsClosed() {
		// A context that has ended has ended the connection, too.
		_, _ = conn.Exec(t.ctx, `rollback`)
	}
	return err
}

// then adds a statement that is sent with the last ones before the commit.
// Nothing that the transaction reads may depend on it.
func (t *tx) then(text string, args ...any) { t.later.Queue(text, args...) }
