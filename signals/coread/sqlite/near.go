package sqlite

import (
	"context"
	"slices"
	"sync"

	"github.com/freshet/freshet/signals/coread"
)

// sums adds up nearness by the numbers of items: at has the place in found of each item, 0 if it is not
// near, so that most candidates cost one read of a small array. It returns to the pool without any item.
type sums struct {
	at    []uint32 // by number
	found []sum    // the first belongs to no item, and is 0
}

type sum struct {
	item   uint32
	people uint32
	x      float64
}

var pooled = sync.Pool{New: func() any { return &sums{found: make([]sum, 1, 512)} }}

// release returns the sums to the pool.
func (t *sums) release() {
	for _, s := range t.found[1:] {
		t.at[s.item] = 0
	}
	t.found = t.found[:1]
	pooled.Put(t)
}

// of returns the sum of an item, a new one if it has none yet.
func (t *sums) of(item uint32) *sum {
	if t.at[item] == 0 {
		t.at[item] = uint32(len(t.found))
		t.found = append(t.found, sum{item: item})
	}
	return &t.found[t.at[item]]
}

// collect adds up the lists of reads at a moment.
func (m *memory) collect(t *sums, reads []string, now int64) {
	if len(t.at) < len(m.items) {
		t.at = make([]uint32, len(m.items)+len(m.items)/4)
	}
	for _, read := range reads {
		n, known := m.index.find(read)
		if !known || m.items[n].list == nil {
			continue
		}
		ofRead := m.items[n].readers
		for _, e := range m.items[n].list.entries {
			it := &m.items[e.item]
			if now < it.dated+window {
				s := t.of(e.item)
				s.x += coread.Part(float64(e.sum), int(e.people), ofRead, it.readers)
				s.people = max(s.people, e.people)
			}
		}
	}
}

// Near implements [coread.Store].
func (s *Store) Near(_ context.Context, reads, candidates []string, now int64, into []coread.Nearness) ([]coread.Nearness, error) {
	t := pooled.Get().(*sums)
	defer t.release()
	s.mu.RLock()
	defer s.mu.RUnlock()
	s.collect(t, reads, now)
	if len(t.found) == 1 {
		return into, nil
	}
	begin, all := len(into), 0.0
	into = slices.Grow(into, len(candidates))[:begin+len(candidates)]
	for i, id := range candidates {
		n, known := s.index.find(id)
		if !known {
			into[begin+i] = coread.Nearness{}
			continue
		}
		of := &t.found[t.at[n]]
		into[begin+i] = coread.Nearness{X: of.x, Readers: max(s.items[n].readers, int(of.people)), People: int(of.people)}
		all += of.x
	}
	if all == 0 {
		return into[:begin], nil
	}
	return into, nil
}
