// Package memory keeps timelines and outboxes in this process. They end with it,
// and are built again as they are read.
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

// Config tunes Lists. Zero values stand for the defaults, but a clock is needed.
type Config struct {
	Cap      int   // most entries of a list; 500
	MaxBytes int64 // most memory of all lists, about; 64 MiB
	Clock    feed.Clock
}

// defaultBytes is room for some 2,000 full lists.
const defaultBytes = 64 << 20

// Lists implements [timeline.Lists] for one server. Where memory is full, those lists go that
// nobody has read or built for longest. It is safe for concurrent use.
type Lists struct {
	cfg Config

	mu     sync.Mutex
	byName *simplelru.LRU[string, *oneList]
	bytes  int64
	serial uint64 // of tokens and versions
}

var _ timeline.Lists = (*Lists)(nil)

// New makes lists of one kind.
func New(cfg Config) *Lists {
	cfg.Cap = cmp.Or(cfg.Cap, timeline.Cap)
	cfg.MaxBytes = cmp.Or(cfg.MaxBytes, defaultBytes)
	s := &Lists{cfg: cfg}
	// The error is that of a size that is not positive.
	s.byName, _ = simplelru.NewLRU(math.MaxInt, func(_ string, l *oneList) { s.bytes -= l.counted })
	return s
}

// Bytes is how much memory the lists take, about.
func (s *Lists) Bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

// find returns a list that has not expired, or nil. The lock is held.
func (s *Lists) find(name string, now time.Time) *oneList {
	l, ok := s.byName.Peek(name)
	if ok && !now.Before(l.ends) {
		s.byName.Remove(name)
		return nil
	}
	return l
}

// use makes a list the latest used and lets it live for a while.
func (s *Lists) use(l *oneList, until time.Time) {
	l.ends = until
	s.byName.Get(l.name)
}

// count recounts a list that has changed, and makes room.
func (s *Lists) count(l *oneList) {
	now := l.bytes()
	s.bytes += now - l.counted
	l.counted = now
	for s.bytes > s.cfg.MaxBytes {
		s.byName.RemoveOldest()
	}
}

// expire forgets lists that have expired, as far as they are those that nobody
// has used for longest.
func (s *Lists) expire(now time.Time) {
	for _, last, ok := s.byName.GetOldest(); ok && !now.Before(last.ends); _, last, ok = s.byName.GetOldest() {
		s.byName.RemoveOldest()
	}
}

// unique is a token or version that no list has had.
func (s *Lists) unique() string {
	s.serial++
	return strconv.FormatUint(s.serial, 36)
}

// each runs f on those of the lists that exist, one after the other.
func (s *Lists) each(ctx context.Context, names []string, f func(i int, l *oneList, now time.Time)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	now := s.cfg.Clock()
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, name := range names {
		if l := s.find(name, now); l != nil {
			f(i, l, now)
		}
	}
	return nil
}

// change does so, and f may return with the list at any size.
func (s *Lists) change(ctx context.Context, names []string, f func(i int, l *oneList)) error {
	return s.each(ctx, names, func(i int, l *oneList, _ time.Time) {
		f(i, l)
		s.count(l)
	})
}

// owned copies positions with ids that are not parts of something larger.
func owned(list []timeline.Position) []timeline.Position {
	copies := make([]timeline.Position, len(list))
	for i, p := range list {
		copies[i] = timeline.Position{At: p.At, ID: strings.Clone(p.ID)}
	}
	return copies
}
