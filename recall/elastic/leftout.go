package elastic

import (
	"context"
	"fmt"
	"strings"

	"github.com/freshet/freshet/feed"
)

// Why a hit cannot be used.
const (
	badID = iota // missing, or of characters an id cannot have
	badGroup
	badTime // no date that can be read, or one after the query's
	badScore
	reasons
)

// reasonNames are the fields that were wrong.
var reasonNames = [reasons]string{"id", "group_id", "update_time", "score"}

// leftOut counts the hits that cannot be used, by reason.
type leftOut [reasons]int

// illegal reports whether no item can have this id or group, and counts it.
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

// String lists the reasons with their counts; "" is none.
func (l *leftOut) String() string {
	var list []string
	for i, n := range l {
		if n > 0 {
			list = append(list, fmt.Sprintf("%d for their %s", n, reasonNames[i]))
		}
	}
	return strings.Join(list, ", ")
}

// warnOfLeft logs the first search that left something out.
func (s *Source) warnOfLeft(ctx context.Context, left *leftOut) {
	if *left == (leftOut{}) {
		return
	}
	s.left.Do(func() {
		s.log.WarnContext(ctx, "items are left out of recall because a field of theirs is missing or cannot be used", "index", s.index, "items", left.String())
	})
}
