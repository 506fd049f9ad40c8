package engine

import (
	"cmp"
	"slices"

	"github.com/freshet/freshet/feed"
)

// homeSources are the sources of home. The first gets what several of them propose.
var homeSources = [...]feed.Source{feed.SourcePromoted, feed.SourceFollowing, feed.SourceTrending, feed.SourceDiscovery}

// blend places the candidates of home on positions. Each source ranks its own: scores of
// different sources are never compared. A position goes to the source that the pattern
// names, or to the first one it hands on to that has something left, and takes of it what
// [pageBuilder.best] takes, so authors, sites and tags take turns over all sources, and no page
// tells a story twice. What is promoted comes as it was drawn: by weights, not by scores. What
// another source proposes, too, is promoted where a position of the page is due to it, else
// that source's. What tells a story of the page is set aside; see [sourceQueues]. It fills at
// most the given number of positions.
func (b *pageBuilder) blend(from []feed.Candidate, pattern feed.Pattern, by feed.Diversity, size, most int) []feed.Ref {
	b.prepare(from, by)
	queues := newSourceQueues(from)
	ranked := make([]feed.Ref, 0, min(len(from), most))
	for page := 1; len(b.order) < most; page++ {
		b.beginPage()
		queues.takeUp()
		queues.hold(promotedPositions(pattern, len(b.order), max(1, size)))
		for len(b.page) < max(1, size) && len(b.order) < most {
			right := pattern.At(len(b.order))
			f, some := queues.filler(right, false)
			if !some {
				if queues.release() {
					continue
				}
				if f, some = queues.filler(right, true); !some {
					break
				}
				if b.proper < 0 {
					b.proper = len(b.order)
				}
			}
			c, placed := b.takeFrom(queues, f, page)
			if !placed {
				continue
			}
			b.leaveOut(queues.taken(c), c)
			if b.places != nil {
				b.places[c].right = right
			}
			ranked = append(ranked, feed.Ref{ID: from[c].ID, Group: from[c].Group, Source: f.source})
		}
		queues.release()
		if len(b.page) == 0 {
			break
		}
	}
	if b.proper < 0 {
		b.proper = len(b.order)
	}
	return ranked
}

// promotedPositions counts those of n positions that are promoted's.
func promotedPositions(pattern feed.Pattern, from, n int) (count int) {
	for i := range n {
		if pattern.At(from+i) == feed.SourcePromoted {
			count++
		}
	}
	return count
}

// leaveOut leaves out a candidate whose duplicate is placed; -1 is none.
func (b *pageBuilder) leaveOut(duplicate, instead int32) {
	if duplicate < 0 {
		return
	}
	if b.places != nil {
		b.places[duplicate] = place{same: instead}
	}
	b.leave(duplicate, false)
}

// homeSource is the source of home with that name.
func homeSource(name string) feed.Source {
	for _, s := range homeSources {
		if s.String() == name {
			return s
		}
	}
	return feed.SourceDiscovery
}

// compareScores orders as recall does: by score, then the newer one, then by id.
func compareScores(a, b *feed.Candidate) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.UpdateTime, a.UpdateTime), cmp.Compare(a.ID, b.ID))
}

// takeFrom takes the best of a source for the next position; false: it was set aside.
func (b *pageBuilder) takeFrom(queues *sourceQueues, f filler, page int) (c int32, placed bool) {
	queue := queues.left
	if f.aside {
		queue = queues.aside
	}
	b.rest = queue[f.source]
	at := 0
	if f.source != feed.SourcePromoted {
		at = b.best()
	}
	c = b.takeOut(at)
	queue[f.source] = b.rest
	same := b.sameStory(c)
	if same >= 0 && !f.aside && !queues.waited[c] {
		b.setAside(c, same)
		queues.insert(queues.aside, f.source, c)
		return c, false
	}
	b.put(c, page, same, f.source)
	return c, true
}

// sourcesOf counts the candidates of each source.
func sourcesOf(candidates []feed.Candidate) map[feed.Source]int {
	n := make(map[feed.Source]int, len(homeSources))
	for i := range candidates {
		n[homeSource(candidates[i].Source)]++
	}
	return n
}

// sourceQueues are the candidates of each source of home that are not placed, and those
// that were set aside, because the page told their story. They come where their source has
// nothing else: on the next page, as all others, and on the same page where nothing else
// is left at all. Posts by whom the reader follows do not wait for that: they come on the
// next page, whatever stories they tell, or before what other sources have.
//
// Of what promoted and another source propose both, whichever is placed first, the other one
// is left out: so promoting an item takes it from nobody who would find it anyway. Those that
// are due on the promoted positions of a page are held for them, as long as others have
// something left.
type sourceQueues struct {
	from       []feed.Candidate
	left       queues
	aside      queues
	waited     map[int32]bool  // those that were set aside on an earlier page, and are not again
	duplicates map[int32]int32 // each one's that two sources propose
	held       []int32         // of other sources than promoted
}

// queues has candidates by source, best first; what is promoted as it was drawn.
type queues map[feed.Source][]int32

// filler names the candidates that fill a position.
type filler struct {
	source feed.Source
	aside  bool // with what was set aside, whatever story it tells
}

func newSourceQueues(from []feed.Candidate) *sourceQueues {
	q := &sourceQueues{from: from, left: make(queues, len(homeSources)), aside: queues{}, waited: map[int32]bool{}}
	for i := range from {
		source := homeSource(from[i].Source)
		q.left[source] = append(q.left[source], int32(i))
	}
	for source, queue := range q.left {
		if source != feed.SourcePromoted {
			slices.SortStableFunc(queue, q.compare)
		}
	}
	if drawn := q.left[feed.SourcePromoted]; len(drawn) > 0 {
		promoted := make(map[string]int32, len(drawn))
		for _, c := range drawn {
			promoted[from[c].Group] = c
		}
		q.duplicates = map[int32]int32{}
		for i := range from {
			if p, ok := promoted[from[i].Group]; ok && p != int32(i) {
				q.duplicates[p], q.duplicates[int32(i)] = int32(i), p
			}
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

// filler tells what fills a position of a source, with all also what was set aside.
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

// hold keeps the duplicates of the next n promoted ones from being placed by others.
func (q *sourceQueues) hold(n int) {
	next := q.left[feed.SourcePromoted]
	for _, c := range next[:min(n, len(next))] {
		if duplicate, ok := q.duplicates[c]; ok {
			q.drop(duplicate)
			q.held = append(q.held, duplicate)
		}
	}
}

// release gives back what is held; false: there was nothing.
func (q *sourceQueues) release() (some bool) {
	for _, c := range q.held {
		q.insert(q.left, homeSource(q.from[c].Source), c)
	}
	some, q.held = len(q.held) > 0, q.held[:0]
	return some
}

// taken takes the duplicate of a placed candidate out, and answers it; -1: it has none.
func (q *sourceQueues) taken(c int32) int32 {
	duplicate, ok := q.duplicates[c]
	if !ok {
		return -1
	}
	delete(q.duplicates, c)
	delete(q.duplicates, duplicate)
	q.drop(duplicate)
	q.held = slices.DeleteFunc(q.held, func(h int32) bool { return h == duplicate })
	return duplicate
}
