package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/freshet/freshet/internal/slowdisk"
	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/social/sqlstore"
)

// writer is the connection for writes, with its prepared statements. SQLite allows one writer at a
// time anyway; waiting for it here costs nothing.
type writer struct {
	conn  *sql.Conn
	turn  chan struct{} // holds one token, which a writer takes
	stmts map[string]*sql.Stmt
	memo  *sqlstore.Memo // is notified of the keys that transactions touch

	commits *slowdisk.Commits
}

func newWriter(ctx context.Context, db *sql.DB, memo *sqlstore.Memo) (*writer, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	w := &writer{conn: conn, turn: make(chan struct{}, 1), stmts: map[string]*sql.Stmt{}, memo: memo, commits: sqlitefile.CommitsOf(db)}
	w.turn <- struct{}{}
	if err := w.watch(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return w, nil
}

// close waits for the write in progress.
func (w *writer) close() error {
	if _, ok := <-w.turn; !ok {
		return nil
	}
	close(w.turn)
	var errs []error
	// A connection with open statements would stay open in the background, and not checkpoint the
	// write-ahead log.
	for _, stmt := range w.stmts {
		errs = append(errs, stmt.Close())
	}
	return errors.Join(append(errs, w.conn.Close())...)
}

// take waits for the writer's turn.
func (w *writer) take(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case _, ok := <-w.turn:
		if !ok {
			return errors.New("the store is closed")
		}
		return nil
	case <-ctx.Done():
		return w.commits.Explain(ctx.Err(), sqlitefile.Disk)
	}
}

// Alone implements [sqlstore.Database].
func (w *writer) Alone(ctx context.Context, do func(sqlstore.Session) error) error {
	return w.Write(ctx, func(on sqlstore.Writing) error { return do(on) })
}

// Write implements [sqlstore.Database].
func (w *writer) Write(ctx context.Context, do func(sqlstore.Writing) error) (err error) {
	if err := w.take(ctx); err != nil {
		return err
	}
	defer func() { w.turn <- struct{}{} }()
	// The driver starts a goroutine for each statement with a context that can be cancelled.
	// Transactions are short; checking the context before is enough, and cheaper.
	q := querying{ctx: context.WithoutCancel(ctx), prepare: w.prepare}
	if _, err := q.Exec(`BEGIN IMMEDIATE`); err != nil {
		return err
	}
	done := false
	defer func() {
		if !done {
			_, undo := q.Exec(`ROLLBACK`)
			err = errors.Join(err, undo)
		}
	}()
	if err := do(q); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	all, err := q.touched()
	if err != nil {
		return err
	}
	if len(all) > 0 {
		w.memo.Begin()
		defer w.memo.End(all)
	}
	if err := w.commits.Run(func() error { _, err := q.Exec(`COMMIT`); return err }); err != nil {
		return err
	}
	done = true
	return nil
}

func (w *writer) prepare(ctx context.Context, text string) (*sql.Stmt, error) {
	kept := w.stmts[text]
	if kept != nil {
		return kept, nil
	}
	stmt, err := w.conn.PrepareContext(ctx, text)
	if err == nil {
		w.stmts[text] = stmt
	}
	return stmt, err
}
