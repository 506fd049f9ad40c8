package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// writer is the one connection that writes, with its prepared statements.
// SQLite has one writer at a time anyway; waiting for it here costs nothing.
type writer struct {
	db    *sql.DB
	conn  *sql.Conn
	turn  chan struct{} // holds the writer's place; taken to write
	stmts map[string]*sql.Stmt
	memo  *memo // is told what transactions touch; nil: nothing is watched yet
}

var errClosed = errors.New("it is closed")

func newWriter(ctx context.Context, db *sql.DB) (*writer, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	w := &writer{db: db, conn: conn, turn: make(chan struct{}, 1), stmts: map[string]*sql.Stmt{}}
	w.turn <- struct{}{}
	return w, nil
}

// close waits for the write under way.
func (w *writer) close() error {
	if _, ok := <-w.turn; !ok {
		return nil
	}
	close(w.turn)
	var errs []error
	// A connection with statements would stay open behind the scenes, and leave
	// the write-ahead log as it is.
	for _, stmt := range w.stmts {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, w.conn.Close(), w.db.Close())...)
}

// take waits for the writer's turn.
func (w *writer) take(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case _, ok := <-w.turn:
		if !ok {
			return errClosed
		}
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tx is one transaction under way.
type tx struct {
	querying
	now   time.Time
	woken bool            // a row was marked that is due
	renew map[string]bool // agents whose lists are rebuilt for their follows; nil: each follow is marked
}

// write runs do in a transaction, which holds if do returns nil.
func (s *Store) write(ctx context.Context, do func(*tx) error) error {
	t := &tx{now: s.opts.Clock()}
	err := s.writer.run(ctx, func(q querying) error {
		t.querying = q
		return do(t)
	})
	if err == nil && t.woken {
		s.wake()
	}
	return err
}

func (w *writer) run(ctx context.Context, do func(querying) error) (err error) {
	if err := w.take(ctx); err != nil {
		return err
	}
	defer func() { w.turn <- struct{}{} }()
	// The driver starts a goroutine for each statement whose context can be
	// cancelled. Transactions are short; asking before is enough, and cheaper.
	q := querying{ctx: context.WithoutCancel(ctx), prepare: w.prepare}
	if _, err := q.exec(`BEGIN IMMEDIATE`); err != nil {
		return err
	}
	done := false
	defer func() {
		if !done {
			_, undo := q.exec(`ROLLBACK`)
			err = errors.Join(err, undo)
		}
	}()
	if err := do(q); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if w.memo != nil {
		all, err := q.touched()
		if err != nil {
			return err
		}
		if len(all) > 0 {
			w.memo.begin()
			defer w.memo.end(all)
		}
	}
	if _, err := q.exec(`COMMIT`); err != nil {
		return err
	}
	done = true
	return nil
}

func (w *writer) prepare(ctx context.Context, text string) (*sql.Stmt, error) {
	if stmt := w.stmts[text]; stmt != nil {
		return stmt, nil
	}
	stmt, err := w.conn.PrepareContext(ctx, text)
	if err == nil {
		w.stmts[text] = stmt
	}
	return stmt, err
}

// querying runs prepared statements in one transaction. They say LIMIT +? and not
// LIMIT ?: SQLite compiles a statement anew for each value of a bare parameter there.
type querying struct {
	ctx     context.Context
	prepare func(context.Context, string) (*sql.Stmt, error)
}

// exec returns how many rows a statement changed.
func (q querying) exec(text string, args ...any) (int64, error) {
	stmt, err := q.prepare(q.ctx, text)
	if err != nil {
		return 0, err
	}
	res, err := stmt.ExecContext(q.ctx, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

// scanner is a row, or the error on the way to it.
type scanner struct {
	*sql.Row
	err error
}

// Scan reads the row; [sql.ErrNoRows] where there is none.
func (s scanner) Scan(into ...any) error {
	if s.err != nil {
		return s.err
	}
	return s.Row.Scan(into...)
}

func (q querying) row(text string, args ...any) scanner {
	stmt, err := q.prepare(q.ctx, text)
	if err != nil {
		return scanner{err: err}
	}
	return scanner{Row: stmt.QueryRowContext(q.ctx, args...)}
}

// each calls scan for each row.
func (q querying) each(scan func(*sql.Rows) error, text string, args ...any) error {
	stmt, err := q.prepare(q.ctx, text)
	if err != nil {
		return err
	}
	rows, err := stmt.QueryContext(q.ctx, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// texts reads a column of texts.
func (q querying) texts(text string, args ...any) ([]string, error) {
	var out []string
	err := q.each(func(rows *sql.Rows) error {
		var s string
		err := rows.Scan(&s)
		out = append(out, s)
		return err
	}, text, args...)
	return out, err
}

// found reads one row and says whether there is one.
func found(row scanner, into ...any) (bool, error) {
	err := row.Scan(into...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}
