package memory

import (
	"context"
	"math/bits"
	"sort"
	"strings"
)

// walker finds the best items of one view after the other.
//
// In a view it goes back in time, a block of items at a time. Three bounds
// keep the work small, each of them relevance × decay at the newest item ×
// highest popularity, against the worst of the best items so far:
//   - nothing from here on can get in: the view is done;
//   - nothing of this block can get in: the block is skipped;
//   - no item without a matching term can get in: only the items on the lists
//     of the query's terms are looked at, and blocks without any are jumped,
//     all at once if that holds for the blocks behind too.
//
// Live popularity raises the bounds of the blocks that have items with counts. Where
// only those could get in, they are looked at as if they were on a list.
type walker struct {
	plan    plan
	top     top
	lists   []list
	gain    [blockSize]float64     // per item of the block: what the lists add
	touched [blockSize / 64]uint64 // which items of the block are on a list

	viewIndex int32
	view      *view

	counted     *counted // of the view; nil: live popularity does not count in it
	nextCounted int      // the first of its items that was not passed yet

	lastTime int64   // the time decay is known for
	decay    float64 // its decay
}

// list is what is left of the items that may match an interest or a keyword.
type list struct {
	items  []uint32
	gain   float64
	phrase *phrase // nil: an interest, which every item of the list matches
	field  int     // that the phrase is looked for in
}

// slack makes up for sums and products being rounded in another order in a
// bound than in a score.
const slack = 1 + 1e-12

func (w *walker) walk(ctx context.Context, index int, v *view) error {
	w.viewIndex, w.view = int32(index), v
	w.lastTime, w.decay = w.plan.origin, w.plan.curve.At(0)
	at := uint32(sort.Search(v.len(), func(i int) bool { return v.times[i] <= w.plan.origin }))
	end := uint32(v.len())
	if w.plan.bounded {
		end = uint32(sort.Search(v.len(), func(i int) bool { return v.times[i] <= w.plan.since }))
	}
	base := w.plan.ranking.Base
	most := base + w.open(at)
	w.openCounts(at)
	for at < end {
		if err := ctx.Err(); err != nil {
			return err
		}
		block := at / blockSize
		decay := w.plan.curve.At(float64(w.plan.origin - v.times[at]))
		factor := w.plan.popularity(v.blockPop[block])
		highest, behind := w.raised(block, factor, w.plan.popularity(v.tailPop[block]))
		if !w.mayEnter(most, decay, behind, at) {
			return nil
		}
		stop := min((block+1)*blockSize, end)
		everyItem := w.mayEnter(base, decay, factor, at)
		everyCounted := !everyItem && highest > factor && w.mayEnter(base, decay, highest, at)
		if !everyItem && !everyCounted {
			next := w.nextListed(at)
			if next >= stop && w.mayEnter(base, decay, behind, at) {
				next = stop // a later block may have an item popular enough
			}
			if next >= stop {
				at = next
				continue
			}
		}
		if w.mayEnter(most, decay, highest, at) {
			w.gather(at, stop)
			if everyCounted {
				w.touchCounted(at, stop)
			}
			w.sweep(at, stop, everyItem, decay*slack)
			w.top.settle()
		}
		at = stop
	}
	return nil
}

// mayEnter tells whether an item from at on, with these bounds, could get in.
func (w *walker) mayEnter(relevance, decay, factor float64, at uint32) bool {
	bound := float32(relevance * decay * factor * slack)
	return w.top.mayEnter(bound, w.view.times[at])
}

// open finds the lists of the view and returns the most they can add.
func (w *walker) open(at uint32) (most float64) {
	w.lists = w.lists[:0]
	tags := &w.view.fields[tagField]
	for _, t := range w.plan.tags {
		if items := tags.postings(t.term); len(items) > 0 {
			w.openList(list{items: items, gain: t.weight}, at)
			most += t.weight
		}
	}
	for i := range w.plan.phrases {
		p := &w.plan.phrases[i]
		gain := 0.0
		for _, f := range []int{titleField, summaryField} {
			if items := w.view.fields[f].candidates(p.terms); len(items) > 0 && p.gains[f] > 0 {
				w.openList(list{items: items, gain: p.gains[f], phrase: p, field: f}, at)
				gain = max(gain, p.gains[f]) // an item has one of them
			}
		}
		most += gain
	}
	return most
}

