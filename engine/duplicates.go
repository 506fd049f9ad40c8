package engine

import (
	"slices"

	"github.com/freshet/freshet/feed"
)

// duplicates are the candidates that promoted and another source propose both. Whichever is
// placed first, the other one is left out: so promoting an item takes it from nobody who
// would find it anyway. Those that are due on the promoted positions of a page are held for
// them, as long as others have something left.
type duplicates struct {
	from   []feed.Candidate
	queues map[feed.Source][]int32
	of     map[int32]int32 // each one's duplicate
	held   []int32         // of other sources
}

func newDuplicates(from []feed.Candidate, queues map[feed.Source][]int32) *duplicates {
	t := &duplicates{from: from, queues: queues}
	if len(queues[feed.SourcePromoted]) == 0 {
		return t
	}
	promoted := make(map[string]int32, len(queues[feed.SourcePromoted]))
	for _, c := range queues[feed.SourcePromoted] {
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

// hold keeps the duplicates of the next n promoted ones from being placed by others.
func (t *duplicates) hold(n int) {
	next := t.queues[feed.SourcePromoted]
	for _, c := range next[:min(n, len(next))] {
		if duplicate, ok := t.of[c]; ok {
			t.drop(duplicate)
			t.held = append(t.held, duplicate)
		}
	}
}

// release gives back what is held; false: there was nothing.
func (t *duplicates) release() (some bool) {
	for _, c := range t.held {
		source := homeSource(t.from[c].Source)
		at, _ := slices.BinarySearchFunc(t.queues[source], c, func(a, b int32) int { return compareScores(&t.from[a], &t.from[b]) })
		t.queues[source] = slices.Insert(t.queues[source], at, c)
	}
	some, t.held = len(t.held) > 0, t.held[:0]
	return some
}

// taken is told that a candidate is not there any more, and answers its duplicate, which is not
// either; -1 where it has none.
func (t *duplicates) taken(c int32) int32 {
	duplicate, ok := t.of[c]
	if !ok {
		return -1
	}
	delete(t.of, c)
	delete(t.of, duplicate)
	t.drop(duplicate)
	t.held = slices.DeleteFunc(t.held, func(h int32) bool { return h == duplicate })
	return duplicate
}

// drop takes a candidate out of its source's.
func (t *duplicates) drop(c int32) {
	source := homeSource(t.from[c].Source)
	t.queues[source] = slices.DeleteFunc(t.queues[source], func(other int32) bool { return other == c })
}
