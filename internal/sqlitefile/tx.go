package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"iter"
)

// Tx is an open transaction. It runs statements until one fails. The error persists: from then on
// no statement runs, and reads return zero values.
type Tx struct {
	*sql.Tx
	ctx context.Context
	err error
}

// InTx runs do in a transaction, which is committed unless a part of it fails.
func InTx(ctx context.Context, db *sql.DB, do func(*Tx)) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return CommitsOf(db).Explain(err, Disk)
	}
	t := &Tx{Tx: tx, ctx: ctx}
	do(t)
	if t.err == nil {
		return CommitsOf(db).Run(tx.Commit)
	}
	// A cancelled context has rolled it back already.
	undo := tx.Rollback()
	if undo != nil && !errors.Is(undo, sql.ErrTxDone) {
		return errors.Join(t.err, undo)
	}
	return t.err
}

// Fail makes the transaction fail with an error, unless it has failed before.
func (t *Tx) Fail(err error) {
	if t.err == nil {
		t.err = err
	}
}

// Failed reports whether a part of the transaction has failed. Reads since then have returned zero
// values, which mean nothing.
func (t *Tx) Failed() bool { return t.err != nil }

// Do runs a statement and returns the number of changed rows.
func (t *Tx) Do(text string, args ...any) (changed int64) {
	if t.err != nil {
		return 0
	}
	return t.changed(t.ExecContext(t.ctx, text, args...))
}

func (t *Tx) changed(res sql.Result, err error) (rows int64) {
	if err == nil {
		rows, err = res.RowsAffected()
	}
	t.Fail(err)
	return rows
}

// Prepared returns Do for a statement that the transaction runs many times: it is parsed once.
func (t *Tx) Prepared(text string) func(args ...any) (changed int64) {
	var stmt *sql.Stmt // the end of the transaction closes it
	if t.err == nil {
		stmt, t.err = t.PrepareContext(t.ctx, text)
	}
	return func(args ...any) int64 {
		if t.err != nil {
			return 0
		}
		return t.changed(stmt.ExecContext(t.ctx, args...))
	}
}

// Row reads one row and reports whether it exists. If it returns false, check [Tx.Failed] before
// acting on that outside the transaction.
func (t *Tx) Row(into []any, text string, args ...any) (found bool) {
	if t.err != nil {
		return false
	}
	err := t.QueryRowContext(t.ctx, text, args...).Scan(into...)
	if !errors.Is(err, sql.ErrNoRows) {
		t.Fail(err)
	}
	return err == nil
}

// Rows yields each row of a query, until the transaction fails.
func (t *Tx) Rows(text string, args ...any) iter.Seq[*sql.Rows] {
	if t.err != nil {
		return func(func(*sql.Rows) bool) {}
	}
	var rows *sql.Rows
	rows, t.err = t.QueryContext(t.ctx, text, args...)
	return Rows(rows, &t.err)
}
