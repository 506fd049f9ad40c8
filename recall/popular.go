package recall

import "context"

// Span is a part of time, in Unix seconds: after After, and not after Until.
type Span struct{ After, Until int64 }

// PopularItem is an item with what readers think of it.
type PopularItem struct {
	ID         string
	Group      string // never empty
	UpdateTime int64  // Unix seconds
	// Reactions is its likes + 2·comments, as they were uploaded or, of a post, given
	// here. In an index of somebody else's it is the value of the popularity field.
	Reactions float64
}

// Popular lists the items that readers react to most.
//
// Popular returns, for each of the spans, the n items dated in it that have the most
// reactions, most first; of equal ones the newer, then the lower id. Items without
// reactions are not listed. Fewer than n are all that there are. Whether posts are
// among them that a reader may not see is for who shows them to ask.
//
// Errors wrap [ErrUnavailable] or are the context's. Popular is safe for concurrent
// use.
type Popular interface {
	Popular(ctx context.Context, spans []Span, n int) ([][]PopularItem, error)
}
