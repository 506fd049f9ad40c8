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
	// servedBytes bounds what a process remembers: some seven million
	// impressions, or 10,000 readers of 700 each.
	servedBytes = 64 << 20
	// servedFor is how long a generation of an agent's impressions is added
	// to, and then kept.
	servedFor = 12 * time.Hour
	// servedKeys is how many impressions a generation takes at most.
	servedKeys = 1000
	// servedAgent is about what an agent costs beside its impressions, 8 bytes
	// each.
	servedAgent = 300
)

// served holds the refs that this process has handed out in the last half day or day, by
// agent, in bounded memory; who was not seen for longest is forgotten first. It
// keeps items from coming twice while the dedup store is down, or was set back
// by a failover, and knows sessionless pages until they are in a filter. The nil
// served remembers nothing.
type served struct {
	mu     sync.Mutex
	seed   maphash.Seed
	agents *simplelru.LRU[string, *shown]
	bytes  int
	most   int
}

// shown is one agent's share: two generations of hashes, sorted.
type shown struct {
	newer, older []uint64
	since        time.Time // when the newer generation began
}

// sessionlessBit of a hash tells that nothing but this process knows of the page.
const sessionlessBit = 1

func newServed() *served {
	s := &served{seed: maphash.MakeSeed(), most: servedBytes}
	s.agents, _ = simplelru.NewLRU[string, *shown](1<<30, nil) // fails only for a size that is not positive
	return s
}

func (s *served) hash(key string) uint64 { return maphash.String(s.seed, key) &^ sessionlessBit }

func (a *shown) size() int { return servedAgent + 8*(cap(a.newer)+cap(a.older)) }

// change changes an agent's share. Whatever changes its size does so here, or the bytes
// would not be those that are there. mu is held.
func (s *served) change(a *shown, do func()) {
	s.bytes -= a.size()
	do()
	s.bytes += a.size()
}

// of returns the agent's share, without generations that have had their time; nil: there
// is none. mu is held.
func (s *served) of(agent string, now time.Time) *shown {
	a, ok := s.agents.Get(agent)
	if !ok {
		return nil
	}
	if age := now.Sub(a.since); age >= 2*servedFor {
		s.change(a, func() { a.newer, a.older, a.since = nil, nil, now })
	} else if age >= servedFor {
		s.change(a, func() { a.newer, a.older, a.since = nil, a.newer, now })
	}
	return a
}

// add remembers what an agent was handed out. sessionless says that nothing else
// knows of it.
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
	s.change(a, func() {
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
	})
	for s.bytes > s.most && s.agents.Len() > 1 {
		_, oldest, _ := s.agents.RemoveOldest()
		s.bytes -= oldest.size()
	}
}

// find looks a hash up, sessionless or not.
func find(sorted []uint64, h uint64) (at int, found bool) {
	at, found = slices.BinarySearch(sorted, h&^sessionlessBit)
	if !found {
		at, found = slices.BinarySearch(sorted, h|sessionlessBit)
	}
	return at, found
}

// has reports whether the agent was handed the key out; with all unset, only
// loosely. mu is held.
func (s *served) has(a *shown, key string, all bool) bool {
	h := s.hash(key)
	for _, generation := range [][]uint64{a.newer, a.older} {
		if at, found := find(generation, h); found {
			return all || generation[at]&sessionlessBit != 0
		}
	}
	return false
}

// with calls fn with what is known of the agent, if anything is.
func (s *served) with(agent string, now time.Time, fn func(a *shown)) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a := s.of(agent, now); a != nil {
		fn(a)
	}
}

// remove forgets keys that were in the end not delivered.
func (s *served) remove(agent string, keys []string, now time.Time) {
	s.with(agent, now, func(a *shown) {
		for _, key := range keys {
			for _, generation := range []*[]uint64{&a.newer, &a.older} {
				if at, found := find(*generation, s.hash(key)); found {
					*generation = slices.Delete(*generation, at, at+1)
				}
			}
		}
	})
}

// unknown leaves out the refs that the agent was handed out: a session from
// before a fault may still hold them. What is to come again is left out only where
// nothing else knows that it has been handed out.
func (s *served) unknown(agent string, refs []feed.Ref, all bool, now time.Time) (left []feed.Ref) {
	left = refs
	s.with(agent, now, func(a *shown) {
		handedOut := func(ref feed.Ref) bool {
			all := all && !ref.ShownBefore
			return s.has(a, ref.Group, all) || ref.ID != ref.Group && s.has(a, ref.ID, all)
		}
		if slices.ContainsFunc(refs, handedOut) { // most pages have none, and are not copied
			left = slices.DeleteFunc(slices.Clone(refs), handedOut)
		}
	})
	return left
}

// mark changes the verdict of what the agent was handed out to Pending.
func (s *served) mark(agent string, keys []string, verdicts []dedup.Verdict, all bool, now time.Time) {
	s.with(agent, now, func(a *shown) {
		for i, key := range keys {
			if verdicts[i] == dedup.Unseen && s.has(a, key, all) {
				verdicts[i] = dedup.Pending
			}
		}
	})
}
