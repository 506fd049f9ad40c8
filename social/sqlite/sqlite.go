// Package sqlite implements the social store and its queue in one SQLite file: both contracts in
// embedded mode.
//
// The file is in WAL mode with synchronous=FULL: when a write returns, it is on the disk, and
// neither a killed process nor a power cut loses it. A write that had not returned is stored
// completely, with its jobs, or not at all. Deleted data is overwritten in the file
// (secure_delete). While the file is open, SQLite also uses <file>-wal and <file>-shm; copy all
// three, or close first.
package sqlite

import (
	"context"
	"errors"
	"fmt"

	_ "modernc.org/sqlite" // the driver

	"github.com/freshet/freshet/internal/sqlitefile"
	"github.com/freshet/freshet/social"
	"github.com/freshet/freshet/social/jobs"
	"github.com/freshet/freshet/social/sqlstore"
)

// memoReaders bounds the readers whose relations are in memory.
const memoReaders = 500

// FileName is the name of the file in the data directory.
const FileName = "social.db"

// Store is a social store and its queue in one file. It is safe for concurrent use.
type Store struct {
	*sqlstore.Store
	file *file
	memo *sqlstore.Memo
}

var (
	_ social.Store = (*Store)(nil)
	_ jobs.Queue   = (*Store)(nil)
)

// file is the [sqlstore.Database]: one connection for writes, and some for reads.
type file struct {
	*sqlitefile.File
	*writer
	*readers
}

// Read implements [sqlstore.Database].
func (f *file) Read(ctx context.Context, do func(sqlstore.Session) error) error {
	return f.noted(f.readers.Read(ctx, do))
}

// Snapshot implements [sqlstore.Database].
func (f *file) Snapshot(ctx context.Context, do func(sqlstore.Session) error) error {
	return f.noted(f.readers.Snapshot(ctx, do))
}

// Alone implements [sqlstore.Database].
func (f *file) Alone(ctx context.Context, do func(sqlstore.Session) error) error {
	return f.noted(f.writer.Alone(ctx, do))
}

// Write implements [sqlstore.Database].
func (f *file) Write(ctx context.Context, do func(sqlstore.Writing) error) error {
	return f.noted(f.writer.Write(ctx, do))
}

func (f *file) noted(err error) error {
	f.Note(err)
	return err
}

// Open opens the file at path, as [sqlitefile.Schema.Open] does.
func Open(ctx context.Context, path string, opts social.Options) (*Store, error) {
	db, err := Schema.Open(ctx, path, "secure_delete(1)", "cache_size(-32000)")
	if err != nil {
		return nil, err
	}
	opts = opts.WithDefaults()
	if opts.QueueClock == nil {
		opts.QueueClock = opts.Clock
	}
	f := &file{File: db, readers: newReaders(db.Readers)}
	s := &Store{Store: sqlstore.New(f, &dialect, opts), file: f}
	s.memo = sqlstore.NewMemo(s.Store, memoReaders, nil)
	if f.writer, err = newWriter(ctx, db.Writer, s.memo); err != nil {
		return nil, errors.Join(fmt.Errorf("%s file %s: %w", Schema.What, path, sqlitefile.Advised(err)), db.Close())
	}
	return s, nil
}

// Close waits for the write in progress, checkpoints the write-ahead log and closes the file. Later
// calls fail with [social.ErrUnavailable].
func (s *Store) Close() error { return errors.Join(s.file.close(), s.file.Close()) }

// Cards implements [social.Cards] from memory, and reads missing data.
func (s *Store) Cards(ctx context.Context, reader string, posts []social.PostVersion) ([]social.Card, error) {
	return s.memo.Cards(ctx, reader, posts)
}

// Celebrities implements [social.Authors] from memory, and reads missing data.
func (s *Store) Celebrities(ctx context.Context, reader string) (social.Pulled, error) {
	return s.memo.Celebrities(ctx, reader)
}
