package engine

import (
	"slices"

	"github.com/freshet/freshet/feed"
)

// twins are the candidates that promoted and another source propose both. Whichever is
// dealt first, the other one is left out: so promoting an item takes it from nobody who
// would find it anyway. Those that are due on the promoted positions of a page are held for
// them, as long as others have something left.
type twins struct {
	from  []feed.Candidate
	lanes map[feed.Source][]int32
	of    map[int32]int32 // each one's twin
	held  []int32         // of other sources
}

func newTwins(from []feed.Candidate, lanes map[feed.Source][]int32) *twins {
	t := &twins{from: from, lanes: lanes}
	if len(lanes[feed.SourcePromoted]) == 0 {
		return t
	}
	promoted := make(map[string]int32, len(lanes[feed.SourcePromoted]))
	for _, c := range lanes[feed.SourcePromoted] {
		promoted[from[c].Group] = c
	}
	t.of = map[int32]int32{}
	for i := range from {
		if p, ok := promoted[from[i].Group]; ok && p != int32(i) {
			t.of[p], t.of[int32(i)] = int32(i), p
		}
	}
	return t
}

// hold keeps the twins of the next n promoted ones from being dealt by others.
func (t *twins) hold(n int) {
	next := t.lanes[feed.SourcePromoted]
	for _, c := range next[:min(n, len(next))] {
		if twin, ok := t.of[c]; ok {
			t.drop(twin)
			t.held = append(t.held, twin)
		}
	}
}

// release gives back what is held; false: there was nothing.
func (t *twins) release() (some bool) {
	for _, c := range t.held {
		source := homeSource(t.from[c].Source)
		at, _ := slices.BinarySearchFunc(t.lanes[source], c, func(a, b int32) int { return compareScores(&t.from[a], &t.from[b]) })
		t.lanes[source] = slices.Insert(t.lanes[source], at, c)
	}
	some, t.held = len(t.held) > 0, t.held[:0]
	return some
}

// taken is told that a candidate is not there any more, and answers its twin, which is not
// either; -1 where it has none.
func (t *twins) taken(c int32) int32 {
	twin, ok := t.of[c]
	if !ok {
		return -1
	}
	delete(t.of, c)
	delete(t.of, twin)
	t.drop(twin)
	t.held = slices.DeleteFunc(t.held, func(h int32) bool { return h == twin })
	return twin
}

// drop takes a candidate out of its source's.
func (t *twins) drop(c int32) {
	source := homeSource(t.from[c].Source)
	t.lanes[source] = slices.DeleteFunc(t.lanes[source], func(other int32) bool { return other == c })
}
