package sqlite

import (
	"container/heap"
	"slices"
	"time"

	"github.com/freshet/freshet/signals/coread"
)

const window = int64(coread.Window / time.Second)

// memory holds all lists and last reads of one process. Items are numbered, because each is in many
// lists. It is not safe for concurrent use.
type memory struct {
	index   index
	items   []item   // by number
	free    []uint32 // numbers that are not used
	readers map[uint64]*reader
	young   ends  // the young items that somebody has read, the one that ends first on top
	oldest  *list // ends of a chain of all lists, by when they were last written to
	newest  *list
	lists   int // their number
	least   int // [coread.LeastLists]; tests lower it

	changedItems   map[uint32]struct{} // since the last checkpoint
	changedReaders map[uint64]struct{}
}

// item holds all that is known about an item.
type item struct {
	id      string
	dated   int64
	readers int
	acted   map[uint64]struct{} // readers who have acted on it; nil if it is not in young
	list    *list               // nil if nothing was read after it
}

// list is the list of an item.
type list struct {
	owner        uint32
	entries      []entry
	older, newer *list
}

type entry struct {
	item   uint32
	people uint32
	sum    float32
}

// reader holds the last reads of a reader.
type reader struct {
	before int      // number of reads, also of those that are forgotten
	last   int64    // time of the last one
	items  []uint32 // the last of them, oldest first
}

func newMemory() *memory {
	return &memory{
		index: newIndex(), readers: map[uint64]*reader{}, least: coread.LeastLists,
		changedItems: map[uint32]struct{}{}, changedReaders: map[uint64]struct{}{},
	}
}

// number returns the number of an item, a new one if it has none yet.
func (m *memory) number(id string) uint32 {
	n, known := m.index.find(id)
	if known {
		return n
	}
	last := len(m.free) - 1
	if last >= 0 {
		n, m.free = m.free[last], m.free[:last]
		m.items[n] = item{id: id}
	} else {
		n = uint32(len(m.items))
		m.items = append(m.items, item{id: id})
	}
	m.index.add(id, n)
	return n
}

// isYoung reports whether an item is young at a moment.
func (m *memory) isYoung(n uint32, at int64) bool { return at < m.items[n].dated+window }

// isNew reports whether an act is to be added.
func (m *memory) isNew(act *coread.Act) bool {
	n, known := m.index.find(act.Item)
	if !known {
		return true
	}
	if act.Young() && m.items[n].acted != nil {
		_, acted := m.items[n].acted[act.Agent]
		return !acted
	}
	r := m.readers[act.Agent]
	return act.Young() || r == nil || !slices.Contains(r.items, n)
}

// add adds an act, as [coread.Store] describes.
func (m *memory) add(act *coread.Act) {
	m.endYoung(act.At)
	if !m.isNew(act) {
		return
	}
	n := m.number(act.Item)
	m.items[n].dated = act.Dated
	r := m.readers[act.Agent]
	if r == nil {
		r = &reader{}
		m.readers[act.Agent] = r
	}
	if act.Young() {
		m.begin(n)
		m.items[n].acted[act.Agent] = struct{}{}
		share := float32(coread.Share(r.before))
		for _, read := range r.items {
			if read != n {
				m.raise(read, n, share, act.At)
			}
		}
		m.dropLists()
	}
	m.items[n].readers++
	m.changedItems[n] = struct{}{}
	if !slices.Contains(r.items, n) {
		r.push(n)
	}
	r.last = max(r.last, act.At)
	m.changedReaders[act.Agent] = struct{}{}
}

func (r *reader) push(n uint32) {
	if len(r.items) == coread.ReadsKept {
		copy(r.items, r.items[1:])
		r.items = r.items[:len(r.items)-1]
	}
	r.items = append(r.items, n)
	r.before++
}

