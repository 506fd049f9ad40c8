package journal

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// LockName is the file in a directory that [LockDir] locks.
const LockName = "lock"

// errLocked is wrapped by the error of locking a directory that another
// process uses.
var errLocked = errors.New("the directory is in use by another process; stop it, or give this one a data_dir of its own")

// LockDir makes this process the only user of the directory until the lock is closed. The
// kernel drops it with the process, however that dies.
func LockDir(dir string) (io.Closer, error) {
	lock := flock.New(filepath.Join(dir, LockName), flock.SetFlag(os.O_RDWR|os.O_CREATE), flock.SetPermissions(0o600))
	switch locked, err := lock.TryLock(); {
	case err != nil:
		return nil, fmt.Errorf("lock the directory: %w", err)
	case !locked:
		return nil, fmt.Errorf("%w: %s", errLocked, dir)
	}
	return lock, nil
}
