package memory

import (
	"context"
	"math/bits"
	"slices"
	"sort"
	"strings"
)

// walker finds the best items, one view after the other.
//
// In a view it goes back in time, one block of items at a time. Bounds reduce the work. Each
// bound is relevance × decay at the newest item × highest popularity, compared with the worst
// of the best items so far:
//   - no item from here on can enter: the view is done;
//   - no item of this block can enter: the block is skipped;
//   - no item without a matching term can enter: only the items on the lists of
//     the query's terms are checked, and blocks without any are skipped, all at
//     once if that holds for the later blocks too;
//   - no item that is only on the lists with the smallest gains can enter: those
//     lists are read only for items of the other lists. As decay falls and the worst
//     of the best rises, this applies to more and more lists. Source: MaxScore, by
//     Turtle and Flood, "Query evaluation: strategies and optimizations", 1995.
//
// Live popularity raises the bounds of blocks that contain items with counts. If those items
// could enter without being on a required list, they are checked too.
//
// Lowerers only reduce a score, so all of these bounds remain valid.
type walker struct {
	plan    plan
	top     top
	lists   []list                 // the largest gain first
	most    []float64              // base + total gain of the lists from a position on; the last is base
	gain    [blockSize]float64     // per item of the block: the gain from the lists
	touched [blockSize / 64]uint64 // the items of the block that are on a list

	lowering lowering // the lowerers and their matches

	viewIndex int32
	view      *view

	only     list // the remaining items among which are all that the filter selects
	onlySome bool // there is such a list

	counted     *counted // of the view; nil if live popularity does not count in it
	nextCounted int      // index of its first item that was not passed yet

	lastTime int64   // the time that decay was computed for, not before that of the current item
	decay    float64 // decay at lastTime
}

// list holds the remaining items that may match a gainer.
type list struct {
	gainer
	items []uint32
	// instead is the gain of the same keyword in the summary; an item gets only one of the two.
	instead float64
}

// slack compensates for the different rounding of sums and products in a bound and in a score.
const slack = 1 + 1e-12

func (w *walker) walk(ctx context.Context, index int, v *view) error {
	w.viewIndex, w.view = int32(index), v
	at := uint32(sort.Search(v.len(), func(i int) bool { return v.times[i] <= w.plan.origin }))
	end := uint32(v.len())
	if w.plan.bounded {
		end = uint32(sort.Search(v.len(), func(i int) bool { return v.times[i] <= w.plan.since }))
	}
	w.open(at)
	w.openCounts(at)
	w.openLowering(at)
	w.openFilter(at)
	tail := len(w.most)
	for at < end {
		if err := ctx.Err(); err != nil {
			return err
		}
		if w.onlySome {
			w.only.skipTo(at)
			if len(w.only.items) == 0 {
				return nil
			}
			at = max(at, w.only.items[0])
			if at >= end {
				return nil
			}
		}
		block := at / blockSize
		w.lastTime, w.decay = v.times[at], w.plan.curve.At(float64(w.plan.origin-v.times[at]))
		factor := w.plan.popularity(v.blockPop[block])
		highest, behind := w.raised(block, factor, w.plan.popularity(v.tailPop[block]))
		tail = w.needed(tail, behind, at)
		if tail == 0 {
			return nil
		}
		stop := min((block+1)*blockSize, end)
		need := w.needed(tail, factor, at)
		counted := highest > factor && w.needed(tail, highest, at) > need
		if !counted && need <= len(w.lists) && w.nextListed(at, need) >= stop {
			// A later block may have an item with enough popularity.
			at = stop
			if tail <= len(w.lists) {
				at = max(stop, w.nextListed(at, tail))
			}
			continue
		}
		if counted {
			w.touchCounted(at, stop)
		}
		w.gather(at, stop, need)
		w.lower(at, stop)
		w.sweep(at, stop, need > len(w.lists))
		w.clearLowering()
		w.top.settle()
		at = stop
	}
	return nil
}

// openFilter opens the list of the filter in the view, if it has one.
func (w *walker) openFilter(at uint32) {
	w.only, w.onlySome = list{}, false
	if w.plan.filter == nil {
		return
	}
	w.only.items, w.onlySome = w.plan.filter.listed(w.view)
	w.only.skipTo(at)
}

