package memory

import (
	"cmp"
	"slices"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

var _ recall.Counter = (*Source)(nil)

// counted holds the recently clicked or liked items of a view and their bounds by block. It is
// separate from the segment because it changes with every click. It is immutable.
type counted struct {
	items       []uint32 // ascending
	entries     []countedItem
	block, tail []highest // per block, and per block with all later ones
	// The same for the counts of further half-lives; nil if no entry has any.
	moreBlock, moreTail []feed.PerHalfLife
}

type countedItem struct {
	counts feed.Counts
	highest
}

// highest is log10(1 + count) at the latest act, an upper bound because counts then only fall.
type highest struct{ log2h, log2d float64 }

func (h highest) or(other highest) highest {
	return highest{max(h.log2h, other.log2h), max(h.log2d, other.log2d)}
}

// SetCounts implements [recall.Counter].
func (s *Source) SetCounts(counts map[string]feed.Counts) {
	s.writing.Lock()
	defer s.writing.Unlock()
	changes := map[int]map[uint32]feed.Counts{}
	for id, c := range counts {
		view, item, ok := s.find(id)
		if !ok {
			continue
		}
		if changes[view] == nil {
			changes[view] = map[uint32]feed.Counts{}
		}
		changes[view][item] = c
		s.counts[id] = c
		if c.Last == 0 {
			delete(s.counts, id)
		}
	}
	if len(changes) == 0 {
		return
	}
	views := slices.Clone(s.views)
	for i, c := range changes {
		views[i].counted = views[i].counted.with(views[i].len(), c)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.views = views
}

// find returns the live item with the id.
func (s *Source) find(id string) (view int, item uint32, ok bool) {
	for i := range s.views {
		if item, ok := s.views[i].find(id); ok && !s.views[i].isDead(item) {
			return i, item, true
		}
	}
	return 0, 0, false
}

// viewOf returns the view of a new segment, whose items keep their counts.
func (s *Source) viewOf(seg *segment) view {
	found := map[uint32]feed.Counts{}
	if seg.len() < len(s.counts) {
		for item := range uint32(seg.len()) {
			if c, ok := s.counts[seg.ids.at(item)]; ok {
				found[item] = c
			}
		}
	} else {
		for id, c := range s.counts {
			if item, ok := seg.find(id); ok {
				found[item] = c
			}
		}
	}
	return view{segment: seg, counted: (*counted)(nil).with(seg.len(), found)}
}

// with returns the list with changed counts for some of the segment's n items, or nil if the
// result is empty.
func (c *counted) with(n int, changes map[uint32]feed.Counts) *counted {
	type pair struct {
		item  uint32
		entry countedItem
	}
	var all []pair
	if c != nil {
		for i, item := range c.items {
			_, changed := changes[item]
			if !changed {
				all = append(all, pair{item, c.entries[i]})
			}
		}
	}
	for item, counts := range changes {
		if counts.Last != 0 {
			n2h, n2d := counts.Latest()
			all = append(all, pair{item, countedItem{counts, highest{feed.LogCount(n2h), feed.LogCount(n2d)}}})
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b pair) int { return cmp.Compare(a.item, b.item) })
	out := &counted{items: make([]uint32, len(all)), entries: make([]countedItem, len(all))}
	for i, p := range all {
		out.items[i], out.entries[i] = p.item, p.entry
	}
	out.bound((n + blockSize - 1) / blockSize)
	return out
}

func (c *counted) bound(blocks int) {
	c.block, c.tail = make([]highest, blocks), make([]highest, blocks)
	for i, item := range c.items {
		c.block[item/blockSize] = c.block[item/blockSize].or(c.entries[i].highest)
	}
	var all highest
	for b := blocks - 1; b >= 0; b-- {
		all = all.or(c.block[b])
		c.tail[b] = all
	}
	if slices.ContainsFunc(c.entries, func(e countedItem) bool { return e.counts.More != nil }) {
		c.boundMore(blocks)
	}
}

// boundMore is bound for the counts of further half-lives.
func (c *counted) boundMore(blocks int) {
	c.moreBlock, c.moreTail = make([]feed.PerHalfLife, blocks), make([]feed.PerHalfLife, blocks)
	for i, item := range c.items {
		c.moreBlock[item/blockSize] = c.moreBlock[item/blockSize].Max(moreLogs(&c.entries[i].counts))
	}
	var all feed.PerHalfLife
	for b := blocks - 1; b >= 0; b-- {
		all = all.Max(c.moreBlock[b])
		c.moreTail[b] = all
	}
}

// moreLogs returns log10(1 + count) of further half-lives at the latest act.
func moreLogs(c *feed.Counts) feed.PerHalfLife {
	logs := c.MoreAt(c.Last)
	for i, n := range logs {
		logs[i] = feed.LogCount(n)
	}
	return logs
}

// of returns the counts of an item. ok reports whether it has any.
func (c *counted) of(item uint32) (counts feed.Counts, ok bool) {
	if c == nil {
		return counts, false
	}
	i, ok := slices.BinarySearch(c.items, item)
	if ok {
		counts = c.entries[i].counts
	}
	return counts, ok
}

// openCounts moves to the first item with counts from at on.
func (w *walker) openCounts(at uint32) {
	w.counted, w.nextCounted = nil, 0
	if w.plan.counts && w.view.counted != nil {
		w.counted = w.view.counted
		w.nextCounted, _ = slices.BinarySearch(w.counted.items, at)
	}
}

// raised adds live popularity to the highest popularity factors in a block and from it on.
func (w *walker) raised(block uint32, inBlock, behind float64) (float64, float64) {
	if w.counted == nil {
		return inBlock, behind
	}
	inBlock, behind = inBlock+w.plan.raise(w.counted.block[block]), behind+w.plan.raise(w.counted.tail[block])
	if w.plan.more && w.counted.moreBlock != nil {
		inBlock += w.plan.raiseMore(w.counted.moreBlock[block])
		behind += w.plan.raiseMore(w.counted.moreTail[block])
	}
	return inBlock, behind
}

// raise returns the contribution of live popularity to a popularity factor.
func (p *plan) raise(h highest) float64 {
	return p.ranking.Popularity2h*h.log2h + p.ranking.Popularity2d*h.log2d
}

// raiseMore is raise for the logarithms of the counts of further half-lives.
func (p *plan) raiseMore(logs feed.PerHalfLife) float64 {
	sum := 0.0
	for i, weight := range p.ranking.PopularityMore {
		sum += weight * logs[i]
	}
	return sum
}

// raiseItem returns an upper bound of the contribution of live popularity to the popularity factor of
// an item.
func (p *plan) raiseItem(c *countedItem) float64 {
	if p.more && c.counts.More != nil {
		return p.raise(c.highest) + p.raiseMore(moreLogs(&c.counts))
	}
	return p.raise(c.highest)
}

// touchCounted marks the items of a block that have counts.
func (w *walker) touchCounted(at, stop uint32) {
	w.skipCounted(at)
	for i := w.nextCounted; i < len(w.counted.items) && w.counted.items[i] < stop; i++ {
		place := w.counted.items[i] % blockSize
		w.touched[place/64] |= 1 << (place % 64)
	}
}

// skipCounted skips the items before at.
func (w *walker) skipCounted(at uint32) {
	for w.nextCounted < len(w.counted.items) && w.counted.items[w.nextCounted] < at {
		w.nextCounted++
	}
}

// countsOf returns the counts of an item, or nil. It must be called with ascending items.
func (w *walker) countsOf(item uint32) *countedItem {
	if w.counted == nil {
		return nil
	}
	w.skipCounted(item)
	if w.nextCounted == len(w.counted.items) || w.counted.items[w.nextCounted] != item {
		return nil
	}
	return &w.counted.entries[w.nextCounted]
}

// liveFactor returns the popularity factor of an item with counts, where log is its
// log10(1 + popularity). It sums in the order of [feed.Ranking.PopularityFactor].
func (p *plan) liveFactor(c *feed.Counts, log float64) float64 {
	n2h, n2d := c.At(p.origin)
	factor := 1 + p.ranking.Popularity2h*feed.LogCount(n2h) + p.ranking.Popularity2d*feed.LogCount(n2d) + p.ranking.PopularityWeight*log
	if p.more && c.More != nil {
		factor += p.ranking.MorePopularity(c.MoreAt(p.origin))
	}
	return factor
}
