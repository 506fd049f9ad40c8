package elastic

import (
	"context"
	"fmt"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

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

// reasonNames are the values of the label reason.
var reasonNames = [reasons]string{"id", "group_id", "update_time", "score"}

var leftOutHits = func() (counters [reasons]prometheus.Counter) {
	all := promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "freshet_recall_elastic_illegal_total",
		Help: "Hits left out because a field of theirs cannot be used; the reason is its name: id, group_id, update_time or score.",
	}, []string{"reason"})
	for i, name := range reasonNames {
		counters[i] = all.WithLabelValues(name)
	}
	return counters
}()

// leftOut counts the hits that cannot be used, by reason.
type leftOut [reasons]int

// illegal counts an id or a group that no item can have, and reports whether it is
// one.
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

// countLeft counts what a search left out, and logs the first that did.
func (s *Source) countLeft(ctx context.Context, left *leftOut) {
	if *left == (leftOut{}) {
		return
	}
	for i, n := range left {
		leftOutHits[i].Add(float64(n))
	}
	s.left.Do(func() {
		s.log.WarnContext(ctx, "items are left out of recall because a field of theirs is missing or cannot be used", "index", s.index, "items", left.String())
	})
}
