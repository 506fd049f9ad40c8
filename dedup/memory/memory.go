// Package memory is the dedup store of a process that has no Redis: one Bloom
// filter a day behind a rolling window, and each agent's exact pending set
// beside them. Everything is answered from RAM. What must not be forgotten is
// appended to the day's journal before the answer leaves, and a day's journal
// is folded into a stored filter when the day ends and at a clean stop:
//
//	<dir>/20260306.journal  what happened on that day
//	<dir>/20260306.filter   the filter of that day, as of its last fold
//	<dir>/lock              held by the process that uses the directory
//
// So a killed process forgets nothing it delivered; a power cut costs at most
// the last second.
package memory

import (
	"context"
	"errors"
	"fmt"
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

// ErrLocked is wrapped by the error of opening a directory that another
// process uses.
var ErrLocked = journal.ErrLocked

// ErrClosed is wrapped by the error of using a closed store, together with
// [dedup.ErrUnavailable].
var ErrClosed = errors.New("the dedup store is closed")

// Store is the in-process [dedup.Store].
type Store struct {
	dir   string // "": nothing on disk
	cfg   dedup.Config
	clock feed.Clock
	log   *slog.Logger
	kind  journal.Kind // what a claim is in the journal
	lock  *os.File

	// gate is held for reading by whatever changes today's filter or journal,
	// and for writing by what replaces them.
	gate    sync.RWMutex
	closed  bool
	today   feed.Day
	journal *journal.Journal // nil without a dir

	// window lists the filters, newest first, today's at its head. The list is
	// replaced, never changed, so that checks read it without a lock.
	window  atomic.Pointer[[]*filter]
	pending *pending
	folds   sync.WaitGroup // past days being folded

	// step is called between the steps of a fold; tests look at the directory
	// there.
	step func(name string)
}

var _ dedup.Store = (*Store)(nil)

// Option changes how a store behaves.
type Option func(*Store)

// WithLogger sets where the store logs; the default is [slog.Default].
func WithLogger(log *slog.Logger) Option { return func(s *Store) { s.log = log } }

// Open opens the store in dir, creating the directory if need be, and brings
// back what it held. An empty dir keeps everything in RAM, for tests. The
// clock tells the present day at the start; afterwards each call passes its
// own now. The caller closes the store.
//
// Errors: [ErrLocked] if another process uses the directory, [ErrCorrupt] if a
// stored filter is damaged, both with a sentence on what to do.
func Open(dir string, cfg dedup.Config, clock feed.Clock, opts ...Option) (*Store, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	s := &Store{
		dir: dir, cfg: cfg, clock: clock, log: slog.Default(), kind: journal.Offered,
		pending: newPending(cfg.PendingTTL), step: func(string) {},
	}
	if cfg.Served {
		s.kind = journal.Served
	}
	for _, opt := range opts {
		opt(s)
	}
	s.today = feed.DayOf(clock())
	if dir == "" {
		s.window.Store(&[]*filter{s.newFilter(s.today)})
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

// Close folds today's journal into its filter and releases the directory. It
// waits for past days that are still being folded, as long as ctx allows; on
// an error nothing is lost, the next start reads the journals. Closing twice
// is harmless.
func (s *Store) Close(ctx context.Context) error {
	s.gate.Lock()
	closed := s.closed
	s.closed = true
	s.gate.Unlock()
	if closed || s.dir == "" {
		return nil
	}
	done := make(chan struct{})
	go func() {
		s.folds.Wait()
		close(done)
	}()
	select {
	case <-done:
		return errors.Join(s.foldToday(), s.lock.Close())
	case <-ctx.Done():
		// The lock stays with the folds that are still running.
		go func() {
			<-done
			_ = s.lock.Close()
		}()
		return errors.Join(fmt.Errorf("closing dedup: %w", ctx.Err()), s.journal.Close())
	}
}

// foldToday stores today's filter and empties its journal. What is pending is
// added to the filter where delivering is the impression, and kept in the
// journal where it is not.
func (s *Store) foldToday() error {
	f := (*s.window.Load())[0]
	var keep []journal.Entry
	var buf []byte
	_ = s.pending.each(s.clock().UnixMilli(), func(agent string, at int64, groups []string) error {
		if s.cfg.Served {
			for _, g := range groups {
				buf = f.addImpression(buf, agent, g)
			}
		} else {
			keep = append(keep, journal.Entry{Kind: s.kind, At: at, Agent: agent, Groups: groups})
		}
		return nil
	})
	if err := s.journal.Close(); err != nil {
		return err
	}
	s.step("journal closed")
	if err := f.save(s.filterPath(f.day)); err != nil {
		return err
	}
	s.step("filter stored")
	return journal.Rewrite(s.journalPath(f.day), keep)
}

// append journals entries; without a directory there is nothing to do.
func (s *Store) append(entries ...journal.Entry) error {
	if s.journal == nil {
		return nil
	}
	if err := s.journal.Append(entries...); err != nil {
		return fmt.Errorf("%w: %w", dedup.ErrUnavailable, err)
	}
	return nil
}

// enter holds the gate for a change at now, having moved the store to now's
// day if it is later than the present one. The caller releases the gate.
func (s *Store) enter(now time.Time) error {
	day := feed.DayOf(now)
	for {
		s.gate.RLock()
		if s.closed {
			s.gate.RUnlock()
			return fmt.Errorf("%w: %w", dedup.ErrUnavailable, ErrClosed)
		}
		// A clock that was set back over midnight goes on writing to the
		// newer day: past days never change.
		if day <= s.today {
			return nil
		}
		s.gate.RUnlock()
		if err := s.rollOver(day, now); err != nil {
			return err
		}
	}
}
