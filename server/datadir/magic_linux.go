package datadir

import "syscall"

// magicOf returns the number by which Linux knows the kind of a directory's file system.
func magicOf(dir string) (uint32, error) {
	var fs syscall.Statfs_t
	err := syscall.Statfs(dir, &fs)
	return uint32(fs.Type), err //nolint:gosec // the numbers have 32 bits
}
