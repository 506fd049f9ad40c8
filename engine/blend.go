package engine

import (
	"cmp"
	"slices"

	"github.com/freshet/freshet/feed"
)

// homeSources are the sources of home, in the order in which they get what several of
// them propose.
var homeSources = [...]feed.Source{feed.SourcePromoted, feed.SourceFollowing, feed.SourceTrending, feed.SourceDiscovery}

// blend deals the candidates of home into positions. Each source ranks its own: scores of
// different sources are never compared. A position goes to the source that the pattern
// names, or to the first one it hands on to that has something left, and takes of it what
// [dealer.best] takes, so authors, sites and tags take turns over all sources, and no page
// tells a story twice. What is promoted comes as it was drawn: by weights, not by scores. What
// another source proposes, too, is promoted where a position of the page is due to it, else
// that source's; see [twins]. It deals at most the given number of positions.
func (d *dealer) blend(from []feed.Candidate, pattern feed.Pattern, by feed.Diversity, size, most int) []feed.Ref {
	d.prepare(from, by)
	lanes := laneLists(from)
	twins := newTwins(from, lanes)
	ranked := make([]feed.Ref, 0, min(len(from), most))
	for page := 1; len(d.order) < most; page++ {
		for k := range d.kinds {
			d.kinds[k].begin(d.page, d.cards, k)
		}
		d.page, d.told = d.page[:0], d.told[:0]
		twins.hold(promotedPositions(pattern, len(d.order), max(1, size)))
		for len(d.page) < max(1, size) && len(d.order) < most {
			right := pattern.At(len(d.order))
			source, some := filledBy(right, lanes)
			if !some {
				if twins.release() {
					continue
				}
				break
			}
			c, placed := d.takeFrom(lanes, source, page)
			d.leaveOut(twins.taken(c), c)
			if placed {
				if d.places != nil {
					d.places[c].right = right
				}
				ranked = append(ranked, feed.Ref{ID: from[c].ID, Group: from[c].Group, Source: source})
			}
		}
		twins.release()
		if len(d.page) == 0 {
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

// leaveOut leaves out a candidate whose twin is dealt with; -1 is none.
func (d *dealer) leaveOut(twin, instead int32) {
	if twin < 0 {
		return
	}
	if d.places != nil {
		d.places[twin] = place{same: instead}
	}
	d.leave(twin, false)
}

// laneLists are the candidates of each source, best first; what is promoted as drawn.
func laneLists(from []feed.Candidate) map[feed.Source][]int32 {
	lanes := make(map[feed.Source][]int32, len(homeSources))
	for i := range from {
		source := homeSource(from[i].Source)
		lanes[source] = append(lanes[source], int32(i))
	}
	for source, lane := range lanes {
		if source == feed.SourcePromoted {
			continue
		}
		slices.SortStableFunc(lane, func(a, b int32) int { return compareScores(&from[a], &from[b]) })
	}
	return lanes
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
func filledBy(right feed.Source, lanes map[feed.Source][]int32) (feed.Source, bool) {
	for _, s := range right.HandOver() {
		if len(lanes[s]) > 0 {
			return s, true
		}
	}
	return 0, false
}

// takeFrom takes the best of a source for the next position; false: it tells a story of
// the page, and is left out of all of them.
func (d *dealer) takeFrom(lanes map[feed.Source][]int32, source feed.Source, page int) (c int32, placed bool) {
	d.rest = lanes[source]
	at := 0
	if source != feed.SourcePromoted {
		at = d.best()
	}
	c = d.rest[at]
	copy(d.rest[1:at+1], d.rest[:at])
	lanes[source] = d.rest[1:]
	if same := d.sameStory(c); same >= 0 {
		if d.places != nil {
			d.places[c] = place{same: same}
		}
		d.leave(c, false)
		return c, false
	}
	d.page, d.order = append(d.page, c), append(d.order, c)
	if d.places != nil {
		d.places[c] = d.placed(page, c)
		d.places[c].source = source
	}
	d.leave(c, true)
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
