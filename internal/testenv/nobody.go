package testenv

import (
	"os"
	"path/filepath"
	"testing"
)

// OpenDir returns a temporary directory that every user may use.
func OpenDir(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	for path, mode := range map[string]os.FileMode{dir: 0o777, filepath.Dir(dir): 0o755} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
