package rediscache

import (
	"sync"
	"time"
)

const (
	// knownFor is how long an item is not asked for again after a prefetch has found it cached. It is
	// not longer than a tombstone lives: an item that is written meanwhile could not be cached anyway.
	knownFor = 10 * time.Second
	// mostKnown bounds the ids stored for half of that time.
	mostKnown = 50_000
)

// lately holds the ids that were found in the cache in the last half to whole of a period. Readers'
// next pages have many items in common.
type lately struct {
	period time.Duration

	mu          sync.Mutex
	turned      time.Time
	ids, before map[string]struct{} // found since turned, and in the half period before
}

// unknown returns the ids that were not found lately.
func (l *lately) unknown(ids []string, now time.Time) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn(now)
	var out []string
	for _, id := range ids {
		_, found := l.ids[id]
		if !found {
			_, found = l.before[id]
		}
		if !found {
			out = append(out, id)
		}
	}
	return out
}

// add stores an id that was found at the given time.
func (l *lately) add(id string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.turn(now)
	if len(l.ids) < mostKnown {
		l.ids[id] = struct{}{}
	}
}

// turn forgets what is too old, or of another time if the clock was set back.
func (l *lately) turn(now time.Time) {
	half := l.period / 2
	passed := now.Sub(l.turned)
	if l.ids != nil && passed >= 0 && passed < half {
		return
	}
	l.before = l.ids
	if passed < 0 || passed >= l.period {
		l.before = nil
	}
	l.ids, l.turned = map[string]struct{}{}, now
}
