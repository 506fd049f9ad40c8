package journal

import "errors"

// LockName is the file in a directory that [LockDir] locks.
const LockName = "lock"

// errLocked is wrapped by the error of locking a directory that another
// process uses.
var errLocked = errors.New("the directory is in use by another process; stop it, or give this one a data_dir of its own")
