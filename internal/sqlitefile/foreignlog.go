package sqlitefile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	lib "modernc.org/sqlite/lib"
)

// ErrForeignLog means that the write-ahead log beside a file is not its own: a copy was put over an
// older file, whose log stayed. SQLite would write the log's pages into the copy.
var ErrForeignLog = errors.New("the -wal file beside it belongs to another file, which was here before")

// walMode is the position in a file of the byte that is 2 in WAL mode.
const walMode = 18

// logHeader is the size of a write-ahead log without any page.
const logHeader = 32

// checkLog returns [ErrForeignLog] if the file at path has a log although it is not in WAL mode, as a copy
// that VACUUM INTO made. A file that is open in this process is not read: closing it again would release the
// locks that this process has on it.
func checkLog(path string) error {
	_, isOpen := opened.Load(path)
	if isOpen || !hasLog(path) {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil // SQLite says why
	}
	defer func() { _ = f.Close() }()
	header := make([]byte, walMode+1)
	if _, err := io.ReadFull(f, header); err != nil || header[walMode] != 1 {
		return nil
	}
	name := filepath.Base(path)
	return fmt.Errorf("%w. Nothing was changed: move %s-wal and %s-shm away", ErrForeignLog, name, name)
}

// hasLog reports whether the file at path has a write-ahead log with pages.
func hasLog(path string) bool {
	log, err := os.Stat(path + "-wal")
	return err == nil && log.Size() > logHeader
}

// damagedAt is the advice for a damaged file. Beside a log, another cause than the disk is likely.
func damagedAt(path string) string {
	if !hasLog(path) {
		return advice[lib.SQLITE_CORRUPT]
	}
	return advice[lib.SQLITE_CORRUPT] + "; if it was copied over an older file, copy it again without the -wal and -shm of that one"
}
