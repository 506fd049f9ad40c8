//go:build !unix

package bench

import "time"

// ownCPU is not known here.
func ownCPU() (time.Duration, bool) { return 0, false }

// openFiles is not known here.
func openFiles() int { return leastFiles }
