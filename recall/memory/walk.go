package memory

import (
	"context"
	"math/bits"
	"slices"
	"sort"
	"strings"
)

// walker finds the best items of one view after the other.
//
// In a view it goes back in time, a block of items at a time. Bounds keep the
// work small, each of them relevance × decay at the newest item × highest
// popularity, against the worst of the best items so far:
//   - nothing from here on can get in: the view is done;
//   - nothing of this block can get in: the block is skipped;
//   - no item without a matching term can get in: only the items on the lists
//     of the query's terms are looked at, and blocks without any are jumped,
//     all at once if that holds for the blocks behind too;
//   - no item can get in that is only on the lists that add the least: those are
//     asked about items of the other lists alone. Decay falls and the worst of the
//     best rises, so they become more along the way. Source: MaxScore, by Turtle
//     and Flood, "Query evaluation: strategies and optimizations", 1995.
//
// Live popularity raises the bounds of the blocks that have items with counts. Where
// those could get in without being on a list that the others must be on, they are
// looked at, too.
//
// What was learned against features only lowers a score, so that all of these bounds
// hold as they are.
type walker struct {
	plan    plan
	top     top
	lists   []list                 // that add the most first
	most    []float64              // base and what the lists from a place on can add; at the end, base
	gain    [blockSize]float64     // per item of the block: what the lists add
	touched [blockSize / 64]uint64 // which items of the block are on a list

	lowering lowering // what was learned against items

	viewIndex int32
	view      *view

	counted     *counted // of the view; nil: live popularity does not count in it
	nextCounted int      // the first of its items that was not passed yet

	lastTime int64   // the time decay is known for: that of the item looked at or a newer one
	decay    float64 // its decay
}

// list holds the remaining items that may match an interest or a keyword.
type list struct {
	gainer
	items []uint32
	// instead is the gain of the same keyword in the summary: an item gets one of the two.
	instead float64
}

// slack makes up for sums and products being rounded in another order in a
// bound than in a score.
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
	tail := len(w.most)
	for at < end {
		if err := ctx.Err(); err != nil {
			return err
		}
		block := at / blockSize
		w.lastTime, w.decay = v.times[at], w.plan.curve.At(float64(w.plan.origin-v.times[at]))
		factor := w.plan.popularity(v.blockPop[block])
		highest, behind := w.raised(block, factor, w.plan.popularity(v.tailPop[block]))
		if tail = w.needed(tail, behind, at); tail == 0 {
			return nil
		}
		stop := min((block+1)*blockSize, end)
		need := w.needed(tail, factor, at)
		counted := highest > factor && w.needed(tail, highest, at) > need
		if !counted && need <= len(w.lists) && w.nextListed(at, need) >= stop {
			// A later block may have an item popular enough.
			if at = stop; tail <= len(w.lists) {
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
		w.raiseAgain()
		w.top.settle()
		at = stop
	}
	return nil
}

// needed is how many of the lists, from the first on, an item from at on must be
// on one of to get in with this popularity factor: 0 says that none can get in, one
// more than there are lists that it need not be on any. n is known to be enough.
func (w *walker) needed(n int, popularity float64, at uint32) int {
	factor := w.decay * popularity * slack
	for n > 0 && !w.top.mayEnter(float32(w.most[n-1]*factor), w.view.times[at]) {
		n--
	}
	return n
}

// open finds the lists of the view.
func (w *walker) open(at uint32) {
	w.lists = w.lists[:0]
	for _, g := range w.plan.gainers {
		items := w.view.fields[g.field].candidates(g.terms)
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

// pair tells the list of a keyword in the title what the one in the summary adds.
// It comes before that: it adds no less.
func (w *walker) pair(summary *gainer) {
	for i := range w.lists {
		if l := &w.lists[i]; l.keyword == summary.keyword && l.field == titleField {
			l.instead = summary.weight
		}
	}
}

// candidates are the items that have the rarest of the terms; none where another
// term is in no item.
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

// skipTo drops the items before at. It looks near by first, and in wider and wider
// steps.
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

// nextListed returns the first item from at on that is on one of the first n
// lists.
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

// gather adds up, for the items of a block, what the lists give them: all items
// of the first need lists, which are touched, and of those alone what the others
// add, and the items touched before. The sum is always in the order of the lists, so that it has the same
// rounding in every round.
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
	switch left := w.narrow(first, w.most[need]); {
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

// fewLeft is how many items of a block are looked up in a list one by one, rather
// than met while going through it.
const fewLeft = 16

// matches reports whether a candidate has what the list is of: all terms of a
// keyword, one after the other, and in the summary only what the title lacks.
func (w *walker) matches(l *list, item uint32) bool {
	fields := &w.view.fields
	if len(l.terms) > 1 && !fields[l.field].has(item, l.terms) {
		return false
	}
	return l.field != summaryField || !fields[titleField].has(item, l.terms)
}

// narrow leaves touched only what can get in with the most that is still to come,
// the base included, and returns how many that are.
func (w *walker) narrow(first uint32, most float64) (left int) {
	factor, counted := w.decay*slack, w.nextCounted
	for word, set := range w.touched {
		for ; set != 0; set &= set - 1 {
			place := uint32(word*64 + bits.TrailingZeros64(set))
			item := first + place
			popularity := w.plan.popularity(w.view.popularity[item])
			if c := w.countsOf(item); c != nil {
				popularity += w.plan.raise(c.highest)
			}
			if w.top.mayEnter(float32((w.gain[place]+most)*factor*popularity), w.view.times[item]) {
				left++
			} else {
				w.gain[place] = 0
				w.touched[word] &^= 1 << (place % 64)
			}
		}
	}
	w.nextCounted = counted // the same items are gone through again
	return left
}

// lookUp adds what a list adds to the items touched.
func (w *walker) lookUp(l *list, first uint32) {
	for word, set := range w.touched {
		for ; set != 0; set &= set - 1 {
			place := uint32(word*64 + bits.TrailingZeros64(set))
			item := first + place
			if l.skipTo(item); len(l.items) > 0 && l.items[0] == item && w.matches(l, item) {
				w.gain[place] += l.weight
			}
		}
	}
}

// complete does the same by going through the list.
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

// sweep scores the items of a block, all of them or those on a list, and
// leaves gain and touched empty.
func (w *walker) sweep(at, stop uint32, everyItem bool) {
	base := w.plan.ranking.Base
	first := at / blockSize * blockSize
	if everyItem {
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

// offer scores an item and hands it to top if it may get in. The decay of the item
// before, which is not older, is tried first: one of its own costs exponentials.
func (w *walker) offer(item uint32, relevance float64) {
	v := w.view
	time, popularity := v.times[item], w.plan.popularity(v.popularity[item])
	counts := w.countsOf(item)
	if counts != nil {
		popularity += w.plan.raise(counts.highest)
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
	if !w.top.mayEnter(score, time) || v.isDead(item) || w.given(score, time, item) || w.plan.refuses(v.segment, item) {
		return
	}
	w.top.push(entry{score: score, view: w.viewIndex, item: item, time: time})
	if w.top.ripe() {
		w.top.finish()
	}
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
