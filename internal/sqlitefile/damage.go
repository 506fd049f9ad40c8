package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	lib "modernc.org/sqlite/lib"
)

// damagedFor is how long [Damaged] reports a call that found a file damaged. Calls that read other pages
// succeed, so a success proves nothing.
const damagedFor = 2 * time.Minute

// damage is when a call last found that the file is damaged, in nanoseconds since 1970; 0 means never.
type damage struct{ at atomic.Int64 }

// opened has each open [File] by its path.
var opened sync.Map

// Note remembers an error of a call if it says that the file is damaged. [File.Failed] does so.
func (f *File) Note(err error) {
	switch code(err) {
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		f.damage.at.Store(time.Now().UnixNano())
	}
}

// Damaged returns an error that names the open files at these paths that a call of the last two minutes
// has found damaged, or nil.
func Damaged(paths []string) error {
	var errs []error
	for _, path := range paths {
		f, ok := opened.Load(path)
		if !ok {
			continue
		}
		at := f.(*File).damage.at.Load()
		if at != 0 && time.Since(time.Unix(0, at)) <= damagedFor {
			errs = append(errs, fmt.Errorf("%s: %s", filepath.Base(path), advice[lib.SQLITE_CORRUPT]))
		}
	}
	return errors.Join(errs...)
}

// Verify reads the whole file at path, and returns an error if it is damaged. It changes nothing, even
// while a server has the file open, and takes some seconds for a gigabyte.
func (s *Schema) Verify(ctx context.Context, path string) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s file %s: %w", s.What, path, advisedAt(path, err))
		}
	}()
	address, err := readOnlyURL(path)
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", address)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var found string
	if err := db.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&found); err != nil {
		return err
	}
	if found != "ok" {
		return fmt.Errorf("%s (%s)", damagedAt(path), found)
	}
	return nil
}
