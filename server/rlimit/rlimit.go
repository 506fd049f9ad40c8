// Package rlimit reports the limit of open files of this process.
package rlimit

// Half returns half the limit of open files of this process, but at most most, and most if the
// limit is unknown.
func Half(most int) int { return half(Limit(), most) }

func half(limit uint64, most int) int {
	if limit == 0 {
		return most
	}
	return int(min(limit/2, uint64(most)))
}
