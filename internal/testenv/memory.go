package testenv

import (
	"flag"
	"os"
)

// FilesInMemory makes t.TempDir create its directories in memory, if the system has enough for
// that. SQLite waits for the disk at each write, and tests write thousands of times, although their
// results do not depend on a disk. Call it in TestMain. It does nothing if TMPDIR is set, or for
// benchmarks, which measure the disk.
func FilesInMemory() {
	flag.Parse()
	if os.Getenv("TMPDIR") != "" || flag.Lookup("test.bench").Value.String() != "" {
		return
	}
	dir := memoryDir()
	if dir != "" {
		_ = os.Setenv("TMPDIR", dir) // it fails only for invalid names
	}
}
