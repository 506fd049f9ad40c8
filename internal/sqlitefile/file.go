// Package sqlitefile opens the SQLite files of embedded mode, and brings their schemas up to
// date.
//
// A file is in WAL mode with synchronous=FULL: when a write returns, it is on
// the disk, and neither a killed process nor a power cut loses it. A write that
// had not returned is there whole or not at all. Beside the file SQLite keeps
// <file>-wal and <file>-shm while it is open; copy all three, or close first.
package sqlitefile

import (
	"cmp"
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
)

// File is an open file. It is safe for concurrent use.
type File struct {
	Writer  *sql.DB // one connection: SQLite has one writer at a time anyway
	Readers *sql.DB
	Scans   *sql.DB // apart from Readers: those may be asked while a scan runs
}

// busyTimeout, in milliseconds, is how long a connection waits for a lock
// another process holds, for example a backup.
const busyTimeout = "5000"

// Open opens the file at path, and makes it and its directory where they do
// not exist. An older schema is brought up to date; a newer one that this version cannot
// use is an error. Errors say what is wrong with the file. The connection that writes runs
// the pragmas.
func (s *Schema) Open(ctx context.Context, path string, pragmas ...string) (*File, error) {
	f := &File{}
	if err := f.open(ctx, s, path, pragmas); err != nil {
		return nil, errors.Join(fmt.Errorf("%s file %s: %w", s.What, path, Advised(err)), f.Close())
	}
	return f, nil
}

func (f *File) open(ctx context.Context, s *Schema, path string, pragmas []string) error {
	var err error
	// The writer makes the file, the others only find it.
	pragmas = append([]string{"synchronous(FULL)", "journal_size_limit(67108864)", "wal_autocheckpoint(4000)", "cache_size(-16000)"}, pragmas...)
	if f.Writer, err = Connect(path, "rwc", pragmas...); err != nil {
		return err
	}
	f.Writer.SetMaxOpenConns(1)
	if err := InTx(ctx, f.Writer, func(t *Tx) { t.Fail(s.Migrate(ctx, t)) }); err != nil {
		return err
	}
	if err := setLog(ctx, f.Writer); err != nil {
		return err
	}
	if f.Readers, err = Connect(path, "rw", "query_only(1)", "cache_size(-8000)"); err != nil {
		return err
	}
	n := max(4, runtime.GOMAXPROCS(0))
	f.Readers.SetMaxOpenConns(n)
	f.Readers.SetMaxIdleConns(n)
	if f.Scans, err = Connect(path, "rw", "query_only(1)"); err != nil {
		return err
	}
	f.Scans.SetMaxIdleConns(-1)
	return nil
}

// Connect returns a pool of connections to the file at path that run the pragmas
// when they open. With mode rwc it makes the file's directory where there is none,
// and the first connection the file.
func Connect(path, mode string, pragmas ...string) (*sql.DB, error) {
	refuseMoved()
	if mode == "rwc" {
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			return nil, fmt.Errorf("cannot make its directory: %w", err)
		}
	}
	q := url.Values{
		"mode":    {mode},
		"_pragma": append([]string{"busy_timeout(" + busyTimeout + ")"}, pragmas...),
	}
	if mode == "rwc" {
		q.Set("_txlock", "immediate") // of who reads, transactions take no lock to write
	}
	address, err := fileURL(path, q)
	if err != nil {
		return nil, err
	}
	return sql.Open("sqlite", address)
}

// fileURL is the address of the file at path for SQLite's driver.
func fileURL(path string, q url.Values) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	slashed := filepath.ToSlash(abs)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // a Windows drive
	}
	return (&url.URL{Scheme: "file", Path: slashed, RawQuery: q.Encode()}).String(), nil
}

// Each calls scan for each row of a query, of which err is the error, and returns the
// first error of all. It closes the rows.
func Each(rows *sql.Rows, err error, scan func(rows *sql.Rows) error) error {
	if err != nil {
		return err
	}
	for err == nil && rows.Next() {
		err = scan(rows)
	}
	return cmp.Or(err, rows.Err(), rows.Close())
}

// Close folds the write-ahead log into the file and closes it. Calls made
// after it fail.
func (f *File) Close() error {
	var errs []error
	// The writer goes last: the last connection to leave folds the log.
	for _, db := range []*sql.DB{f.Scans, f.Readers, f.Writer} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// Failed wraps an error of a call, nil for none: a context that has ended is told
// as such, everything else wraps unavailable, the sentinel of the contract.
func Failed(ctx context.Context, unavailable error, what string, err error) error {
	if err == nil {
		return nil
	}
	if cause := ctx.Err(); cause != nil {
		return fmt.Errorf("sqlite: %s: %w", what, cause)
	}
	return fmt.Errorf("%w: sqlite: %s: %w", unavailable, what, Advised(err))
}

// code is SQLite's primary result code of the error; 0 where it has none.
func code(err error) int {
	var e *sqlitedriver.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}
