package engine

import (
	"slices"

	"github.com/freshet/freshet/feed"
)

// sourceQueues are the candidates of each source of home that are not placed, and those
// that were set aside, because the page told their story. They come where their source has
// nothing else: on the next page, as all others, and on the same page where nothing else
// is left at all. Posts by whom the reader follows do not wait for that: they come on the
// next page, whatever stories they tell, or before what other sources have.
type sourceQueues struct {
	from   []feed.Candidate
	left   queues
	aside  queues
	waited map[int32]bool // those that were set aside on an earlier page, and are not again
}

// queues has candidates by source, best first; what is promoted as it was drawn.
type queues map[feed.Source][]int32

// filler names the candidates that fill a position.
type filler struct {
	source feed.Source
	aside  bool // with what was set aside, whatever story it tells
}

func newSourceQueues(from []feed.Candidate) *sourceQueues {
	q := &sourceQueues{from, make(queues, len(homeSources)), queues{}, map[int32]bool{}}
	for i := range from {
		source := homeSource(from[i].Source)
		q.left[source] = append(q.left[source], int32(i))
	}
	for source, queue := range q.left {
		if source != feed.SourcePromoted {
			slices.SortStableFunc(queue, q.compare)
		}
	}
	return q
}

func (q *sourceQueues) compare(a, b int32) int { return compareScores(&q.from[a], &q.from[b]) }

// takeUp begins a page: sources that have nothing else go on with what was set aside.
func (q *sourceQueues) takeUp() {
	for _, c := range q.aside[feed.SourceFollowing] {
		q.waited[c] = true
		q.insert(q.left, feed.SourceFollowing, c)
	}
	delete(q.aside, feed.SourceFollowing)
	for source, aside := range q.aside {
		if len(q.left[source]) == 0 {
			q.left[source] = aside
			delete(q.aside, source)
		}
	}
}

// filler tells what fills a position of a source; false: nothing is left for it but, unless
// all is set, what was set aside.
func (q *sourceQueues) filler(right feed.Source, all bool) (filler, bool) {
	for _, s := range right.HandOver() {
		if len(q.left[s]) > 0 {
			return filler{source: s}, true
		}
		if len(q.aside[s]) > 0 && (all || s == feed.SourceFollowing) {
			return filler{s, true}, true
		}
	}
	return filler{}, false
}

func (q *sourceQueues) insert(to queues, source feed.Source, c int32) {
	at := len(to[source])
	if source != feed.SourcePromoted {
		at, _ = slices.BinarySearchFunc(to[source], c, q.compare)
	}
	to[source] = slices.Insert(to[source], at, c)
}

// drop takes a candidate out, wherever it is.
func (q *sourceQueues) drop(c int32) {
	source := homeSource(q.from[c].Source)
	for _, from := range []queues{q.left, q.aside} {
		if at := slices.Index(from[source], c); at >= 0 {
			from[source] = slices.Delete(from[source], at, at+1)
		}
	}
}

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
		t.queues.insert(t.queues.left, homeSource(t.from[c].Source), c)
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
