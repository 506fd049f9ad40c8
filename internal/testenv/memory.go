package testenv

import (
	"flag"
	"os"
)

// FilesInMemory has t.TempDir make its directories in memory, where the system has
// room for that. SQLite waits for the disk at each write, and tests write thousands of
// times: what they prove needs no disk. Call it in TestMain. A TMPDIR of the
// environment goes before it, and benchmarks measure the disk.
func FilesInMemory() {
	flag.Parse()
	if os.Getenv("TMPDIR") != "" || flag.Lookup("test.bench").Value.String() != "" {
		return
	}
	if dir := memoryDir(); dir != "" {
		_ = os.Setenv("TMPDIR", dir) // it fails for names only that no variable has
	}
}
