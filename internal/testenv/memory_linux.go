package testenv

import (
	"os"
	"syscall"
)

// memoryLeast is how many bytes must be free: in containers there is often little.
const memoryLeast = 1 << 30

// memoryDir is a directory in memory with room for what tests write; "": there is none.
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
