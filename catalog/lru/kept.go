package lru

import (
	"hash/maphash"
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

const (
	shards = 16   // locks, so that readers seldom meet
	slots  = 1024 // marks per shard
)

// kept is a least-recently-used store with a bound on the sum of its values' costs. It refuses
// a value that was read before or during a write to its key, which would then stay. To know,
// it has marks that keys share by hash: a write to a key changes its mark, and a value is taken
// only if its mark is the one of the failed get before it was read. Keys that share a mark by
// chance miss a little more.
type kept[V any] struct {
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
	_     [64]byte // keeps the locks on cache lines of their own
}

// mark counts the writes to the keys that share it.
type mark struct {
	begun, ended uint32
}

// ticket is handed out by a failed get, for the offer that follows.
type ticket struct{ mark mark }

func newKept[V any](budget, most int, cost func(string, V) int) *kept[V] {
	k := &kept[V]{seed: maphash.MakeSeed(), cost: cost, most: most, budget: budget / shards}
	if budget > 0 {
		k.budget = max(k.budget, 1)
	}
	for i := range k.sharded {
		s := &k.sharded[i]
		// Cost bounds it, not the number of entries.
		s.lru, _ = simplelru.NewLRU(math.MaxInt, func(key string, v V) { s.used -= cost(key, v) })
	}
	return k
}

// lock returns the key's shard, locked, and its mark.
func (k *kept[V]) lock(key string) (*shard[V], *mark) {
	h := maphash.String(k.seed, key)
	s := &k.sharded[h%shards]
	s.mu.Lock()
	return s, &s.marks[h/shards%slots]
}

// get returns the value, or the ticket to offer it with.
func (k *kept[V]) get(key string) (v V, seen ticket, ok bool) {
	s, m := k.lock(key)
	v, ok = s.lru.Get(key)
	seen.mark = *m
	s.mu.Unlock()
	return v, seen, ok
}

// offer keeps a value that was read after a failed get, unless its key was written meanwhile.
func (k *kept[V]) offer(key string, v V, seen ticket) {
	cost := k.cost(key, v)
	if cost > k.most || cost > k.budget || seen.mark.begun != seen.mark.ended {
		return
	}
	s, m := k.lock(key)
	defer s.mu.Unlock()
	if *m != seen.mark {
		return
	}
	s.lru.Remove(key) // so that its cost is taken off
	s.lru.Add(key, v)
	for s.used += cost; s.used > k.budget; {
		s.lru.RemoveOldest()
	}
}

// writing comes before a write to the keys, and what it returns after it, also where it failed:
// it may have happened all the same. Nothing is kept of the keys in between: a reader may be
// answered with the new value before the write has ended, and must not get the old one after.
func (k *kept[V]) writing(keys ...string) (end func()) {
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
