package feed

import "fmt"

// DefaultExploreShare is a new system's [Explore.Share].
const DefaultExploreShare = 0.05

// Explore says which positions go to items that their score would not bring there.
// The zero value is off, and that of a ranking that was stored before there was one.
type Explore struct {
	// Share is the part of a page's positions, 0 to 1. The first five are never
	// among them.
	Share float64
}

// Validate says what is wrong with the parameters; the error wraps
// [ErrBadRanking].
func (e Explore) Validate() error {
	if !(e.Share >= 0 && e.Share <= 1) {
		return fmt.Errorf("%w: explore.share must be 0 (off) to 1, not %v", ErrBadRanking, e.Share)
	}
	return nil
}

// exploreText is how the parameters are written in JSON.
type exploreText struct {
	Share *float64 `json:"share,omitempty"`
}

// text is nil for the zero value: a ranking from before there was one is written as
// it was.
func (e Explore) text() *exploreText {
	if e == (Explore{}) {
		return nil
	}
	return &exploreText{&e.Share}
}
