// Package memory recalls from an inverted index in this process. It finds exactly the
// candidates that scoring every item would find, but scores only items that can still enter the
// answer: relevance is bounded and decay falls with age, so a walk back in time ends early.
//
// The index consists of a few immutable segments. A write creates a small new segment and marks
// the replaced items dead in the old ones; from time to time segments are merged. Queries never
// wait for this: they use the list of segments that was current when they started.
package memory

import (
	"iter"
	"slices"
	"sync"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/recall"
)

var (
	_ recall.Source  = (*Source)(nil)
	_ recall.Indexer = (*Source)(nil)
)

// batchSize is the number of items that become one segment in a bulk write. It bounds how long
// publishing them blocks queries.
const batchSize = 8192

// Source is an in-process recall index, created by [New]. It is safe for concurrent use.
type Source struct {
	writing sync.Mutex   // held by the only writer
	mu      sync.RWMutex // held briefly, to publish a state or to read it

	// Read by queries, guarded by mu. The slice of views is never modified in place. The writer
	// reads these without mu, because only it writes them.
	views        []view
	dictionaries [dictionaryCount]*dictionary

	// Used by the writer only.
	scratch scratch
	counts  map[string]feed.Counts // by id, of the live items that have counts
	vacuums int                    // the number of terms at which to check for unused ones
}

// New returns an empty index.
func New() *Source {
	s := &Source{vacuums: leastVacuum, counts: map[string]feed.Counts{}}
	for d := range s.dictionaries {
		s.dictionaries[d] = newDictionary()
	}
	return s
}

// Name returns "memory".
func (s *Source) Name() string { return "memory" }

// Upsert adds items and replaces those with the same id; if an id occurs several times, the
// last one wins. The items are visible when it returns. A large batch becomes visible in parts.
func (s *Source) Upsert(items []feed.Item) {
	s.writing.Lock()
	defer s.writing.Unlock()
	for len(items) > 0 {
		n := min(batchSize, len(items))
		s.upsert(items[:n])
		items = items[n:]
	}
	s.vacuum()
}

// Delete removes an item; an unknown id is ignored.
func (s *Source) Delete(id string) { s.DeleteAll([]string{id}) }

// DeleteAll removes items; unknown ids are ignored.
func (s *Source) DeleteAll(ids []string) {
	s.writing.Lock()
	defer s.writing.Unlock()
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	for _, id := range ids {
		delete(s.counts, id)
	}
	s.publish(nil, s.locate(ids), nil)
	s.compact()
}

// Has reports whether the index has an item with this id.
func (s *Source) Has(id string) bool {
	for _, v := range s.current() {
		item, ok := v.find(id)
		if ok && !v.isDead(item) {
			return true
		}
	}
	return false
}

func (s *Source) upsert(items []feed.Item) {
	d := drafter{source: s}
	drafts := d.all(items)
	for dict := range s.dictionaries {
		s.scratch.grow(s.dictionaries[dict].len() + len(d.added[dict].names))
	}
	ids := make([]string, len(drafts))
	for i := range drafts {
		ids[i] = drafts[i].item.ID
	}
	s.publish(build(drafts, &s.scratch), s.locate(ids), &d.added)
	s.compact()
}

// locate returns the current items with the ids, per view.
func (s *Source) locate(ids []string) map[int][]uint32 {
	found := map[int][]uint32{}
	for _, id := range ids {
		view, item, ok := s.find(id)
		if ok {
			found[view] = append(found[view], item)
		}
	}
	return found
}

// publish makes a new segment visible and the replaced items invisible, atomically.
func (s *Source) publish(added *segment, replaced map[int][]uint32, names *[dictionaryCount]dictionary) {
	if added == nil && len(replaced) == 0 {
		return
	}
	views := make([]view, 0, len(s.views)+1)
	for i := range s.views {
		v := s.views[i]
		items := replaced[i]
		if len(items) > 0 {
			v = v.without(items)
		}
		if v.live() > 0 {
			views = append(views, v)
		}
	}
	if added != nil {
		views = append(views, s.viewOf(added))
	}
	largestFirst(views)

	s.mu.Lock()
	defer s.mu.Unlock()
	if names != nil {
		s.extend(names)
	}
	s.views = views
}

// extend adds new terms to the dictionaries.
func (s *Source) extend(names *[dictionaryCount]dictionary) {
	for d := range s.dictionaries {
		for _, name := range names[d].names {
			s.dictionaries[d].add(name)
		}
	}
}

// Len returns the number of items.
func (s *Source) Len() (n int) {
	for _, v := range s.current() {
		n += v.live()
	}
	return n
}

// IDs yields the ids of the items in the index when the iteration starts, in any order.
func (s *Source) IDs() iter.Seq[string] {
	views := s.current()
	return func(yield func(string) bool) {
		for i := range views {
			v := &views[i]
			for item := v.nextLive(0); int(item) < v.len(); item = v.nextLive(item + 1) {
				if !yield(v.ids.at(item)) {
					return
				}
			}
		}
	}
}

// current returns the segments that a query starting now uses.
func (s *Source) current() []view {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.views
}
