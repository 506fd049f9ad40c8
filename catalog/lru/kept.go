package lru

import (
	"hash/maphash"
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

const (
	shards = 16   // number of locks, to reduce contention between readers
	slots  = 1024 // marks per shard
)

// costLRU is an LRU cache bounded by the total cost of its values. It rejects a value that was
// read before or during a write to its key, because the value could be stale and would stay.
// For this it has marks, shared by keys with the same hash: a write changes the mark of its
// key, and a value is accepted only if the mark is the same as at the failed get before the
// read. Keys that share a mark miss slightly more often.
type costLRU[V any] struct {
	seed    maphash.Seed
	cost    func(key string, v V) int
	most    int // of one value
	budget  int // of a shard
	sharded [shards]shard[V]
}

type shard[V any] struct {
	mu    sync.Mutex
	lru   *simplelru.LRU[string, V]
	used  int
	marks [slots]mark
	_     [64]byte // puts the locks on separate cache lines
}

// mark counts the writes to the keys that share it.
type mark struct {
	begun, ended uint32
}

// ticket is returned by a failed get and passed to the offer that follows.
type ticket struct{ mark mark }

func newCostLRU[V any](budget, most int, cost func(string, V) int) *costLRU[V] {
	k := &costLRU[V]{seed: maphash.MakeSeed(), cost: cost, most: most, budget: budget / shards}
	for i := range k.sharded {
		s := &k.sharded[i]
		// The cost bounds it, not the number of entries.
		s.lru, _ = simplelru.NewLRU(math.MaxInt, func(key string, v V) { s.used -= cost(key, v) })
	}
	return k
}

// lock returns the key's shard, locked, and its mark.
func (k *costLRU[V]) lock(key string) (*shard[V], *mark) {
	h := maphash.String(k.seed, key)
	s := &k.sharded[h%shards]
	s.mu.Lock()
	return s, &s.marks[h/shards%slots]
}

// get returns the value, or a ticket for offering it.
func (k *costLRU[V]) get(key string) (v V, seen ticket, ok bool) {
	s, m := k.lock(key)
	v, ok = s.lru.Get(key)
	seen.mark = *m
	s.mu.Unlock()
	return v, seen, ok
}

// offer stores a value that was read after a failed get, unless its key was written in the
// meantime.
func (k *costLRU[V]) offer(key string, v V, seen ticket) {
	cost := k.cost(key, v)
	if cost > k.most || cost > k.budget || seen.mark.begun != seen.mark.ended {
		return
	}
	s, m := k.lock(key)
	defer s.mu.Unlock()
	if *m != seen.mark {
		return
	}
	s.lru.Remove(key) // so that its cost is subtracted
	s.lru.Add(key, v)
	for s.used += cost; s.used > k.budget; {
		s.lru.RemoveOldest()
	}
}

// writing must be called before a write to the keys, and end after it, even if the write
// failed, because it may have been applied. Nothing is cached for the keys in between: a reader
// may see the new value before the write has ended, and must not get the old one afterwards.
func (k *costLRU[V]) writing(keys ...string) (end func()) {
	for _, key := range keys {
		s, m := k.lock(key)
		m.begun++
		s.lru.Remove(key)
		s.mu.Unlock()
	}
	return func() {
		for _, key := range keys {
			s, m := k.lock(key)
			m.ended++
			s.mu.Unlock()
		}
	}
}
