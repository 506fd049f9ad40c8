// Package sqlitefile opens the SQLite files of embedded mode, and brings their schemas up to date.
//
// A file is in WAL mode with synchronous=FULL: when a write returns, it is on the disk, and neither
// a killed process nor a power cut loses it. A write that had not returned is either complete or
// absent. While the file is open, SQLite also has <file>-wal and <file>-shm; copy all three, or
// close first.
package sqlitefile

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	sqlitedriver "modernc.org/sqlite"
)

// File is an open file. It is safe for concurrent use.
type File struct {
	Writer  *sql.DB // one connection: SQLite allows only one writer at a time
	Readers *sql.DB
	Scans   *sql.DB // separate, so that Readers can be used during a scan

	unobserve func()
	damage    damage
}

// busyTimeout, in milliseconds, is the time that a connection waits for a lock that another process
// holds, for example a backup.
const busyTimeout = "5000"

// Open opens the file at path, and creates it and its directory if they do not exist. It brings an
// older schema up to date; a newer one that this version cannot use is an error. Errors describe
// what is wrong with the file. The writing connection runs the pragmas.
func (s *Schema) Open(ctx context.Context, path string, pragmas ...string) (*File, error) {
	f := &File{}
	if err := f.open(ctx, s, path, pragmas); err != nil {
		return nil, errors.Join(fmt.Errorf("%s file %s: %w", s.What, path, advisedAt(path, err)), f.Close())
	}
	return f, nil
}

func (f *File) open(ctx context.Context, s *Schema, path string, pragmas []string) error {
	err := checkLog(path)
	if err != nil {
		return err
	}
	// The writer creates the file, the others only open it.
	pragmas = append([]string{"synchronous(FULL)", "journal_size_limit(67108864)", "wal_autocheckpoint(4000)", "cache_size(-16000)"}, pragmas...)
	if f.Writer, err = Connect(path, "rwc", pragmas...); err != nil {
		return err
	}
	f.Writer.SetMaxOpenConns(1)
	f.unobserve = f.observe(path)
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

// Connect returns a pool of connections to the file at path that run the pragmas when they open.
// With mode rwc it creates the file and its directory if they do not exist.
func Connect(path, mode string, pragmas ...string) (*sql.DB, error) {
	refuseMoved()
	if mode == "rwc" {
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			return nil, fmt.Errorf("cannot create its directory: %w", err)
		}
		createPrivate(path)
	}
	q := url.Values{
		"mode":    {mode},
		"_pragma": append([]string{"busy_timeout(" + busyTimeout + ")"}, pragmas...),
	}
	if mode == "rwc" {
		q.Set("_txlock", "immediate") // transactions of readers take no write lock
	}
	address, err := fileURL(path, q)
	if err != nil {
		return nil, err
	}
	return sql.Open("sqlite", address)
}

// createPrivate creates the file if it does not exist, so that only its owner can read it: SQLite
// itself would leave that to the umask. The files next to it get the same mode from SQLite. An error
// is also one that SQLite has when it opens the file. An existing file is not opened: closing it again
// would release the locks that this process has on it.
func createPrivate(path string) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_ = f.Close()
	}
}

// fileURL returns the URL of the file at path for SQLite's driver.
func fileURL(path string, q url.Values) (string, error) {
	if noTemporaryFiles() { // what would be in them is in memory then
		q.Add("_pragma", "temp_store(MEMORY)")
	}
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

// Rows yields each row of a query that returned rows and err, until the loop sets err. It closes the
// rows, and leaves the first error of all in err.
func Rows(rows *sql.Rows, err *error) iter.Seq[*sql.Rows] {
	return func(yield func(*sql.Rows) bool) {
		if *err != nil {
			return
		}
		for *err == nil && rows.Next() && yield(rows) {
		}
		*err = cmp.Or(*err, rows.Err(), rows.Close())
	}
}

// Close checkpoints the write-ahead log into the file and closes it. Later calls fail.
func (f *File) Close() error {
	var errs []error
	if f.unobserve != nil {
		f.unobserve()
	}
	// The writer is closed last: the last connection checkpoints the log.
	for _, db := range []*sql.DB{f.Scans, f.Readers, f.Writer} {
		if db != nil {
			errs = append(errs, db.Close())
		}
	}
	return errors.Join(errs...)
}

// Failed wraps an error of a call, nil for none. If ctx has ended, it returns the error of ctx;
// every other error also wraps unavailable, the sentinel of the contract.
func (f *File) Failed(ctx context.Context, unavailable error, what string, err error) error {
	if err == nil {
		return nil
	}
	f.Note(err)
	cause := ctx.Err()
	if cause != nil {
		if errors.Is(err, cause) {
			cause = err // it may say more
		}
		return fmt.Errorf("sqlite: %s: %w", what, cause)
	}
	return fmt.Errorf("%w: sqlite: %s: %w", unavailable, what, Advised(err))
}

// code returns SQLite's primary result code of the error, or 0 if it has none.
func code(err error) int {
	var e *sqlitedriver.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}
