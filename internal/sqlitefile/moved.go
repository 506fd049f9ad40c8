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

// ErrMoved says that a path does not lead to the file any more that is open.
var ErrMoved = errors.New("it was removed or replaced while it was open; what is written now would be lost: restart the server")

// Identity tells the files at some paths from others that are put there.
type Identity map[string]os.FileInfo

// Identify notes what lies at these paths.
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

// Check returns an [ErrMoved] where something else lies there now, or nothing.
func (i Identity) Check() error {
	for path, was := range i {
		if is, err := os.Stat(path); errors.Is(err, os.ErrNotExist) || err == nil && !os.SameFile(was, is) {
			return fmt.Errorf("%s: %w", filepath.Base(path), ErrMoved)
		}
	}
	return nil
}

// refuseMoved has each connection that writes commit nothing once its file was removed or
// replaced: by somebody who clears up, a backup that is put back, a volume that is mounted over
// it. SQLite goes on with the file that nobody finds any more.
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

// moved reports whether a commit was refused because the file is not there any more.
func moved(err error) bool {
	var e *sqlitedriver.Error
	return errors.As(err, &e) && e.Code() == lib.SQLITE_CONSTRAINT_COMMITHOOK
}
