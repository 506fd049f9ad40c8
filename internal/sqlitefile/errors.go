package sqlitefile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	lib "modernc.org/sqlite/lib"
)

// advice describes how to fix the errors that an operator can fix, by SQLite's primary result code.
var advice = map[int]string{
	lib.SQLITE_CANTOPEN: "the file cannot be opened; check that the path is a file and that its directory can be read and written",
	lib.SQLITE_READONLY: "the file cannot be written; check its owner and permissions and those of its directory",
	lib.SQLITE_PERM:     "the file cannot be accessed; check its owner and permissions",
	lib.SQLITE_NOTADB:   "the file is not a database; choose another data_dir or move the file away",
	lib.SQLITE_CORRUPT:  "the file is damaged; restore it from a backup, or move it away to start with an empty one",
	lib.SQLITE_FULL:     "the disk is full; free some space and try again",
	lib.SQLITE_BUSY:     "another process has locked the file for too long; stop it or try again",
	lib.SQLITE_IOERR:    "the disk failed to read or write the file; check it and its free space",
}

// Advised prefixes an error with the advice for it.
func Advised(err error) error {
	if moved(err) {
		return fmt.Errorf("%s (%w)", adviceMoved, err)
	}
	if a, ok := advice[code(err)]; ok {
		return fmt.Errorf("%s (%w)", a, err)
	}
	return err
}

// advisedAt is [Advised] for the file at path. If this user may not use the file, or one next to it, the
// error names that file and wraps [fs.ErrPermission]: SQLite says only that something cannot be opened.
func advisedAt(path string, err error) error {
	switch code(err) {
	case lib.SQLITE_CANTOPEN, lib.SQLITE_READONLY, lib.SQLITE_PERM:
		for _, suffix := range []string{"", "-wal", "-shm"} {
			f, denied := os.OpenFile(path+suffix, os.O_RDWR, 0)
			if denied == nil {
				denied = f.Close()
			}
			if errors.Is(denied, fs.ErrPermission) {
				return fmt.Errorf("%s: %w; give data_dir, with all in it, to the user of the server (%w)", advice[code(err)], denied, err)
			}
		}
		full := createBeside(path)
		if full != nil {
			return fmt.Errorf("no file can be created beside it: %w; free space (df) or inodes (df -i) on its disk (%w)", full, err)
		}
	case lib.SQLITE_CORRUPT:
		return fmt.Errorf("%s (%w)", damagedAt(path), err)
	}
	return Advised(err)
}

// createBeside creates a file in the directory of path, and removes it again. It returns an error if the
// disk, or the user's quota, has no room for one.
func createBeside(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".space-*")
	if err == nil {
		err = errors.Join(os.Remove(f.Name()), f.Close())
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return err
	}
	return nil
}

// Refused reports whether SQLite rejected a value: it violates a constraint, or is too large or of
// a wrong type.
func Refused(err error) bool {
	if moved(err) {
		return false
	}
	switch code(err) {
	case lib.SQLITE_CONSTRAINT, lib.SQLITE_TOOBIG, lib.SQLITE_MISMATCH, lib.SQLITE_RANGE:
		return true
	}
	return false
}
