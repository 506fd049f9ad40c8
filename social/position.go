package social

import (
	"cmp"
	"strings"
)

// Position is a post's place in a timeline. Timelines run from the greatest
// position down: by time, at equal times by the bytes of the id.
//
// As a bound, the zero Position stands for none: "below" it is everything.
type Position struct {
	At int64 // Unix seconds
	ID string
}

// Compare is negative where p is older than o, positive where it is newer.
func (p Position) Compare(o Position) int {
	return cmp.Or(cmp.Compare(p.At, o.At), strings.Compare(p.ID, o.ID))
}

// Zero reports whether the position bounds nothing.
func (p Position) Zero() bool { return p == Position{} }

// Below reports whether p is older than the bound.
func (p Position) Below(bound Position) bool { return bound.Zero() || p.Compare(bound) < 0 }

// Above reports whether p is newer than the floor of a list, which everything is where there
// is none.
func (p Position) Above(floor Position) bool { return floor.Zero() || p.Compare(floor) > 0 }

// Entry is a post as a list proposes it.
type Entry struct {
	Position
	Author string
}
