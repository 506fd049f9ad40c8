//go:build unix

package rlimit

import "syscall"

// Limit returns the maximum number of open files of this process, or 0 if it is unknown.
func Limit() uint64 {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil {
		return 0
	}
	return uint64(l.Cur) //nolint:unconvert // it is an int64 on FreeBSD
}
