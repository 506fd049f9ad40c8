package memory

import (
	"math/bits"
	"slices"
)

const (
	// mergeFactor is the number of segments of about one size that are merged into one. Each
	// item is rewritten once per level; a query visits at most mergeFactor − 1 segments per
	// level.
	mergeFactor = 8
	// leastVacuum is the number of terms below which unused terms are not removed.
	leastVacuum = 1 << 16
)

// level classifies segments by size: it rises by one when the number of items grows by
// mergeFactor.
func level(items int) int { return (bits.Len(uint(items)) - 1) / 3 }

// compact merges segments until no level has mergeFactor of them and none is mostly dead.
// Queries use the old segments in the meantime.
func (s *Source) compact() {
	for {
		chosen := s.toMerge()
		if chosen == nil {
			return
		}
		var old, kept []view
		for i := range s.views {
			if chosen[i] {
				old = append(old, s.views[i])
			} else {
				kept = append(kept, s.views[i])
			}
		}
		kept = append(kept, s.viewOf(merge(old, &s.scratch, nil)))
		largestFirst(kept)
		s.mu.Lock()
		s.views = kept
		s.mu.Unlock()
	}
}

// largestFirst sorts views into the order that queries visit them: candidates from the large
// ones allow an early end in the small ones.
func largestFirst(views []view) {
	slices.SortStableFunc(views, func(a, b view) int { return b.live() - a.live() })
}

// toMerge returns the views to merge next, or nil if there are none.
func (s *Source) toMerge() map[int]bool {
	levels := map[int]map[int]bool{}
	for i := range s.views {
		v := &s.views[i]
		if v.deadCount > v.len()/2 {
			return map[int]bool{i: true}
		}
		l := level(v.live())
		if levels[l] == nil {
			levels[l] = map[int]bool{}
		}
		levels[l][i] = true
		if len(levels[l]) == mergeFactor {
			return levels[l]
		}
	}
	return nil
}

// vacuum removes terms that no item has any more, once they are the majority, so that old words
// of a changing catalog do not fill memory. All segments are rewritten with new term numbers.
func (s *Source) vacuum() {
	total := 0
	for _, d := range s.dictionaries {
		total += d.len()
	}
	if total < s.vacuums {
		return
	}
	fresh, renumber := s.usedTerms()
	used := 0
	for _, d := range fresh {
		used += d.len()
	}
	s.vacuums = max(leastVacuum, 2*used)
	if used > total/2 {
		return
	}

	var views []view
	if len(s.views) > 0 {
		views = []view{s.viewOf(merge(s.views, &s.scratch, &renumber))}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.views = views
	s.dictionaries = fresh
}

// usedTerms returns dictionaries of the terms in use and the new number of each old term. The
// order of terms is preserved, so renumbered lists stay sorted.
func (s *Source) usedTerms() (fresh [dictionaryCount]*dictionary, renumber [dictionaryCount][]uint32) {
	used := s.inUse()
	for d, old := range s.dictionaries {
		fresh[d] = newDictionary()
		renumber[d] = make([]uint32, old.len())
		for term, name := range old.names {
			if used[d][term] {
				renumber[d][term] = fresh[d].add(name)
			}
		}
	}
	return fresh, renumber
}

// inUse reports for each term whether a live item has it.
func (s *Source) inUse() (used [dictionaryCount][]bool) {
	for d, old := range s.dictionaries {
		used[d] = make([]bool, old.len())
	}
	for i := range s.views {
		v := &s.views[i]
		for item := v.nextLive(0); int(item) < v.len(); item = v.nextLive(item + 1) {
			for f := range fieldCount {
				for _, term := range v.fields[f].of(item) {
					used[dictionaryOf[f]][term] = true
				}
			}
		}
	}
	return used
}
