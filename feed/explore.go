package feed

// DefaultExploreShare is a new system's [Explore.Share].
const DefaultExploreShare = 0.05

// Explore says which positions go to items that their score would not bring there.
// The zero value is off, and that of a ranking that was stored before there was one.
type Explore struct {
	// Share is the part of a page's positions, 0 to 1. The first five are never
	// among them.
	Share float64
}
