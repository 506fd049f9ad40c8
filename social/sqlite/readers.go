package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/freshet/freshet/social/sqlstore"
)

// readers are the connections for reads, and their prepared statements.
type readers struct {
	db    *sql.DB
	stmts sync.Map // by their texts
	// snapshots limits the connections of reads that gather rows from many places and may be slow.
	// Other reads, which are lookups, never wait for those.
	snapshots *semaphore.Weighted
}

// newReaders returns readers that allow snapshots half of the connections.
func newReaders(db *sql.DB) *readers {
	half := int64(db.Stats().MaxOpenConnections) / 2
	return &readers{db: db, snapshots: semaphore.NewWeighted(max(1, half))}
}

// Read implements [sqlstore.Database].
func (r *readers) Read(ctx context.Context, do func(sqlstore.Session) error) error {
	return do(querying{ctx: ctx, prepare: r.prepare})
}

// Snapshot implements [sqlstore.Database].
func (r *readers) Snapshot(ctx context.Context, do func(sqlstore.Session) error) (err error) {
	if err := r.snapshots.Acquire(ctx, 1); err != nil {
		return err
	}
	defer r.snapshots.Release(1)
	t, err := r.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	var first []string // texts used for the first time
	defer func() { r.keep(ctx, first) }()
	defer func() {
		undo := t.Rollback()
		if undo != nil && !errors.Is(undo, sql.ErrTxDone) {
			err = errors.Join(err, undo)
		}
	}()
	prepare := func(ctx context.Context, text string) (*sql.Stmt, error) {
		if stmt, ok := r.stmts.Load(text); ok {
			return t.StmtContext(ctx, stmt.(*sql.Stmt)), nil
		}
		// On the transaction's own connection: waiting for a second one while holding the first can
		// deadlock.
		first = append(first, text)
		return t.PrepareContext(ctx, text)
	}
	return do(querying{ctx: ctx, prepare: prepare})
}

// keep prepares statements for later use.
func (r *readers) keep(ctx context.Context, texts []string) {
	for _, text := range texts {
		if _, err := r.prepare(ctx, text); err != nil {
			return // the next use returns the error
		}
	}
}

// prepare caches each statement; the pool prepares it on each connection at its first use there.
// The number of texts is fixed.
func (r *readers) prepare(ctx context.Context, text string) (*sql.Stmt, error) {
	if stmt, ok := r.stmts.Load(text); ok {
		return stmt.(*sql.Stmt), nil
	}
	stmt, err := r.db.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	faster, ok := r.stmts.LoadOrStore(text, stmt)
	if ok {
		return faster.(*sql.Stmt), stmt.Close()
	}
	return stmt, nil
}
