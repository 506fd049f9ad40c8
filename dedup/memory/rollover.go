package memory

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/journal"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/guard"
)

// rollOver makes day the present one: a new filter and a new journal. The day
// that ended is folded beside the calls that go on. On an error the old day
// stays. rolling is held.
func (s *Store) rollOver(day feed.Day, now time.Time) error {
	var next *journal.Journal
	if s.dir != "" {
		var err error
		if next, err = journal.Open(s.journalPath(day), nil, journal.WithLogger(s.log)); err != nil {
			return fmt.Errorf("%w: begin the day %s: %w", dedup.ErrUnavailable, day, err)
		}
		s.step("new journal begun")
	}
	s.gate.Lock()
	defer s.gate.Unlock()
	if s.closed {
		if next != nil {
			_ = next.Close() // enter says why; the next start deletes the file
		}
		return nil
	}
	if next != nil {
		f, ended, keep, from, to := s.current, s.journal, s.untrusted(), s.from, s.to
		s.journal, s.generation = next, s.generation+1
		s.folds.Go(func() {
			guard.Log(s.log, "storing a day's filter", func() {
				if s.foldPast(f, ended, now.UnixMilli()) {
					s.leave(day, keep, from, to)
				}
			})
		})
	}
	s.setToday(day, feed.DayOf(now))
	s.observe()
	return nil
}

// leave sees to the files of the days that day's beginning put out of the
// window.
func (s *Store) leave(day feed.Day, keep bool, from, to int64) {
	aside, err := s.retire(day, keep)
	s.sayAside(aside, from, to)
	if err != nil {
		s.log.Error("Files of past days could not be removed from the dedup directory; the next start tries again. Check the disk.", "error", err)
	}
}

// lockCarried locks an agent's shard for a change that is journaled. A new day's
// journal begins empty, so what the shard holds of the days before goes first.
// The gate is held.
func (s *Store) lockCarried(agent string, now int64) (*shard, error) {
	sh := s.pending.lock(agent)
	if err := s.carry(sh, now); err != nil {
		sh.mu.Unlock()
		return nil, err
	}
	return sh, nil
}

// carry appends what a shard holds to the present journal, unless that has it,
// so that the journal of the day that ended can go. The gate is held and the
// shard is locked. A shard at a time, so that no call waits for all of them.
func (s *Store) carry(sh *shard, now int64) error {
	if sh.carried == s.generation {
		return nil
	}
	if err := s.append(s.pending.entries(sh, s.kind, now)...); err != nil {
		return err
	}
	sh.carried = s.generation
	return nil
}

// carryAll carries what no call has carried, and brings it to the disk.
func (s *Store) carryAll(now int64) error {
	for i := range s.pending.shards {
		if err := s.carryOne(&s.pending.shards[i], now); err != nil {
			return err
		}
	}
	s.gate.RLock()
	present := s.journal
	s.gate.RUnlock()
	return present.Sync() // one before it was synced as it was closed
}

func (s *Store) carryOne(sh *shard, now int64) error {
	s.gate.RLock()
	defer s.gate.RUnlock()
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return s.carry(sh, now)
}

// setToday makes day the one that is written to, with its own filter if the
// window has it already, else with a new one. Days before the window at present
// leave it.
func (s *Store) setToday(day, present feed.Day) {
	s.today, s.current = day, nil
	var window []*filter
	for _, f := range *s.window.Load() {
		if f.day == day {
			s.current = f
		}
		if int(present-f.day) < s.cfg.WindowDays {
			window = append(window, f)
		}
	}
	if s.current == nil {
		s.current = s.newFilter(day)
		window = append(window, s.current)
	}
	slices.SortFunc(window, newestFirst)
	s.window.Store(&window)
}

// foldPast stores the filter of a day that ended and deletes its journal, and
// reports whether that was done. A day that cannot be stored keeps its journal,
// and the next start reads it.
func (s *Store) foldPast(f *filter, ended *journal.Journal, now int64) bool {
	err := s.fold(f, ended, now)
	if err != nil {
		s.log.Error("A past day could not be stored as a filter. Nothing is lost, its journal is kept and read at the next start. Check the disk.",
			"day", f.day.String(), "error", err)
	}
	return err == nil
}

// fold does it in the order in which a crash loses nothing: what is pending is
// on the disk in a later journal before the old one goes, and so is the filter.
func (s *Store) fold(f *filter, ended *journal.Journal, now int64) error {
	if err := errors.Join(s.carryAll(now), ended.Close()); err != nil {
		return err
	}
	s.step("carried")
	if err := s.store(f); err != nil {
		return err
	}
	s.step("filter stored")
	if err := os.Remove(s.journalPath(f.day)); err != nil {
		return err
	}
	s.step("journal deleted")
	return journal.SyncDir(s.dir)
}