// raise adds a share to the entry of an item in the list of a read.
func (m *memory) raise(read, of uint32, share float32, at int64) {
	l := m.items[read].list
	if l == nil {
		l = &list{owner: read}
		m.items[read].list = l
		m.lists++
	} else {
		m.unchain(l)
	}
	m.chain(l)
	m.changedItems[read] = struct{}{}
	for i := range l.entries {
		if l.entries[i].item == of {
			l.entries[i].sum += share
			l.entries[i].people++
			return
		}
	}
	l.entries = append(l.entries, entry{of, 1, share})
	if len(l.entries) <= coread.MostEntries {
		return
	}
	l.entries = slices.DeleteFunc(l.entries, func(e entry) bool { return !m.isYoung(e.item, at) })
	if len(l.entries) <= coread.MostEntries {
		return
	}
	lowest := 0
	for i := range l.entries {
		if m.strength(l.entries[i]) < m.strength(l.entries[lowest]) {
			lowest = i
		}
	}
	l.entries = slices.Delete(l.entries, lowest, lowest+1)
}

func (m *memory) strength(e entry) float64 {
	return coread.Strength(float64(e.sum), m.items[e.item].dated)
}

// chain makes a list the newest one.
func (m *memory) chain(l *list) {
	l.older, l.newer = m.newest, nil
	if m.newest != nil {
		m.newest.newer = l
	} else {
		m.oldest = l
	}
	m.newest = l
}

func (m *memory) unchain(l *list) {
	if l.older != nil {
		l.older.newer = l.newer
	} else {
		m.oldest = l.newer
	}
	if l.newer != nil {
		l.newer.older = l.older
	} else {
		m.newest = l.older
	}
}

// dropLists drops the oldest lists if there are too many.
func (m *memory) dropLists() {
	for m.lists > max(m.least, coread.ListsPerItem*len(m.young)) {
		m.drop(m.oldest)
	}
}

func (m *memory) drop(l *list) {
	m.unchain(l)
	m.items[l.owner].list = nil
	m.changedItems[l.owner] = struct{}{}
	m.lists--
}

// begin makes an item one of the young ones that somebody has read.
func (m *memory) begin(n uint32) {
	it := &m.items[n]
	if it.acted == nil {
		it.acted = map[uint64]struct{}{}
		heap.Push(&m.young, end{it.dated + window, n})
	}
}

// endYoung forgets who has acted on items that are no longer young.
func (m *memory) endYoung(now int64) {
	for len(m.young) > 0 && m.young[0].at <= now {
		n := m.young[0].item
		at := m.items[n].dated + window
		if at > now { // it was dated anew
			m.young[0].at = at
			heap.Fix(&m.young, 0)
			continue
		}
		heap.Pop(&m.young)
		m.items[n].acted = nil
	}
}

// end is when an item ceases to be young.
type end struct {
	at   int64
	item uint32
}

// ends implements [heap.Interface].
type ends []end

func (e ends) Len() int           { return len(e) }
func (e ends) Less(i, j int) bool { return e[i].at < e[j].at }
func (e ends) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *ends) Push(x any)        { *e = append(*e, x.(end)) }
func (e *ends) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	*e = (*e)[:last]
	return x
}

// sweep forgets readers who were idle, entries that have ended, lists without entries, and items
// that nothing refers to. It returns the ids of these items, and the readers.
func (m *memory) sweep(now int64) (items []string, readers []uint64) {
	used := make([]bool, len(m.items))
	for agent, r := range m.readers {
		if r.last <= now-int64(coread.Idle/time.Second) {
			readers = append(readers, agent)
			delete(m.readers, agent)
			delete(m.changedReaders, agent)
			continue
		}
		for _, n := range r.items {
			used[n] = true
		}
	}
	for l := m.oldest; l != nil; {
		next := l.newer
		l.entries = slices.DeleteFunc(l.entries, func(e entry) bool { return !m.isYoung(e.item, now) })
		for _, e := range l.entries {
			used[e.item] = true
		}
		used[l.owner] = used[l.owner] || len(l.entries) > 0
		if len(l.entries) == 0 {
			m.drop(l)
		}
		l = next
	}
	for n := range m.items {
		it := &m.items[n]
		if used[n] || it.acted != nil || it.id == "" {
			continue
		}
		items = append(items, it.id)
		delete(m.changedItems, uint32(n))
		*it, m.free = item{}, append(m.free, uint32(n))
	}
	m.index.clear()
	for n := range m.items {
		if m.items[n].id != "" {
			m.index.add(m.items[n].id, uint32(n))
		}
	}
	return items, readers
}

// forget forgets a reader.
func (m *memory) forget(agent uint64) {
	delete(m.readers, agent)
	delete(m.changedReaders, agent)
	for _, e := range m.young {
		delete(m.items[e.item].acted, agent)
	}
}
