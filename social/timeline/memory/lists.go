// Package memory stores timelines and outboxes in the memory of this process. After a restart they
// are built again when they are read.
package memory

import (
	"cmp"
	"context"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/social/timeline"
)

// Config tunes Lists. Zero fields have their defaults, but Clock is required.
type Config struct {
	Cap      int   // maximum number of entries of a list; 500
	MaxBytes int64 // approximate memory limit of all lists; 64 MiB
	Clock    feed.Clock
}

// defaultBytes is enough for about 2,000 full lists.
const defaultBytes = 64 << 20

// Lists implements [timeline.Lists] for one server. When memory is full, it evicts the lists least
// recently read or built. It is safe for concurrent use.
type Lists struct {
	cfg Config

	mu     sync.Mutex
	byName *simplelru.LRU[string, *oneList]
	bytes  int64
	serial uint64 // of tokens and versions
}

var _ timeline.Lists = (*Lists)(nil)

// New returns empty Lists of one kind.
func New(cfg Config) *Lists {
	cfg.Cap = cmp.Or(cfg.Cap, timeline.Cap)
	cfg.MaxBytes = cmp.Or(cfg.MaxBytes, defaultBytes)
	s := &Lists{cfg: cfg}
	// The only error is for a size that is not positive.
	s.byName, _ = simplelru.NewLRU(math.MaxInt, func(_ string, l *oneList) { s.bytes -= l.counted })
	return s
}

// Bytes returns the approximate memory use of the lists.
func (s *Lists) Bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

// find returns a list, or nil if it does not exist or has expired. The caller holds s.mu.
func (s *Lists) find(name string, now time.Time) *oneList {
	l, ok := s.byName.Peek(name)
	if ok && !now.Before(l.ends) {
		s.byName.Remove(name)
		return nil
	}
	return l
}

// use makes a list the most recently used and sets its time of expiry.
func (s *Lists) use(l *oneList, until time.Time) {
	l.ends = until
	s.byName.Get(l.name)
}

// count updates the size of a changed list, and evicts lists while memory is full.
func (s *Lists) count(l *oneList) {
	now := l.bytes()
	s.bytes += now - l.counted
	l.counted = now
	for s.bytes > s.cfg.MaxBytes {
		s.byName.RemoveOldest()
	}
}

// expire removes expired lists, starting with the least recently used, up to the first that has
// not expired.
func (s *Lists) expire(now time.Time) {
	for _, last, ok := s.byName.GetOldest(); ok && !now.Before(last.ends); _, last, ok = s.byName.GetOldest() {
		s.byName.RemoveOldest()
	}
}

// unique returns a token or version that was never used before.
func (s *Lists) unique() string {
	s.serial++
	return strconv.FormatUint(s.serial, 36)
}

// each calls f for each of the lists that exists, and counts its size again.
func (s *Lists) each(ctx context.Context, names []string, f func(i int, l *oneList)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	now := s.cfg.Clock()
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, name := range names {
		l := s.find(name, now)
		if l != nil {
			f(i, l)
			s.count(l)
		}
	}
	return nil
}

// owned copies positions and their ids, which may be substrings of larger strings.
func owned(list []timeline.Position) []timeline.Position {
	copies := make([]timeline.Position, len(list))
	for i, p := range list {
		copies[i] = timeline.Position{At: p.At, ID: strings.Clone(p.ID)}
	}
	return copies
}