func (w *walker) openList(l list, at uint32) {
	l.skipTo(at)
	w.lists = append(w.lists, l)
}

// candidates are the items that have the rarest term of a phrase; none where
// another term is in no item.
func (f *field) candidates(phrase []uint32) (fewest []uint32) {
	for i, term := range phrase {
		items := f.postings(term)
		if len(items) == 0 {
			return nil
		}
		if i == 0 || len(items) < len(fewest) {
			fewest = items
		}
	}
	return fewest
}

// skipTo drops the items before at.
func (l *list) skipTo(at uint32) {
	if len(l.items) == 0 || l.items[0] >= at {
		return
	}
	l.items = l.items[sort.Search(len(l.items), func(i int) bool { return l.items[i] >= at }):]
}

// take removes the first item if it is before stop.
func (l *list) take(stop uint32) (item uint32, ok bool) {
	if len(l.items) == 0 || l.items[0] >= stop {
		return 0, false
	}
	item, l.items = l.items[0], l.items[1:]
	return item, true
}

// nextListed returns the first item from at on that is on a list.
func (w *walker) nextListed(at uint32) uint32 {
	next := uint32(w.view.len())
	for i := range w.lists {
		l := &w.lists[i]
		l.skipTo(at)
		if len(l.items) > 0 {
			next = min(next, l.items[0])
		}
	}
	return next
}

// gather adds up, for the items of a block, what the lists give them.
func (w *walker) gather(at, stop uint32) {
	first := at / blockSize * blockSize
	for i := range w.lists {
		l := &w.lists[i]
		l.skipTo(at)
		for item, ok := l.take(stop); ok; item, ok = l.take(stop) {
			if l.phrase == nil || w.matches(l, item) {
				place := (item - first) % blockSize
				w.gain[place] += l.gain
				w.touched[place/64] |= 1 << (place % 64)
			}
		}
	}
}

// matches reports whether a candidate of a keyword's list has the phrase, and
// has it not in the title where the list is the summary's.
func (w *walker) matches(l *list, item uint32) bool {
	fields, terms := &w.view.fields, l.phrase.terms
	if len(terms) > 1 && !fields[l.field].has(item, terms) {
		return false
	}
	return l.field == titleField || !fields[titleField].has(item, terms)
}

// sweep scores the items of a block, all of them or those on a list, and
// leaves gain and touched empty.
func (w *walker) sweep(at, stop uint32, everyItem bool, mostDecay float64) {
	base := w.plan.ranking.Base
	first := at / blockSize * blockSize
	if everyItem {
		for item := at; item < stop; item++ {
			w.offer(item, base+w.gain[item-first], mostDecay)
		}
	}
	for word, set := range w.touched {
		for ; set != 0; set &= set - 1 {
			place := uint32(word*64 + bits.TrailingZeros64(set))
			if !everyItem {
				w.offer(first+place, base+w.gain[place], mostDecay)
			}
			w.gain[place] = 0
		}
		w.touched[word] = 0
	}
}

// offer scores an item and hands it to top if it may get in. The block's decay
// is tried first, since the item's own costs an exponential.
func (w *walker) offer(item uint32, relevance, mostDecay float64) {
	v := w.view
	time, popularity := v.times[item], w.plan.popularity(v.popularity[item])
	counts := w.countsOf(item)
	if counts != nil {
		popularity += w.plan.raise(counts.highest)
	}
	if !w.top.mayEnter(float32(relevance*mostDecay*popularity), time) {
		return
	}
	if counts != nil {
		popularity = w.plan.liveFactor(&counts.counts, v.popularity[item])
	}
	if time != w.lastTime {
		w.lastTime, w.decay = time, w.plan.curve.At(float64(w.plan.origin-time))
	}
	score := float32(relevance * w.decay * popularity)
	if !w.top.mayEnter(score, time) || v.isDead(item) || w.given(score, time, item) || w.plan.refuses(v.segment, item) {
		return
	}
	w.top.push(entry{score: score, view: w.viewIndex, item: item, time: time})
}

// given reports whether an earlier round gave the item out: it is not behind
// the cursor.
func (w *walker) given(score float32, time int64, item uint32) bool {
	c := w.plan.after
	switch {
	case c == nil:
		return false
	case score != c.score:
		return score > c.score
	case time != c.time:
		return time > c.time
	}
	return strings.Compare(w.view.ids.at(item), c.id) <= 0
}
