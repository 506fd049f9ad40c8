package timeline

import (
	"cmp"
	"strings"
)

// Position is the place of a post in every timeline, and all that a list keeps
// of a post. Timelines are in descending order of positions: by time, and within
// one second by the bytes of the id.
type Position struct {
	At int64  // when the post was created, Unix seconds; within ±2^53
	ID string // the post's id, in the alphabet of item ids; a post keeps its position for good
}

// IsZero reports whether p is no position: the top of a timeline where a page
// begins below it, and no floor where one is named.
func (p Position) IsZero() bool { return p == Position{} }

// Compare is positive where p is newer than q, negative where it is older.
func (p Position) Compare(q Position) int {
	return cmp.Or(cmp.Compare(p.At, q.At), strings.Compare(p.ID, q.ID))
}

// Above reports whether p is newer than the floor of a list, which everything is
// where there is none.
func (p Position) Above(floor Position) bool {
	return floor.IsZero() || p.Compare(floor) > 0
}
