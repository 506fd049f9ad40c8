package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// LockName is the name of the file in a directory that [LockDir] locks.
const LockName = "lock"

// LockDir gives this process exclusive use of the directory until the lock is closed. The kernel
// releases the lock when the process dies, for any reason.
func LockDir(dir string) (io.Closer, error) {
	lock := flock.New(filepath.Join(dir, LockName), flock.SetFlag(os.O_RDWR|os.O_CREATE), flock.SetPermissions(0o600))
	locked, err := lock.TryLock()
	switch {
	case err != nil:
		return nil, fmt.Errorf("lock the directory: %w", err)
	case !locked:
		return nil, fmt.Errorf("the directory is in use by another process; stop it, or give this one a data_dir of its own: %s", dir)
	}
	return lock, nil
}

// InspectLock returns an error if the user of this process may not open the file of the lock, as [LockDir]
// does. It changes nothing. What does not exist is no error.
func InspectLock(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, LockName), os.O_RDWR, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("lock the directory: %w", err)
	}
	return f.Close()
}
