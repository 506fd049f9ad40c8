//go:build unix

package bench

import (
	"syscall"
	"time"
)

// ownCPU returns the CPU time of this process, in user and kernel mode.
func ownCPU() (time.Duration, bool) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}

// openFiles returns the limit of open files of this process.
func openFiles() int {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil {
		return leastFiles
	}
	return int(min(l.Cur, 1<<30))
}
