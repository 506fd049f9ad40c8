package engine

import (
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
)

const (
	// servedBytes bounds the memory of handed-out items: some seven million impressions, or
	// 10,000 readers of 700 each.
	servedBytes = 64 << 20
	// servedFor is how long a generation of an agent's impressions is added to, and then how long
	// it is retained.
	servedFor = 12 * time.Hour
	// servedKeys is the maximum number of impressions in a generation.
	servedKeys = 1000
	// servedAgent is about how many bytes an agent takes in addition to its impressions, of 8
	// bytes each.
	servedAgent = 300
)

// served holds the keys of the items that this process handed out in the last one to two periods, by
// agent, in bounded memory; it evicts the least recently used agent first. With [servedFor] it
// prevents repeats while the dedup store is down, or after a failover has set it back, and covers
// sessionless pages until they are in a filter. The nil served remembers nothing.
type served struct {
	mu     sync.Mutex
	seed   maphash.Seed
	agents *simplelru.LRU[string, *shown]
	bytes  int // the sum of the entries' sizes: where one changes, subtract it before and add it after
	most   int
	period time.Duration // of a generation
}

// shown is one agent's entry: two generations of hashes, sorted.
type shown struct {
	newer, older []uint64
	since        time.Time // when the newer generation began
}

// sessionlessBit is set in a hash if only this process knows of the page.
const sessionlessBit = 1

func newServed(period time.Duration, most int) *served {
	s := &served{seed: maphash.MakeSeed(), most: most, period: period}
	s.agents, _ = simplelru.NewLRU[string, *shown](1<<30, nil) // fails only for a size that is not positive
	return s
}

func (s *served) hash(key string) uint64 { return maphash.String(s.seed, key) &^ sessionlessBit }

func (a *shown) size() int { return servedAgent + 8*(cap(a.newer)+cap(a.older)) }

// of returns the agent's entry, without expired generations, or nil if there is none. mu is held.
func (s *served) of(agent string, now time.Time) *shown {
	a, ok := s.agents.Get(agent)
	if !ok {
		return nil
	}
	s.bytes -= a.size()
	age := now.Sub(a.since)
	if age >= 2*s.period {
		a.newer, a.older, a.since = nil, nil, now
	} else if age >= s.period {
		a.newer, a.older, a.since = nil, a.newer, now
	}
	s.bytes += a.size()
	return a
}

// add records the keys that an agent was handed out. sessionless reports that nothing else knows
// of them.
func (s *served) add(agent string, keys []string, sessionless bool, now time.Time) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.of(agent, now)
	if a == nil {
		a = &shown{since: now}
		s.agents.Add(agent, a)
		s.bytes += a.size()
	}
	s.bytes -= a.size()
	if len(a.newer)+len(keys) > servedKeys {
		a.newer, a.older, a.since = nil, a.newer, now
	}
	for _, key := range keys {
		h := s.hash(key)
		if sessionless {
			h |= sessionlessBit
		}
		at, found := find(a.newer, h)
		if found {
			a.newer[at] = h
			continue
		}
		a.newer = slices.Insert(a.newer, at, h)
	}
	s.bytes += a.size()
	for s.bytes > s.most && s.agents.Len() > 1 {
		_, oldest, _ := s.agents.RemoveOldest()
		s.bytes -= oldest.size()
	}
}

// find finds a hash with or without [sessionlessBit].
func find(sorted []uint64, h uint64) (at int, found bool) {
	at, found = slices.BinarySearch(sorted, h&^sessionlessBit)
	if !found {
		at, found = slices.BinarySearch(sorted, h|sessionlessBit)
	}
	return at, found
}

// has reports whether the agent was handed out the key; unless all is set, only sessionless
// entries count. mu is held.
func (s *served) has(a *shown, key string, all bool) bool {
	h := s.hash(key)
	for _, generation := range [][]uint64{a.newer, a.older} {
		at, found := find(generation, h)
		if found {
			return all || generation[at]&sessionlessBit != 0
		}
	}
	return false
}

// with calls fn with the agent's entry, if there is one.
func (s *served) with(agent string, now time.Time, fn func(a *shown)) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.of(agent, now)
	if a != nil {
		fn(a)
	}
}

// drop deletes an agent's entry.
func (s *served) drop(agent string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a, ok := s.agents.Peek(agent)
	if ok {
		s.bytes -= a.size()
		s.agents.Remove(agent)
	}
}

// remove deletes keys that were not delivered in the end.
func (s *served) remove(agent string, keys []string, now time.Time) {
	s.with(agent, now, func(a *shown) {
		for _, key := range keys {
			for _, generation := range []*[]uint64{&a.newer, &a.older} {
				at, found := find(*generation, s.hash(key))
				if found {
					*generation = slices.Delete(*generation, at, at+1)
				}
			}
		}
	})
}

// unknown leaves out the refs that the agent was handed out: a session from before a fault may
// still hold them. It leaves out an intended repeat only if nothing else knows that it was handed
// out.
func (s *served) unknown(agent string, refs []feed.Ref, all bool, now time.Time) (left []feed.Ref) {
	left = refs
	s.with(agent, now, func(a *shown) {
		handedOut := func(ref feed.Ref) bool {
			if ref.Scope != "" {
				keys, _ := ref.AppendTakenKeys(nil)
				return slices.ContainsFunc(keys, func(key string) bool { return s.has(a, key, all) })
			}
			all := all && !ref.ShownBefore
			return s.has(a, ref.Group, all) || ref.ID != ref.Group && s.has(a, ref.ID, all)
		}
		if slices.ContainsFunc(refs, handedOut) { // most pages have none, and are not copied
			left = slices.DeleteFunc(slices.Clone(refs), handedOut)
		}
	})
	return left
}

// mark changes the verdict of unseen keys that the agent was handed out to Pending.
func (s *served) mark(agent string, keys []string, verdicts []dedup.Verdict, all bool, now time.Time) {
	s.with(agent, now, func(a *shown) {
		for i, key := range keys {
			if verdicts[i] == dedup.Unseen && s.has(a, key, all) {
				verdicts[i] = dedup.Pending
			}
		}
	})
}
