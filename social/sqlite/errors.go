package sqlite

import (
	"errors"
	"fmt"

	sqlitedriver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

var (
	// ErrNewerSchema says that the file has a schema this version does not
	// know. Nothing was changed.
	ErrNewerSchema = errors.New("this data was written by a newer freshet")
	// ErrNotOurs says that the file is no social store of Freshet. Nothing was
	// changed.
	ErrNotOurs = errors.New("this is not a freshet social store")
)

// advice tells how to correct the errors that an operator can correct,
// by SQLite's primary result code.
var advice = map[int]string{
	lib.SQLITE_CANTOPEN: "the file cannot be opened; check that the path is a file and that its directory can be read and written",
	lib.SQLITE_READONLY: "the file cannot be written; check its owner and permissions and those of its directory",
	lib.SQLITE_PERM:     "the file cannot be accessed; check its owner and permissions",
	lib.SQLITE_NOTADB:   "the file is not a database; choose another data_dir or move the file away",
	lib.SQLITE_CORRUPT:  "the file is damaged; restore it from a backup",
	lib.SQLITE_FULL:     "the disk is full; free some space and try again",
	lib.SQLITE_BUSY:     "another process holds the file for too long; stop it or try again",
	lib.SQLITE_IOERR:    "the disk failed to read or write the file; check it and its free space",
}

// reason puts the advice for an error before it.
func reason(err error) error {
	var e *sqlitedriver.Error
	if errors.As(err, &e) {
		if a, ok := advice[e.Code()&0xff]; ok {
			return fmt.Errorf("%s (%w)", a, err)
		}
	}
	return err
}

func contractError(path string, err error) error {
	return fmt.Errorf("social file %s: %w", path, reason(err))
}