// needed returns how many of the first lists matter: with this popularity factor, an item from
// at on can enter only if it is on one of them. 0 means that none can enter, one more than the
// number of lists that it need not be on any. n is an upper bound.
func (w *walker) needed(n int, popularity float64, at uint32) int {
	factor := w.decay * popularity * slack
	for n > 0 && !w.top.mayEnter(float32(w.most[n-1]*factor), w.view.times[at]) {
		n--
	}
	return n
}

// open opens the lists of the view.
func (w *walker) open(at uint32) {
	w.lists = w.lists[:0]
	for _, g := range w.plan.gainers {
		items := w.view.fields[g.field].candidates(g.terms)
		if g.joined != nil {
			items = union(items, w.view.fields[g.field].candidates(g.joined))
		}
		if len(items) == 0 {
			continue
		}
		if g.field == summaryField {
			w.pair(&g)
		}
		l := list{gainer: g, items: items}
		l.skipTo(at)
		w.lists = append(w.lists, l)
	}
	w.most = slices.Grow(w.most[:0], len(w.lists)+1)[:len(w.lists)+1]
	w.most[len(w.lists)] = w.plan.ranking.Base
	for i := len(w.lists) - 1; i >= 0; i-- {
		w.most[i] = w.most[i+1] + w.lists[i].weight - w.lists[i].instead
	}
}

// pair sets the summary gain of a keyword on its list for the title. That list comes first,
// because its gain is not smaller.
func (w *walker) pair(summary *gainer) {
	for i := range w.lists {
		l := &w.lists[i]
		if l.keyword == summary.keyword && l.field == titleField {
			l.instead = summary.weight
		}
	}
}

