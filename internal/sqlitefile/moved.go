package sqlitefile

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"

	sqlitedriver "modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// adviceMoved is the advice for an open file that was removed or replaced.
const adviceMoved = "it was removed or replaced while it was open; further writes would be lost: restart the server"

// Identity identifies the files at some paths, to detect whether they are replaced.
type Identity map[string]os.FileInfo

// Identify returns the identity of the files at these paths. A path without a file is an error.
func Identify(paths ...string) (Identity, error) {
	found := Identity{}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return nil, err
		}
		found[path] = info
	}
	return found, nil
}

// Check returns an error with the name of the first path found whose file was replaced or removed.
func (i Identity) Check() error {
	for path, was := range i {
		if is, err := os.Stat(path); errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(was, is) {
			return fmt.Errorf("%s: %s", filepath.Base(path), adviceMoved)
		}
	}
	return nil
}

// refuseMoved makes writing connections refuse to commit once their file was removed or replaced:
// by a cleanup, a restored backup, or a volume mounted over it. SQLite itself would continue to
// write to a file that no path refers to.
var refuseMoved = sync.OnceFunc(func() {
	sqlitedriver.RegisterConnectionHook(func(conn sqlitedriver.ExecQuerierContext, dsn string) error {
		address, err := url.Parse(dsn)
		hooks, ok := conn.(sqlitedriver.HookRegisterer)
		if err != nil || !ok || address.Query().Get("mode") != "rwc" {
			return nil
		}
		file, err := Identify(filepath.FromSlash(address.Path))
		if err != nil {
			return err
		}
		hooks.RegisterCommitHook(func() int32 {
			if file.Check() != nil {
				return 1
			}
			return 0
		})
		return nil
	})
})

// moved reports whether a commit was refused because the file was removed or replaced.
func moved(err error) bool {
	var e *sqlitedriver.Error
	return errors.As(err, &e) && e.Code() == lib.SQLITE_CONSTRAINT_COMMITHOOK
}
