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
	// servedFor is how long a generation of impressions is added to, and then kept.
	servedFor = 12 * time.Hour
	// servedKeys is how many impressions a generation takes at most.
	servedKeys = 1000
	// servedAgent is about what a generation costs beside its impressions, 8 bytes each.
	servedAgent = 300
)

// served holds the refs that this process has handed out in the last half day or day, by
// agent, in bounded memory; who was not seen for longest is forgotten first. It
// keeps items from coming twice while the dedup store is down, or was set back
// by a failover, and knows sessionless pages until they are in a filter. The nil
// served remembers nothing.
type served struct {
	mu          sync.Mutex
	seed        maphash.Seed
	generations *simplelru.LRU[generation, []uint64] // hashes, sorted
	bytes       int
	most        int
}

// generation names what an agent was handed out in one [servedFor], by its number.
type generation struct {
	agent  string
	number int64
}

// sessionlessBit of a hash tells that nothing but this process knows of the page.
const sessionlessBit = 1

func newServed() *served {
	s := &served{seed: maphash.MakeSeed(), most: servedBytes}
	s.generations, _ = simplelru.NewLRU[generation, []uint64](1<<30, nil) // fails only for a size that is not positive
	return s
}

func (s *served) hash(key string) uint64 { return maphash.String(s.seed, key) &^ sessionlessBit }

// put stores a generation. mu is held.
func (s *served) put(g generation, hashes []uint64) {
	before, known := s.generations.Peek(g)
	if !known {
		s.bytes += servedAgent
	}
	s.bytes += 8 * (cap(hashes) - cap(before))
	s.generations.Add(g, hashes)
}

// lately are the two generations of an agent that have not had their time.
func lately(agent string, now time.Time) [2]generation {
	number := now.Unix() / int64(servedFor/time.Second)
	return [2]generation{{agent, number}, {agent, number - 1}}
}

// add remembers what an agent was handed out; sessionless: nothing else knows of it.
func (s *served) add(agent string, keys []string, sessionless bool, now time.Time) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	of := lately(agent, now)
	hashes, _ := s.generations.Get(of[0])
	if len(hashes)+len(keys) > servedKeys {
		s.put(of[1], hashes)
		hashes = nil
	}
	for _, key := range keys {
		h := s.hash(key)
		if sessionless {
			h |= sessionlessBit
		}
		if at, found := find(hashes, h); found {
			hashes[at] = h
		} else {
			hashes = slices.Insert(hashes, at, h)
		}
	}
	s.put(of[0], hashes)
	for s.bytes > s.most && s.generations.Len() > 1 {
		_, oldest, _ := s.generations.RemoveOldest()
		s.bytes -= servedAgent + 8*cap(oldest)
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

// has reports whether the agent was handed the key out; without all, only on a sessionless page.
func (s *served) has(known [2][]uint64, key string, all bool) bool {
	h := s.hash(key)
	for _, hashes := range known {
		if at, found := find(hashes, h); found {
			return all || hashes[at]&sessionlessBit != 0
		}
	}
	return false
}

// with calls fn with what is known of the agent, if anything is.
func (s *served) with(agent string, now time.Time, fn func(known [2][]uint64)) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var known [2][]uint64
	for i, g := range lately(agent, now) {
		known[i], _ = s.generations.Get(g)
	}
	if len(known[0])+len(known[1]) > 0 {
		fn(known)
	}
}

// remove forgets keys that were in the end not delivered.
func (s *served) remove(agent string, keys []string, now time.Time) {
	s.with(agent, now, func(known [2][]uint64) {
		for i, g := range lately(agent, now) {
			for _, key := range keys {
				if at, found := find(known[i], s.hash(key)); found {
					known[i] = slices.Delete(known[i], at, at+1)
				}
			}
			s.put(g, known[i])
		}
	})
}

// unknown leaves out the refs that the agent was handed out: a session from
// before a fault may still hold them. What is to come again is left out only where
// nothing else knows that it has been handed out.
func (s *served) unknown(agent string, refs []feed.Ref, all bool, now time.Time) (left []feed.Ref) {
	left = refs
	s.with(agent, now, func(known [2][]uint64) {
		left = slices.DeleteFunc(slices.Clone(refs), func(ref feed.Ref) bool {
			all := all && !ref.ShownBefore
			return s.has(known, ref.Group, all) || ref.ID != ref.Group && s.has(known, ref.ID, all)
		})
	})
	return left
}

// mark changes the verdict of what the agent was handed out to Pending.
func (s *served) mark(agent string, keys []string, verdicts []dedup.Verdict, all bool, now time.Time) {
	s.with(agent, now, func(known [2][]uint64) {
		for i, key := range keys {
			if verdicts[i] == dedup.Unseen && s.has(known, key, all) {
				verdicts[i] = dedup.Pending
			}
		}
	})
}
