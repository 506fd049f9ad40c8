//go:build unix

package openfiles

import "syscall"

// Limit is how many files this process may have open; 0: it is not known.
func Limit() uint64 {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil {
		return 0
	}
	return uint64(l.Cur) //nolint:unconvert // it is an int64 on FreeBSD
}
