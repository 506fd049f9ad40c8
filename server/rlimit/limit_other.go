//go:build !unix

package rlimit

// Limit returns the maximum number of open files of this process, or 0 if it is unknown.
func Limit() uint64 { return 0 }
