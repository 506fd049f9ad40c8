// Package memory is the dedup store of a process that has no Redis: one Bloom
// filter a day behind a rolling window, and each agent's exact pending set
// beside them. Everything is answered from RAM. What must not be forgotten is
// appended to the day's journal before the answer leaves, and a day's journal
// is folded into a stored filter soon after the day has ended, and where delivering is the
// impression also at a clean stop:
//
//	<dir>/20260306.journal  what happened on that day
//	<dir>/20260306.filter   the filter of that day, as of its last fold
//	<dir>/clock.json        when the clock was last looked at
//	<dir>/lock              held by the process that uses the directory
//
// So a killed process forgets nothing it delivered; a power cut costs at most
// the last second, and a clock that jumps costs nothing, see clock.go.
package memory

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/journal"
	"github.com/freshet/freshet/feed"
)

// Store is the in-process [dedup.Store].
type Store struct {
	dir   string // "": nothing on disk
	cfg   dedup.Config
	clock feed.Clock
	log   *slog.Logger
	kind  journal.Kind // what a claim is in the journal
	lock  io.Closer

	// gate is held for reading to change today's filter or journal, and for
	// writing to replace them.
	gate    sync.RWMutex
	closed  bool
	today   feed.Day
	current *filter          // today's, one of the window
	journal *journal.Journal // nil without a dir

	// rolling is held to move the store to another day or to judge the clock. It
	// is taken before the gate.
	rolling  sync.Mutex
	unfolded []*filter // of days that have ended, whose journals are still there
	jump     jump
	aside    []feed.Day    // that have left the window and are kept, because the clock has jumped
	looked   int64         // when look last looked, Unix ms
	saved    int64         // what the file says of that
	seen     atomic.Int64  // the same, calls included
	quit     chan struct{} // closed to end watch
	watched  chan struct{} // closed when watch has ended

	// window lists the filters, newest first. The list is replaced, never
	// changed, so that checks read it without a lock.
	window  atomic.Pointer[[]*filter]
	pending *pending
	failing atomic.Bool // the last change could not be written
}

var (
	_ dedup.Store   = (*Store)(nil)
	_ dedup.Claimer = (*Store)(nil)
)

// Option changes how a store behaves.
type Option func(*Store)

// WithLogger sets where the store logs; by default nothing is logged.
func WithLogger(log *slog.Logger) Option { return func(s *Store) { s.log = log } }

// Open opens the store in dir, creating the directory if need be, and brings
// back what it held. An empty dir keeps everything in RAM, for tests. The
// clock decides the day at the start; afterwards each call passes its own now. The caller closes the store.
//
// Errors: another process uses the directory; a
// stored filter is damaged; both with a sentence on what to do.
func Open(dir string, cfg dedup.Config, clock feed.Clock, opts ...Option) (*Store, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	s := &Store{
		dir: dir, cfg: cfg, clock: clock, log: slog.New(slog.DiscardHandler), kind: journal.Offered,
		pending: newPending(cfg.PendingTTL),
		quit:    make(chan struct{}), watched: make(chan struct{}),
	}
	if cfg.Served {
		s.kind = journal.Served
	}
	for _, opt := range opts {
		opt(s)
	}
	now := clock()
	s.today = feed.DayOf(now)
	s.seen.Store(now.UnixMilli())
	if dir == "" {
		s.current = s.newFilter(s.today)
		s.window.Store(&[]*filter{s.current})
		return s, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the dedup directory: %w", err)
	}
	var err error
	if s.lock, err = journal.LockDir(dir); err != nil {
		return nil, err
	}
	if err := s.restore(); err != nil {
		if s.journal != nil {
			_ = s.journal.Close()
		}
		_ = s.lock.Close()
		return nil, fmt.Errorf("start dedup from %s: %w", dir, err)
	}
	s.observe()
	go s.watch()
	return s, nil
}

func (s *Store) newFilter(day feed.Day) *filter {
	return newFilter(day, uint64(s.cfg.DailyCapacity), s.cfg.FilterRate())
}

func (s *Store) journalPath(day feed.Day) string {
	return filepath.Join(s.dir, day.String()+journalSuffix)
}

func (s *Store) filterPath(day feed.Day) string {
	return filepath.Join(s.dir, day.String()+filterSuffix)
}

// enter holds the gate for a change at now, having followed the clock to now.
// The caller releases the gate.
func (s *Store) enter(now time.Time) error {
	day, at := feed.DayOf(now), now.UnixMilli()
	for {
		s.gate.RLock()
		if s.closed {
			s.gate.RUnlock()
			return fmt.Errorf("%w: the dedup store is closed", dedup.ErrUnavailable)
		}
		// A clock that was set back over midnight goes on writing to the
		// newer day: past days never change.
		if day <= s.today && !s.jumped(now) {
			if at-s.seen.Load() > lookEvery.Milliseconds() {
				s.seen.Store(at)
			}
			return nil
		}
		s.gate.RUnlock()
		if err := s.follow(now); err != nil {
			s.failing.Store(true)
			return err
		}
	}
}
