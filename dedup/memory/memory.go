// Package memory is the dedup store of a process that has no Redis: a rolling window of one Bloom
// filter per day, and each agent's exact pending set. All reads are served from RAM. Everything
// that must not be forgotten is appended to the day's journal before the call returns. The journal
// is folded into a stored filter soon after the day has ended; if a delivery is an impression, also
// at a clean shutdown:
//
//	<dir>/20260306.journal  the events of that day
//	<dir>/20260306.filter   the filter of that day, as of its last fold
//	<dir>/clock.json        when the clock was last checked
//	<dir>/lock              held by the process that uses the directory
//
// A killed process forgets nothing it delivered, a power cut loses at most the last second, and a
// jump of the clock loses nothing (see clock.go).
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
	dir   string // "" stores nothing on disk
	cfg   dedup.Config
	clock feed.Clock
	log   *slog.Logger
	kind  journal.Kind // journal kind of a claim
	lock  io.Closer
	is    os.FileInfo // the directory as it was opened

	// gate is held for reading to change today's filter or journal, and for writing to replace either
	// of them.
	gate    sync.RWMutex
	closed  bool
	today   feed.Day
	current *filter          // today's, part of the window
	journal *journal.Journal // nil without a directory

	// rolling is held to move the store to another day or to evaluate the clock. It must be acquired
	// before the gate.
	rolling  sync.Mutex
	unfolded []*filter // of days that have ended and still have a journal
	jump     jump
	aside    []feed.Day    // days that have left the window and are kept because the clock has jumped
	looked   int64         // time of the last call of checkClock, Unix ms
	saved    int64         // time of the last check as saved in the file
	seen     atomic.Int64  // time of the last check, including by calls
	quit     chan struct{} // closed to end watch
	watched  chan struct{} // closed when watch has ended

	// window lists the filters, newest first. The list is replaced, never modified, so that checks
	// read it without a lock.
	window  atomic.Pointer[[]*filter]
	pending *pending
	failing atomic.Bool // the last write failed
}

var (
	_ dedup.Store   = (*Store)(nil)
	_ dedup.Claimer = (*Store)(nil)
)

// Option configures a store.
type Option func(*Store)

// WithLogger sets the store's logger; by default nothing is logged.
func WithLogger(log *slog.Logger) Option { return func(s *Store) { s.log = log } }

// Open opens the store in dir, creating the directory if necessary, and restores its contents. An
// empty dir keeps everything in RAM, for tests. The clock determines the day at the start;
// afterwards each call passes its own now. The caller must close the store.
//
// It fails if another process uses the directory or a stored filter is damaged; both errors explain
// what to do.
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
	if s.is, err = os.Stat(dir); err == nil {
		err = s.restore()
	}
	if err != nil {
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

// enter acquires the gate for a change at now, after following the clock to now. The caller must
// release the gate.
func (s *Store) enter(now time.Time) error {
	day, at := feed.DayOf(now), now.UnixMilli()
	for {
		s.gate.RLock()
		if s.closed {
			s.gate.RUnlock()
			return fmt.Errorf("%w: the dedup store is closed", dedup.ErrUnavailable)
		}
		// If the clock was set back over midnight, writes still go to the newer day: past days never
		// change.
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
