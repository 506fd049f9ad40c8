package engine

import (
	"cmp"

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
// that source's; see [duplicates]. What tells a story of the page is set aside, see
// [sourceQueues]. It fills at most the given number of positions.
func (b *pageBuilder) blend(from []feed.Candidate, pattern feed.Pattern, by feed.Diversity, size, most int) []feed.Ref {
	b.prepare(from, by)
	queues := newSourceQueues(from)
	duplicates := newDuplicates(from, queues)
	ranked := make([]feed.Ref, 0, min(len(from), most))
	for page := 1; len(b.order) < most; page++ {
		b.beginPage()
		queues.takeUp()
		duplicates.hold(promotedPositions(pattern, len(b.order), max(1, size)))
		for len(b.page) < max(1, size) && len(b.order) < most {
			right := pattern.At(len(b.order))
			f, some := queues.filler(right, false)
			if !some {
				if duplicates.release() {
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
			b.leaveOut(duplicates.taken(c), c)
			if b.places != nil {
				b.places[c].right = right
			}
			ranked = append(ranked, feed.Ref{ID: from[c].ID, Group: from[c].Group, Source: f.source})
		}
		duplicates.release()
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

// takeFrom takes the best of a source for the next position; false: it tells a story of
// the page, and is set aside.
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
