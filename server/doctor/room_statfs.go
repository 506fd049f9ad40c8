//go:build linux || darwin

package doctor

import "syscall"

// roomAt returns the room on the disk of a directory.
func roomAt(dir string) (room, error) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return room{}, err
	}
	size := uint64(fs.Bsize)
	return room{bytes: fs.Blocks * size, freeBytes: fs.Bavail * size, inodes: fs.Files, freeInodes: fs.Ffree}, nil
}
