// Package openfiles tells how many files this process may have open.
package openfiles

// Half is half of the files that this process may have open, and most where that is more or
// is not known.
func Half(most int) int { return half(Limit(), most) }

func half(limit uint64, most int) int {
	if limit == 0 {
		return most
	}
	return int(min(limit/2, uint64(most)))
}
