package catalog

import (
	"context"
	"time"
)

// GroupsKept is how long the group of a removed item is known: a day longer than the window, so
// that an act of a reader who was shown the item still counts for its group.
const GroupsKept = 8 * 24 * time.Hour

// Groups knows the groups of items that were removed.
type Groups interface {
	// GroupsOf returns the groups of those of the items that were removed in the last
	// [GroupsKept] and had another group than their id, by id. Errors wrap [ErrUnavailable].
	GroupsOf(ctx context.Context, ids []string) (map[string]string, error)
}
