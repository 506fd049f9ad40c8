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
	queues *sourceQueues
	of     map[int32]int32 // each one's duplicate
	held   []int32         // of other sources
}

func newDuplicates(from []feed.Candidate, queues *sourceQueues) *duplicates {
	t := &duplicates{from: from, queues: queues}
	drawn := queues.left[feed.SourcePromoted]
	if len(drawn) == 0 {
		return t
	}
	promoted := make(map[string]int32, len(drawn))
	for _, c := range drawn {
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
	next := t.queues.left[feed.SourcePromoted]
	for _, c := range next[:min(n, len(next))] {
		if duplicate, ok := t.of[c]; ok {
			t.queues.drop(duplicate)
			t.held = append(t.held, duplicate)
		}
	}
}

// release gives back what is held; false: there was nothing.
func (t *duplicates) release() (some bool) {
	for _, c := range t.held {
		t.queues.giveBack(c)
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
	t.queues.drop(duplicate)
	t.held = slices.DeleteFunc(t.held, func(h int32) bool { return h == duplicate })
	return duplicate
}
