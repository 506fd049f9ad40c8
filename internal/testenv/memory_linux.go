package testenv

import (
	"os"
	"syscall"
)

// memoryLeast is the required free space in bytes: containers often have little.
const memoryLeast = 1 << 30

// memoryDir returns a directory in memory with room for the files of tests, or "" if there is none.
func memoryDir() string {
	const dir = "/dev/shm"
	var fs syscall.Statfs_t
	if syscall.Statfs(dir, &fs) != nil || fs.Bavail*uint64(fs.Bsize) < memoryLeast {
		return ""
	}
	probe, err := os.MkdirTemp(dir, "freshet-test-")
	if err != nil {
		return ""
	}
	_ = os.Remove(probe)
	return dir
}
