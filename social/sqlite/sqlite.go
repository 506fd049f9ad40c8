// Package sqlite keeps the social store and its queue in one SQLite file: both
// contracts in embedded mode.
//
// The file is in WAL mode with synchronous=FULL: when a write returns, it is on
// the disk, and neither a killed process nor a power cut loses it. A write that
// had not returned is there whole, with its jobs, or not at all. What is deleted
// is overwritten in the file (secure_delete). Beside the file SQLite keeps
// <file>-wal and <file>-shm while it is open; copy all three, or close first.
package sqlite

import (
	"context"
	"errors"
	"runtime"

	_ "modernc.org/sqlite" // the driver

	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/sqlstore"
)

// FileName is the name of the file in the data directory.
const FileName = "social.db"

// Look reads the file at path, and changes nothing, as [sqlitefile.Look] does.
func Look(ctx context.Context, path string) (sqlitefile.Version, error) {
	return schema.Look(ctx, path)
}

// Store is a social store and its queue in one file. It is safe for concurrent
// use.
type Store struct {
	*sqlstore.Store
	file *file
	memo *sqlstore.Memo
}

var (
	_ social.Store = (*Store)(nil)
	_ jobs.Queue   = (*Store)(nil)
)

// file is the database: one connection that writes, and some that read.
type file struct {
	writer  *writer
	readers *readers
}

// Open opens the file at path, and makes it and its directory where they do
// not exist. An older schema is brought up to date; a newer one that this version cannot
// use is an error. Errors say what is wrong with the file.
func Open(ctx context.Context, path string, opts social.Options) (*Store, error) {
	f := &file{}
	if err := f.open(ctx, path); err != nil {
		return nil, errors.Join(contractError(path, err), f.close())
	}
	opts = opts.WithDefaults()
	if opts.QueueClock == nil {
		opts.QueueClock = opts.Clock
	}
	s := &Store{Store: sqlstore.New(f, &dialect, opts), file: f}
	s.memo = sqlstore.NewMemo(s.Store)
	f.writer.memo = s.memo
	return s, nil
}

func (f *file) open(ctx context.Context, path string) error {
	// The writer makes the file, the others only find it.
	db, err := sqlitefile.Connect(path, "rwc", "synchronous(FULL)", "secure_delete(1)", "journal_size_limit(67108864)",
		"wal_autocheckpoint(4000)", "cache_size(-32000)")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	if f.writer, err = newWriter(ctx, db); err != nil {
		return errors.Join(err, db.Close())
	}
	if err := f.writer.migrate(ctx); err != nil {
		return err
	}
	if err := f.writer.watch(ctx); err != nil {
		return err
	}
	if db, err = sqlitefile.Connect(path, "rw", "query_only(1)", "cache_size(-8000)"); err != nil {
		return err
	}
	f.readers = newReaders(db, max(4, runtime.GOMAXPROCS(0)))
	return db.PingContext(ctx)
}

// Close folds the write-ahead log into the file and closes it, once the write
// under way has ended. Calls made after it fail with [social.ErrUnavailable].
func (s *Store) Close() error { return s.file.close() }

func (f *file) close() error {
	var errs []error
	// The writer goes last: the last connection to leave folds the log.
	if f.readers != nil {
		errs = append(errs, f.readers.close())
	}
	if f.writer != nil {
		errs = append(errs, f.writer.close())
	}
	return errors.Join(errs...)
}

// Cards implements [social.Cards] from what is in memory, or with one statement.
func (s *Store) Cards(ctx context.Context, reader string, posts []social.Known) ([]social.Card, error) {
	return s.memo.Cards(ctx, reader, posts)
}

// Read implements [sqlstore.Database].
func (f *file) Read(ctx context.Context, do func(sqlstore.Session) error) error {
	return f.readers.read(ctx, func(q querying) error { return do(q) })
}

// Snapshot implements [sqlstore.Database].
func (f *file) Snapshot(ctx context.Context, do func(sqlstore.Session) error) error {
	return f.readers.snapshot(ctx, func(q querying) error { return do(q) })
}

// Write implements [sqlstore.Database].
func (f *file) Write(ctx context.Context, do func(sqlstore.Writing) error) error {
	return f.writer.run(ctx, func(q querying) error { return do(q) })
}

// Alone implements [sqlstore.Database].
func (f *file) Alone(ctx context.Context, do func(sqlstore.Session) error) error {
	return f.writer.run(ctx, func(q querying) error { return do(q) })
}
