//go:build !unix

package bench

import "time"

// ownCPU is not supported here.
func ownCPU() (time.Duration, bool) { return 0, false }

// openFiles returns a safe default here.
func openFiles() int { return leastFiles }
