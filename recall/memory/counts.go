package memory

import (
	"cmp"
	"math"
	"slices"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

var _ recall.Counter = (*Source)(nil)

// counted are the items of a view that readers have clicked or liked of late,
// newest first. They are few, and walked apart from the others, so that the
// segment and its bounds need not know what changes with every click. It is
// immutable.
type counted struct {
	items   []uint32 // ascending
	entries []countedItem
	// The highest of the entries.
	log2h, log2d, uploaded float64
}

type countedItem struct {
	counts feed.Counts
	// log10(1 + count) at the latest act: counts only fall from there.
	log2h, log2d float64
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
		if s.counts[id] = c; c.Last == 0 {
			delete(s.counts, id)
		}
	}
	if len(changes) == 0 {
		return
	}
	views := slices.Clone(s.views)
	for i, c := range changes {
		views[i].counted = views[i].counted.with(views[i].segment, c)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.views = views
}

// find finds the item that is alive under the id.
func (s *Source) find(id string) (view int, item uint32, ok bool) {
	for i := range s.views {
		if item, ok := s.views[i].find(id); ok && !s.views[i].isDead(item) {
			return i, item, true
		}
	}
	return 0, 0, false
}

// viewOf is the view of a new segment: its items keep their counts.
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
	return view{segment: seg, counted: (*counted)(nil).with(seg, found)}
}

// with returns the list with other counts of some items; nil where it is empty.
func (c *counted) with(seg *segment, changes map[uint32]feed.Counts) *counted {
	type pair struct {
		item  uint32
		entry countedItem
	}
	var all []pair
	if c != nil {
		for i, item := range c.items {
			if _, changed := changes[item]; !changed {
				all = append(all, pair{item, c.entries[i]})
			}
		}
	}
	for item, counts := range changes {
		if counts.Last != 0 {
			n2h, n2d := counts.At(counts.Last)
			all = append(all, pair{item, countedItem{counts, feed.LogCount(n2h), feed.LogCount(n2d)}})
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b pair) int { return cmp.Compare(a.item, b.item) })
	out := &counted{items: make([]uint32, len(all)), entries: make([]countedItem, len(all))}
	for i, p := range all {
		out.items[i], out.entries[i] = p.item, p.entry
		out.log2h, out.log2d = max(out.log2h, p.entry.log2h), max(out.log2d, p.entry.log2d)
		out.uploaded = max(out.uploaded, seg.popularity[p.item])
	}
	return out
}

// of returns the counts of an item, and whether it is on the list.
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

// walkCounted offers the items of the view that have counts, from the newest to
// where none can get in any more. What the walk through the segment then meets of
// them it leaves out.
func (w *walker) walkCounted(index int, v *view) {
	w.viewIndex, w.view = int32(index), v
	if v.counted == nil {
		return
	}
	p := &w.plan
	most := p.most()
	highest := p.live(v.counted.log2h, v.counted.log2d, v.counted.uploaded)
	w.lastTime, w.decay = p.origin, p.curve.At(0)
	for i, item := range v.counted.items {
		time := v.times[item]
		if time > p.origin {
			continue
		}
		if p.bounded && time <= p.since {
			return
		}
		if time != w.lastTime {
			w.lastTime, w.decay = time, p.curve.At(float64(p.origin-time))
		}
		bound := most * w.decay * slack
		if !w.top.mayEnter(float32(bound*highest), time) {
			return
		}
		if e := &v.counted.entries[i]; w.top.mayEnter(float32(bound*p.live(e.log2h, e.log2d, v.popularity[item])), time) {
			w.offerCounted(item, &e.counts)
			w.top.settle()
		}
	}
}

// offerCounted scores an item at the time that the walker knows the decay of.
func (w *walker) offerCounted(item uint32, counts *feed.Counts) {
	v, p := w.view, &w.plan
	n2h, n2d := counts.At(p.origin)
	factor := p.live(feed.LogCount(n2h), feed.LogCount(n2d), v.popularity[item])
	score := float32((p.ranking.Base + p.gain(v.segment, item)) * w.decay * factor)
	if !w.top.mayEnter(score, w.lastTime) || v.isDead(item) || w.given(score, w.lastTime, item) || p.refuses(v.segment, item) {
		return
	}
	w.top.push(entry{score: score, view: w.viewIndex, item: item, time: w.lastTime})
}

// live is the popularity factor of logarithms.
func (p *plan) live(log2h, log2d, uploaded float64) float64 {
	return 1 + p.ranking.Popularity2h*log2h + p.ranking.Popularity2d*log2d + p.ranking.PopularityWeight*uploaded
}

// most is the highest relevance an item can have.
func (p *plan) most() float64 {
	most := p.ranking.Base
	for _, t := range p.tags {
		most += t.weight
	}
	for i := range p.phrases {
		most += math.Max(p.phrases[i].gains[titleField], p.phrases[i].gains[summaryField])
	}
	return most
}

// gain is what the interests and keywords add to an item, summed up in the order
// in which a walk does.
func (p *plan) gain(s *segment, item uint32) (gain float64) {
	tags := s.fields[tagField].of(item)
	for _, t := range p.tags {
		if _, has := slices.BinarySearch(tags, t.term); has {
			gain += t.weight
		}
	}
	for i := range p.phrases {
		if field, ok := p.phrases[i].in(s, item); ok {
			gain += p.phrases[i].gains[field]
		}
	}
	return gain
}
