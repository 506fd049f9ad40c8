package arrange

import (
	"cmp"
	"slices"

	"github.com/freshet/freshet/feed"
)

// HomeSources lists the sources of home. An item that several of them propose goes to the first
// one.
var HomeSources = [...]feed.Source{feed.SourcePromoted, feed.SourceFollowing, feed.SourceTrending, feed.SourceDiscovery}

// Blend assigns the candidates of home to positions. Each source ranks its own candidates; scores
// of different sources are never compared. A position goes to the source that the pattern names
// or, if that has nothing left, to the first of its fallbacks that has. [Builder.best]
// chooses the candidate, so authors, sites and tags vary across all sources, and no page repeats
// a story. Promoted items keep the order in which they were drawn: by weight, not by score. If
// another source proposes a promoted item too, it counts as promoted when a promoted position of
// the page is due to it, otherwise as the other source's. A candidate that repeats a story of the
// page is set aside; see [sourceQueues]. blend fills at most most positions.
func (b *Builder) Blend(from []feed.Candidate, pattern feed.Pattern, by feed.Diversity, size, most int) []feed.Ref {
	b.prepare(from, by)
	queues := newSourceQueues(from)
	ranked := make([]feed.Ref, 0, min(len(from), most))
	for page := 1; len(b.order) < most; page++ {
		b.beginPage()
		queues.resume()
		queues.reserve(promotedPositions(pattern, len(b.order), max(1, size)))
		for len(b.page) < max(1, size) && len(b.order) < most {
			right := pattern.At(len(b.order))
			f, some := queues.filler(right, false)
			if !some {
				if queues.release() {
					continue
				}
				f, some = queues.filler(right, true)
				if !some {
					break
				}
				if b.regular < 0 {
					b.regular = len(b.order)
				}
			}
			c, placed := b.placeFrom(queues, f, page)
			if !placed {
				continue
			}
			b.leaveOut(queues.removeDuplicate(c), c)
			if b.places != nil {
				b.places[c].Wanted = right
			}
			ranked = append(ranked, feed.Ref{ID: from[c].ID, Group: from[c].Group, Source: f.source})
		}
		queues.release()
		if len(b.page) == 0 {
			break
		}
	}
	if b.regular < 0 {
		b.regular = len(b.order)
	}
	return ranked
}

// promotedPositions returns how many of n positions of the pattern, starting at from, are
// promoted.
func promotedPositions(pattern feed.Pattern, from, n int) (count int) {
	for i := range n {
		if pattern.At(from+i) == feed.SourcePromoted {
			count++
		}
	}
	return count
}

// leaveOut drops a candidate whose duplicate was placed; -1 means there is none.
func (b *Builder) leaveOut(duplicate, instead int32) {
	if duplicate < 0 {
		return
	}
	if b.places != nil {
		b.places[duplicate] = Place{Same: instead}
	}
	b.leave(duplicate, false)
}

// HomeSource returns the source of home with that name, discovery by default.
func HomeSource(name string) feed.Source {
	for _, s := range HomeSources {
		if s.String() == name {
			return s
		}
	}
	return feed.SourceDiscovery
}

// CompareScores orders candidates as recall does: by score, then newest first, then by id.
func CompareScores(a, b *feed.Candidate) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.UpdateTime, a.UpdateTime), cmp.Compare(a.ID, b.ID))
}

// placeFrom places the best candidate of a source at the next position. It returns false if the
// candidate was set aside.
func (b *Builder) placeFrom(queues *sourceQueues, f filler, page int) (c int32, placed bool) {
	queue := queues.left
	if f.aside {
		queue = queues.aside
	}
	b.rest = queue[f.source]
	at := 0
	if f.source != feed.SourcePromoted {
		at = b.best()
	}
	c = b.remove(at)
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

// CountSources counts the candidates of each source.
func CountSources(candidates []feed.Candidate) map[feed.Source]int {
	n := make(map[feed.Source]int, len(HomeSources))
	for i := range candidates {
		n[HomeSource(candidates[i].Source)]++
	}
	return n
}

// sourceQueues holds the unplaced candidates of each source of home, and those set aside because
// the page already had their story. A source resumes those set aside when it has nothing else: on
// the next page, or on the same page once no source has anything else. Posts of followed authors
// do not wait that long: they are placed on the next page regardless of their story, or on the
// same page before it falls back to other sources.
//
// If promoted and another source propose the same item, the one placed first drops the other.
// Promoting an item thus takes it from no reader who would find it anyway. Duplicates due on the
// promoted positions of a page are held for them, as long as other candidates are left.
type sourceQueues struct {
	from       []feed.Candidate
	left       queues
	aside      queues
	waited     map[int32]bool  // set aside on an earlier page, and not set aside again
	duplicates map[int32]int32 // the duplicate of each item that promoted and another source propose
	reserved   []int32         // duplicates reserved for promoted positions
}

// queues holds candidates by source, best first; promoted ones in the order drawn.
type queues map[feed.Source][]int32

// filler identifies the queue that fills a position.
type filler struct {
	source feed.Source
	aside  bool // from the candidates set aside, regardless of their story
}

func newSourceQueues(from []feed.Candidate) *sourceQueues {
	q := &sourceQueues{from: from, left: make(queues, len(HomeSources)), aside: queues{}, waited: map[int32]bool{}}
	for i := range from {
		source := HomeSource(from[i].Source)
		q.left[source] = append(q.left[source], int32(i))
	}
	for source, queue := range q.left {
		if source != feed.SourcePromoted {
			slices.SortStableFunc(queue, q.compare)
		}
	}
	drawn := q.left[feed.SourcePromoted]
	if len(drawn) > 0 {
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

func (q *sourceQueues) compare(a, b int32) int { return CompareScores(&q.from[a], &q.from[b]) }

// resume starts a page: following always resumes its candidates set aside, other sources if they
// have nothing else.
func (q *sourceQueues) resume() {
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

// filler returns the queue that fills a position of a source. With all it includes candidates set
// aside.
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

// drop removes a candidate from all queues.
func (q *sourceQueues) drop(c int32) {
	source := HomeSource(q.from[c].Source)
	for _, from := range []queues{q.left, q.aside} {
		at := slices.Index(from[source], c)
		if at >= 0 {
			from[source] = slices.Delete(from[source], at, at+1)
		}
	}
}

// reserve prevents other sources from placing the duplicates of the next n promoted candidates.
func (q *sourceQueues) reserve(n int) {
	next := q.left[feed.SourcePromoted]
	for _, c := range next[:min(n, len(next))] {
		if duplicate, ok := q.duplicates[c]; ok {
			q.drop(duplicate)
			q.reserved = append(q.reserved, duplicate)
		}
	}
}

// release returns the held candidates to their queues. It returns false if there were none.
func (q *sourceQueues) release() (some bool) {
	for _, c := range q.reserved {
		q.insert(q.left, HomeSource(q.from[c].Source), c)
	}
	some, q.reserved = len(q.reserved) > 0, q.reserved[:0]
	return some
}

// removeDuplicate removes and returns the duplicate of a placed candidate; -1 means it has none.
func (q *sourceQueues) removeDuplicate(c int32) int32 {
	duplicate, ok := q.duplicates[c]
	if !ok {
		return -1
	}
	delete(q.duplicates, c)
	delete(q.duplicates, duplicate)
	q.drop(duplicate)
	q.reserved = slices.DeleteFunc(q.reserved, func(h int32) bool { return h == duplicate })
	return duplicate
}
