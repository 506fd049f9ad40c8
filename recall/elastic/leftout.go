package elastic

import (
	"context"
	"fmt"
	"strings"

	"github.com/freshet/freshet/feed"
)

// Reasons for which a hit is unusable.
const (
	badID = iota // missing, or with characters that an id cannot have
	badGroup
	badTime // unreadable, or after the query's origin
	badScore
	reasons
)

// reasonNames are the names of the invalid fields.
var reasonNames = [reasons]string{"id", "group_id", "update_time", "score"}

// leftOut counts the unusable hits by reason.
type leftOut [reasons]int

// illegal reports whether the id or group is invalid, and counts it.
func (l *leftOut) illegal(id, group string) bool {
	switch {
	case feed.CheckItemID(id) != nil:
		l[badID]++
	case feed.CheckItemID(group) != nil:
		l[badGroup]++
	default:
		return false
	}
	return true
}

// String lists the reasons with their counts; "" if there are none.
func (l *leftOut) String() string {
	var list []string
	for i, n := range l {
		if n > 0 {
			list = append(list, fmt.Sprintf("%d with invalid %s", n, reasonNames[i]))
		}
	}
	return strings.Join(list, ", ")
}

// warnOfLeft logs the first search that leaves hits out.
func (s *Source) warnOfLeft(ctx context.Context, left *leftOut) {
	if *left == (leftOut{}) {
		return
	}
	s.left.Do(func() {
		s.log.WarnContext(ctx, "items are left out of recall because they have a missing or invalid field", "index", s.index, "items", left.String())
	})
}
