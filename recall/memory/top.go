package memory

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// entry is an item that may be among the best.
type entry struct {
	score float32
	view  int32
	item  uint32
	time  int64
}

// top holds the best entries, one per group. New entries are collected and merged in batches:
// that is cheaper than a heap, which would move entries for each new one.
type top struct {
	views   []view
	need    int
	kept    []entry // the best so far, in order, at most need
	fresh   []entry // added since kept was built, in any order
	spare   []entry // buffer for the next kept
	keys    []uint64
	sorted  []entry
	groups  map[string]entry
	grouped bool // some item has a group
	stale   bool // some entry is no longer the best of its group
}

func (t *top) reset(views []view, need int) {
	t.views, t.need = views, need
	t.kept, t.fresh, t.stale, t.grouped = t.kept[:0], t.fresh[:0], false, false
	for i := range views {
		t.grouped = t.grouped || views[i].grouped
	}
	if t.groups == nil {
		t.groups = map[string]entry{}
	}
	clear(t.groups)
}

func (t *top) id(e entry) string { return t.views[e.view].ids.at(e.item) }

// compare orders by score descending, newer first, id ascending.
func (t *top) compare(a, b entry) int {
	switch {
	case a.score != b.score:
		if a.score > b.score {
			return -1
		}
		return 1
	case a.time != b.time:
		return cmp.Compare(b.time, a.time)
	}
	return strings.Compare(t.id(a), t.id(b))
}

// full reports whether a new entry must beat an existing one to enter.
func (t *top) full() bool { return len(t.kept) == t.need }

// mayEnter reports whether an item with at most this score, no newer than time, could enter.
func (t *top) mayEnter(score float32, time int64) bool {
	if len(t.kept) < t.need {
		return true
	}
	worst := &t.kept[t.need-1]
	return score > worst.score || score == worst.score && time >= worst.time
}

// push adds an item that passed every filter.
func (t *top) push(e entry) {
	if t.full() && t.compare(e, t.kept[t.need-1]) > 0 {
		return
	}
	if t.grouped {
		group := t.views[e.view].group(e.item)
		if best, ok := t.groups[group]; ok {
			if t.compare(best, e) < 0 {
				return
			}
			t.stale = true
		}
		t.groups[group] = e
	}
	t.fresh = append(t.fresh, e)
}

// settle merges the collected entries if there are enough of them.
func (t *top) settle() {
	n := len(t.fresh)
	if !t.full() && len(t.kept)+n >= t.need || n > t.need/4 {
		t.finish()
	}
}

// ripe reports whether merging pays off before the end of a block: enough entries were
// collected to raise the bar for the following ones.
func (t *top) ripe() bool { return len(t.fresh) > t.need/4 && len(t.kept)+len(t.fresh) >= t.need }

// sort sorts the collected entries. It sorts integers made from the scores first, which is
// faster than sorting entries, and compares entries only on equal scores.
func (t *top) sort() {
	t.keys, t.sorted = t.keys[:0], t.sorted[:0]
	for i := range t.fresh { // a score is not negative, so its bits sort as the score does
		t.keys = append(t.keys, uint64(^math.Float32bits(t.fresh[i].score))<<32|uint64(i))
	}
	slices.Sort(t.keys)
	for _, key := range t.keys {
		t.sorted = append(t.sorted, t.fresh[uint32(key)])
	}
	for i := 0; i < len(t.sorted); {
		j := i + 1
		for j < len(t.sorted) && t.sorted[j].score == t.sorted[i].score {
			j++
		}
		if j-i > 1 {
			slices.SortFunc(t.sorted[i:j], t.compare)
		}
		i = j
	}
	t.fresh, t.sorted = t.sorted, t.fresh
}

// finish merges the collected entries into kept.
func (t *top) finish() {
	t.sort()
	out := t.spare[:0]
	i, j := 0, 0
	for len(out) < t.need && (i < len(t.kept) || j < len(t.fresh)) {
		var e entry
		if j == len(t.fresh) || i < len(t.kept) && t.compare(t.kept[i], t.fresh[j]) < 0 {
			e = t.kept[i]
			i++
		} else {
			e = t.fresh[j]
			j++
		}
		if t.stale && t.groups[t.views[e.view].group(e.item)] != e {
			continue
		}
		out = append(out, e)
	}
	t.kept, t.spare, t.fresh, t.stale = out, t.kept, t.fresh[:0], false
}
