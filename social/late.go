package social

import "time"

// A post is late if it arrives at the store more than LateAfter after its date, as posts of other
// systems do, and those of a server whose clock is behind. What is older than LateMost when it
// arrives is history, such as an import, and is news to nobody.
const (
	LateAfter = time.Minute
	LateMost  = 24 * time.Hour
)

// LatePost is a post that has arrived late.
type LatePost struct {
	Entry
	Arrived int64 // stamp of its arrival, by the store's clock
}

// isLate reports whether a post is late that arrived at a stamp.
func isLate(createdAt, arrived int64) bool {
	lag := time.Duration(arrived/1e6-createdAt) * time.Second
	return arrived > 0 && lag > LateAfter && lag <= LateMost
}

// Late reports whether the post of the card has arrived late.
func (c *Card) Late() bool { return isLate(c.CreatedAt, c.Arrived) }
