package engine

import (
	"cmp"
	"slices"

	"github.com/freshet/freshet/feed"
)

// homeSources are the sources of home, in the order in which they get what several of
// them propose.
var homeSources = [...]feed.Source{feed.SourcePromoted, feed.SourceFollowing, feed.SourceTrending, feed.SourceDiscovery}

// blend places the candidates of home on positions. Each source ranks its own: scores of
// different sources are never compared. A position goes to the source that the pattern
// names, or to the first one it hands on to that has something left, and takes of it what
// [pageBuilder.best] takes, so authors, sites and tags take turns over all sources, and no page
// tells a story twice. What is promoted comes as it was drawn: by weights, not by scores. What
// another source proposes, too, is promoted where a position of the page is due to it, else
// that source's; see [duplicates]. It fills at most the given number of positions.
func (b *pageBuilder) blend(from []feed.Candidate, pattern feed.Pattern, by feed.Diversity, size, most int) []feed.Ref {
	b.prepare(from, by)
	queues := sourceQueues(from)
	duplicates := newDuplicates(from, queues)
	ranked := make([]feed.Ref, 0, min(len(from), most))
	for page := 1; len(b.order) < most; page++ {
		for k := range b.kinds {
			b.kinds[k].begin(b.page, b.cards, k)
		}
		b.page, b.told = b.page[:0], b.told[:0]
		duplicates.hold(promotedPositions(pattern, len(b.order), max(1, size)))
		for len(b.page) < max(1, size) && len(b.order) < most {
			right := pattern.At(len(b.order))
			source, some := filledBy(right, queues)
			if !some {
				if duplicates.release() {
					continue
				}
				break
			}
			c, placed := b.takeFrom(queues, source, page)
			b.leaveOut(duplicates.taken(c), c)
			if placed {
				if b.places != nil {
					b.places[c].right = right
				}
				ranked = append(ranked, feed.Ref{ID: from[c].ID, Group: from[c].Group, Source: source})
			}
		}
		duplicates.release()
		if len(b.page) == 0 {
			break
		}
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

// sourceQueues are the candidates of each source, best first; what is promoted as drawn.
func sourceQueues(from []feed.Candidate) map[feed.Source][]int32 {
	queues := make(map[feed.Source][]int32, len(homeSources))
	for i := range from {
		source := homeSource(from[i].Source)
		queues[source] = append(queues[source], int32(i))
	}
	for source, queue := range queues {
		if source == feed.SourcePromoted {
			continue
		}
		slices.SortStableFunc(queue, func(a, b int32) int { return compareScores(&from[a], &from[b]) })
	}
	return queues
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

// filledBy is the source that fills a position of another one; false: nothing is left.
func filledBy(right feed.Source, queues map[feed.Source][]int32) (feed.Source, bool) {
	for _, s := range right.HandOver() {
		if len(queues[s]) > 0 {
			return s, true
		}
	}
	return 0, false
}

// takeFrom takes the best of a source for the next position; false: it tells a story of
// the page, and is left out of all of them.
func (b *pageBuilder) takeFrom(queues map[feed.Source][]int32, source feed.Source, page int) (c int32, placed bool) {
	b.rest = queues[source]
	at := 0
	if source != feed.SourcePromoted {
		at = b.best()
	}
	c = b.rest[at]
	copy(b.rest[1:at+1], b.rest[:at])
	queues[source] = b.rest[1:]
	if same := b.sameStory(c); same >= 0 {
		if b.places != nil {
			b.places[c] = place{same: same}
		}
		b.leave(c, false)
		return c, false
	}
	b.page, b.order = append(b.page, c), append(b.order, c)
	if b.places != nil {
		b.places[c] = b.placed(page, c)
		b.places[c].source = source
	}
	b.leave(c, true)
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
