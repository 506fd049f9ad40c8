package configs

import "strings"

// Nearest is the known key that is most like the one given. A name without a
// section is also compared with the last parts of the keys, so that "addr"
// finds server.addr.
func Nearest(key string) string {
	bare := !strings.Contains(key, delimiter)
	return nearest(func(f field) int {
		d := distance(key, f.key)
		if bare {
			d = min(d, distance(key, f.key[strings.LastIndex(f.key, delimiter)+1:]))
		}
		return d
	}).key
}

func nearest(distance func(f field) int) field {
	best := schema[0]
	for _, f := range schema[1:] {
		if distance(f) < distance(best) {
			best = f
		}
	}
	return best
}

// distance is the least number of deletions and insertions that turns a into b. Replacing counts as both, so that a key with a part left out
// (dedup.capacity) is nearer to the whole one than to another short word.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			above := row[j+1]
			if a[i] == b[j] {
				row[j+1] = diagonal
			} else {
				row[j+1] = min(above, row[j]) + 1
			}
			diagonal = above
		}
	}
	return row[len(b)]
}
