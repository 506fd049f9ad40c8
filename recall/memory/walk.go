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
type walker struct {
	plan    plan
	top     top
	lists   []list
	gain    [blockSize]float64     // per item of the block: what the lists add
	touched [blockSize / 64]uint64 // which items of the block are on a list

	viewIndex int32
	view      *view
	lastTime  int64   // the time decay is known for
	decay     float64 // its decay
}

// list is what is left of the items that have a term.
type list struct {
	weighted
	next, end uint32 // into items
	items     []uint32
	freqs     []uint8
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
	for at < end {
		if err := ctx.Err(); err != nil {
			return err
		}
		block := at / blockSize
		decay := w.plan.curve.At(float64(w.plan.origin - v.times[at]))
		if !w.mayEnter(most, decay, v.tailPop[block], at) {
			return nil
		}
		stop := min((block+1)*blockSize, end)
		everyItem := w.mayEnter(base, decay, v.blockPop[block], at)
		if !everyItem {
			next := w.nextListed(at)
			if next >= stop && w.mayEnter(base, decay, v.tailPop[block], at) {
				next = stop // a later block may have an item popular enough
			}
			if next >= stop {
				at = next
				continue
			}
		}
		if w.mayEnter(most, decay, v.blockPop[block], at) {
			w.gather(at, stop)
			w.sweep(at, stop, everyItem, decay*slack)
			w.top.settle()
		}
		at = stop
	}
	return nil
}

// mayEnter tells whether an item from at on, with these bounds, could get in.
func (w *walker) mayEnter(relevance, decay, popularity float64, at uint32) bool {
	bound := float32(relevance * decay * w.plan.popularity(popularity) * slack)
	return w.top.mayEnter(bound, w.view.times[at])
}

// open finds the lists of the view and returns the most they can add.
func (w *walker) open(at uint32) (most float64) {
	w.lists = w.lists[:0]
	for _, t := range w.plan.terms {
		f := &w.view.fields[t.field]
		from, to := f.postings(t.term)
		if from == to {
			continue
		}
		l := list{weighted: t, next: from, end: to, items: f.items, freqs: f.freqs}
		l.skipTo(at)
		w.lists = append(w.lists, l)
		most += t.weight
	}
	return most
}

// skipTo drops the items before at.
func (l *list) skipTo(at uint32) {
	if l.next == l.end || l.items[l.next] >= at {
		return
	}
	rest := l.items[l.next:l.end]
	l.next += uint32(sort.Search(len(rest), func(i int) bool { return rest[i] >= at }))
}

// nextListed returns the first item from at on that is on a list.
func (w *walker) nextListed(at uint32) uint32 {
	next := uint32(w.view.len())
	for i := range w.lists {
		l := &w.lists[i]
		l.skipTo(at)
		if l.next < l.end {
			next = min(next, l.items[l.next])
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
		if l.field == tagField {
			w.gatherTag(l, first, stop)
		} else {
			w.gatherWord(l, first, stop)
		}
	}
}

func (w *walker) gatherTag(l *list, first, stop uint32) {
	for ; l.next < l.end && l.items[l.next] < stop; l.next++ {
		place := (l.items[l.next] - first) % blockSize
		w.gain[place] += l.weight
		w.touched[place/64] |= 1 << (place % 64)
	}
}

func (w *walker) gatherWord(l *list, first, stop uint32) {
	lengths, norms := &w.plan.lengths[l.field], w.view.norms[l.field]
	for ; l.next < l.end && l.items[l.next] < stop; l.next++ {
		item := l.items[l.next]
		freq := float64(l.freqs[l.next])
		if freq == manyTimes {
			freq = float64(w.view.fields[l.field].frequency(manyTimes, item, l.term))
		}
		place := (item - first) % blockSize
		w.gain[place] += l.weight * freq / (freq + lengths[norms[item]])
		w.touched[place/64] |= 1 << (place % 64)
	}
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
	if !w.top.mayEnter(float32(relevance*mostDecay*popularity), time) {
		return
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
