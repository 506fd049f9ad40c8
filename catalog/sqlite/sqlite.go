// Package sqlite keeps items, profiles and the versions of the ranking in one
// SQLite file: the catalog of embedded mode.
//
// The file is in WAL mode with synchronous=FULL: when Put, Remove or
// PutProfile return, the change is on the disk, and neither a killed process
// nor a power cut loses it. A change that had not returned is there whole or
// not at all. Beside the file SQLite keeps <file>-wal and <file>-shm while it
// is open; copy all three, or close first.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	sqlitedriver "modernc.org/sqlite"

	"github.com/freshet/freshet/catalog"
)

// Catalog is a catalog in one SQLite file. It is safe for concurrent use.
type Catalog struct {
	writer  *sql.DB // one connection: SQLite has one writer at a time anyway
	readers *sql.DB
	scans   *sql.DB // apart from readers: fn may read while its scan runs

	putMany, putOne, remove      *sql.Stmt
	docs                         *sql.Stmt
	profile, putProfile, dropOne *sql.Stmt
	rankings, addRanking         *sql.Stmt
}

var (
	_ catalog.Catalog = (*Catalog)(nil)
	_ catalog.Scanner = (*Catalog)(nil)
)

// busyTimeout, in milliseconds, is how long a connection waits for a lock
// another process holds, for example a backup.
const busyTimeout = "5000"

// Open opens the file at path, and makes it and its directory where they do
// not exist. An older schema is brought up to date; a newer one is
// [ErrNewerSchema]. Other errors say what is wrong with the file.
func Open(ctx context.Context, path string) (*Catalog, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("catalog file %s: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(abs), 0o750); err != nil {
		return nil, fmt.Errorf("catalog file %s: cannot make its directory: %w", path, err)
	}
	c := &Catalog{}
	if err := c.open(ctx, abs); err != nil {
		return nil, errors.Join(explain(path, err), c.Close())
	}
	return c, nil
}

func (c *Catalog) open(ctx context.Context, path string) error {
	var err error
	// The writer makes the file, the others only find it.
	if c.writer, err = connect(path, "rwc", "synchronous(FULL)", "journal_size_limit(67108864)",
		"wal_autocheckpoint(4000)", "cache_size(-16000)"); err != nil {
		return err
	}
	c.writer.SetMaxOpenConns(1)
	if err := migrate(ctx, c.writer); err != nil {
		return err
	}
	// Only now, because it changes the file, and migrate knows it to be ours.
	var mode string
	if err := c.writer.QueryRowContext(ctx, `PRAGMA journal_mode = WAL`).Scan(&mode); err != nil {
		return err
	}
	if mode != "wal" {
		return errors.New("its file system has no shared memory, which the write-ahead log needs; choose a data_dir on a local disk")
	}
	if c.readers, err = connect(path, "rw", "query_only(1)", "cache_size(-8000)"); err != nil {
		return err
	}
	n := max(4, runtime.GOMAXPROCS(0))
	c.readers.SetMaxOpenConns(n)
	c.readers.SetMaxIdleConns(n)
	if c.scans, err = connect(path, "rw", "query_only(1)"); err != nil {
		return err
	}
	c.scans.SetMaxIdleConns(-1)
	return c.prepare(ctx)
}

// connect returns a pool whose connections run the pragmas when they open.
func connect(path, mode string, pragmas ...string) (*sql.DB, error) {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a Windows drive
	}
	q := url.Values{
		"mode":    {mode},
		"_txlock": {"immediate"},
		"_pragma": append([]string{"busy_timeout(" + busyTimeout + ")"}, pragmas...),
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: slashed, RawQuery: q.Encode()}).String())
	if err != nil {
		return nil, err
	}
	return db, nil
}

func (c *Catalog) prepare(ctx context.Context) error {
	for _, s := range []struct {
		stmt **sql.Stmt
		db   *sql.DB
		text string
	}{
		{&c.putMany, c.writer, putText(putRows)},
		{&c.putOne, c.writer, putText(1)},
		{&c.remove, c.writer, `DELETE FROM items WHERE id = ?`},
		{&c.docs, c.readers, `SELECT id, doc FROM items WHERE id IN (SELECT value FROM json_each(?))`},
		{&c.profile, c.readers, `SELECT doc FROM profiles WHERE agent = ?`},
		{&c.putProfile, c.writer, `INSERT INTO profiles (agent, doc) VALUES (?, ?)
			ON CONFLICT (agent) DO UPDATE SET doc = excluded.doc`},
		{&c.dropOne, c.writer, `DELETE FROM profiles WHERE agent = ?`},
		{&c.rankings, c.readers, `SELECT doc FROM ranking_versions WHERE version <= ? ORDER BY version DESC LIMIT ?`},
		{&c.addRanking, c.writer, `INSERT INTO ranking_versions (version, doc)
			SELECT ?1, ?2 WHERE ?1 = (SELECT ifnull(max(version), 0) + 1 FROM ranking_versions)`},
	} {
		var err error
		if *s.stmt, err = s.db.PrepareContext(ctx, s.text); err != nil {
			return err
		}
	}
	return nil
}

// Close folds the write-ahead log into the file and closes it. Calls made
// after it fail with [catalog.ErrUnavailable].
func (c *Catalog) Close() error {
	var errs []error
	// The writer goes last: the last connection to leave folds the log.
	for _, db := range []*sql.DB{c.scans, c.readers, c.writer} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// failed wraps an error of a call: a context that has ended is told as such,
// everything else is [catalog.ErrUnavailable].
func failed(ctx context.Context, what string, err error) error {
	if err == nil {
		return nil
	}
	if cause := ctx.Err(); cause != nil {
		return fmt.Errorf("sqlite: %s: %w", what, cause)
	}
	return fmt.Errorf("%w: sqlite: %s: %w", catalog.ErrUnavailable, what, reason(err))
}

// code is SQLite's primary result code of the error; 0 where it has none.
func code(err error) int {
	var e *sqlitedriver.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}