// candidates returns the items that have the rarest of the terms, or none if another term is in
// no item.
func (f *field) candidates(terms []uint32) (fewest []uint32) {
	for i, term := range terms {
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

// union returns the items of two ascending lists, ascending.
func union(a, b []uint32) []uint32 {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// skipTo drops the items before at, by galloping search.
func (l *list) skipTo(at uint32) {
	step := 1
	for step < len(l.items) && l.items[step] < at {
		l.items = l.items[step:]
		step *= 2
	}
	if len(l.items) == 0 || l.items[0] >= at {
		return
	}
	rest := l.items[:min(step+1, len(l.items))]
	l.items = l.items[sort.Search(len(rest), func(i int) bool { return rest[i] >= at }):]
}

// take removes the first item if it is before stop.
func (l *list) take(stop uint32) (item uint32, ok bool) {
	if len(l.items) == 0 || l.items[0] >= stop {
		return 0, false
	}
	item, l.items = l.items[0], l.items[1:]
	return item, true
}

// nextListed returns the first item from at on that is on one of the first n lists.
func (w *walker) nextListed(at uint32, n int) uint32 {
	next := uint32(w.view.len())
	for i := range w.lists[:n] {
		l := &w.lists[i]
		l.skipTo(at)
		if len(l.items) > 0 {
			next = min(next, l.items[0])
		}
	}
	return next
}

// gather sums the gains of a block's items. It adds all items of the first need lists and marks
// them as touched; the other lists add only to touched items. The sum follows the order of the
// lists, so the rounding is the same in every round.
func (w *walker) gather(at, stop uint32, need int) {
	first := at / blockSize * blockSize
	need = min(need, len(w.lists))
	for i := range w.lists[:need] {
		l := &w.lists[i]
		l.skipTo(at)
		for item, ok := l.take(stop); ok; item, ok = l.take(stop) {
			if w.matches(l, item) {
				place := (item - first) % blockSize
				w.gain[place] += l.weight
				w.touched[place/64] |= 1 << (place % 64)
			}
		}
	}
	if need == len(w.lists) {
		return
	}
	left := w.narrow(first, w.most[need])
	switch {
	case left == 0:
	case left <= fewLeft:
		for i := range w.lists[need:] {
			w.lookUp(&w.lists[need+i], first)
		}
	default:
		for i := range w.lists[need:] {
			w.complete(&w.lists[need+i], at, stop)
		}
	}
}

// fewLeft is the number of items up to which a list is searched for each of them instead of
// being scanned.
const fewLeft = 16

// matches reports whether a candidate of the list matches: it has all terms of a keyword, next
// to each other, and for the summary the title does not match too.
func (w *walker) matches(l *list, item uint32) bool {
	fields := &w.view.fields
	certain := len(l.terms) == 1 && l.joined == nil
	if !certain && !l.in(&fields[l.field], item) {
		return false
	}
	return l.field != summaryField || !l.in(&fields[titleField], item)
}

// narrow keeps as touched only the items that can still enter with at most most (base included)
// in addition to their gain, and returns their number.
func (w *walker) narrow(first uint32, most float64) (left int) {
	factor, counted := w.decay*slack, w.nextCounted
	for word, set := range w.touched {
		for ; set != 0; set &= set - 1 {
			place := uint32(word*64 + bits.TrailingZeros64(set))
			item := first + place
			popularity := w.plan.popularity(w.view.popularity[item])
			c := w.countsOf(item)
			if c != nil {
				popularity += w.plan.raiseItem(c)
			}
			if w.top.mayEnter(float32((w.gain[place]+most)*factor*popularity), w.view.times[item]) {
				left++
			} else {
				w.gain[place] = 0
				w.touched[word] &^= 1 << (place % 64)
			}
		}
	}
	w.nextCounted = counted // the same items are visited again
	return left
}

// lookUp adds a list's gain to the touched items by searching the list for each.
func (w *walker) lookUp(l *list, first uint32) {
	for word, set := range w.touched {
		for ; set != 0; set &= set - 1 {
			place := uint32(word*64 + bits.TrailingZeros64(set))
			item := first + place
			l.skipTo(item)
			if len(l.items) > 0 && l.items[0] == item && w.matches(l, item) {
				w.gain[place] += l.weight
			}
		}
	}
}

// complete does the same as lookUp by scanning the list.
func (w *walker) complete(l *list, at, stop uint32) {
	first := at / blockSize * blockSize
	l.skipTo(at)
	for item, ok := l.take(stop); ok; item, ok = l.take(stop) {
		place := (item - first) % blockSize
		if w.touched[place/64]&(1<<(place%64)) != 0 && w.matches(l, item) {
			w.gain[place] += l.weight
		}
	}
}

// sweep scores all items of a block, or only those that are touched, and clears gain and
// touched.
func (w *walker) sweep(at, stop uint32, everyItem bool) {
	base := w.plan.ranking.Base
	first := at / blockSize * blockSize
	if everyItem && w.onlySome {
		for item, ok := w.only.take(stop); ok; item, ok = w.only.take(stop) {
			w.offer(item, base+w.gain[item-first])
		}
	} else if everyItem {
		for item := at; item < stop; item++ {
			w.offer(item, base+w.gain[item-first])
		}
	}
	for word, set := range w.touched {
		for ; set != 0; set &= set - 1 {
			place := uint32(word*64 + bits.TrailingZeros64(set))
			if !everyItem {
				w.offer(first+place, base+w.gain[place])
			}
			w.gain[place] = 0
		}
		w.touched[word] = 0
	}
}

// offer scores an item and passes it to top if it may enter. It first tries the decay of the
// previous item, which is not older: computing its own costs exponentials.
func (w *walker) offer(item uint32, relevance float64) {
	v := w.view
	time, popularity := v.times[item], w.plan.popularity(v.popularity[item])
	counts := w.countsOf(item)
	if counts != nil {
		popularity += w.plan.raiseItem(counts)
	}
	if !w.top.mayEnter(float32(relevance*w.decay*slack*popularity), time) {
		return
	}
	if counts != nil {
		popularity = w.plan.liveFactor(&counts.counts, v.popularity[item])
	}
	relevance *= w.lowered(item)
	if time != w.lastTime {
		w.lastTime, w.decay = time, w.plan.curve.At(float64(w.plan.origin-time))
	}
	score := float32(relevance * w.decay * popularity)
	if !w.top.mayEnter(score, time) {
		return
	}
	if v.isDead(item) || w.alreadyReturned(score, time, item) || w.plan.refuses(v.segment, item) {
		return
	}
	w.top.push(entry{score: score, view: w.viewIndex, item: item, time: time})
	if w.top.ripe() {
		w.top.finish()
	}
}

// alreadyReturned reports whether an earlier round returned the item, that is, it is not after the
// cursor.
func (w *walker) alreadyReturned(score float32, time int64, item uint32) bool {
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
