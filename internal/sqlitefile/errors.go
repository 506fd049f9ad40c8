package sqlitefile

import (
	"errors"
	"fmt"

	lib "modernc.org/sqlite/lib"
)

var (
	// ErrNewerSchema says that the file has a schema this version does not
	// know. Nothing was changed.
	ErrNewerSchema = errors.New("this data was written by a newer freshet")
	// ErrNotOurs says that the file is no Freshet catalog. Nothing was
	// changed.
	ErrNotOurs = errors.New("this is not a freshet catalog")
)

// advice tells how to correct the errors that an operator can correct,
// by SQLite's primary result code.
var advice = map[int]string{
	lib.SQLITE_CANTOPEN: "the file cannot be opened; check that the path is a file and that its directory can be read and written",
	lib.SQLITE_READONLY: "the file cannot be written; check its owner and permissions and those of its directory",
	lib.SQLITE_PERM:     "the file cannot be accessed; check its owner and permissions",
	lib.SQLITE_NOTADB:   "the file is not a database; choose another data_dir or move the file away",
	lib.SQLITE_CORRUPT:  "the file is damaged; restore it from a backup, or move it away and ingest the items again",
	lib.SQLITE_FULL:     "the disk is full; free some space and try again",
	lib.SQLITE_BUSY:     "another process holds the file for too long; stop it or try again",
	lib.SQLITE_IOERR:    "the disk failed to read or write the file; check it and its free space",
}

// advised puts the advice for an error before it.
func advised(err error) error {
	if a, ok := advice[code(err)]; ok {
		return fmt.Errorf("%s (%w)", a, err)
	}
	return err
}
