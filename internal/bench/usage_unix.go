//go:build unix

package bench

import (
	"syscall"
	"time"
)

// ownCPU is the CPU time of this process, in user and kernel mode.
func ownCPU() (time.Duration, bool) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}
