package sqlitefile

import (
	"os"
	"slices"
	"sync"
)

// noTemporaryFiles reports whether SQLite can create no temporary files, as in a container with a
// read-only root. It needs some for large statements, and fails without.
var noTemporaryFiles = sync.OnceValue(func() bool { return !slices.ContainsFunc(temporaryDirs(), takesFiles) })

// temporaryDirs are the directories in which SQLite tries to create its temporary files.
func temporaryDirs() []string {
	return []string{os.Getenv("SQLITE_TMPDIR"), os.Getenv("TMPDIR"), "/var/tmp", "/usr/tmp", os.TempDir(), "."}
}

// takesFiles reports whether a file can be created in a directory; "" is none.
func takesFiles(dir string) bool {
	if dir == "" {
		return false
	}
	f, err := os.CreateTemp(dir, ".freshet-*")
	if err != nil {
		return false
	}
	_ = f.Close()
	_ = os.Remove(f.Name())
	return true
}
