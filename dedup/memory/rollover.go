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
)

// carryChunk is how many entries are carried into a new journal in one write.
const carryChunk = 1_000

// rollOver makes day the present one: a new filter, a new journal that begins
// with what is still pending, and the day that ended is folded beside the
// calls that go on. On an error the old day stays. rolling is held.
func (s *Store) rollOver(day feed.Day, now time.Time) error {
	s.gate.Lock()
	defer s.gate.Unlock()
	if s.closed {
		return nil // enter says so
	}
	ended := s.current
	if s.dir != "" {
		next, err := s.nextJournal(day, now)
		if err != nil {
			return fmt.Errorf("%w: begin the day %s: %w", dedup.ErrUnavailable, day, err)
		}
		s.step("new journal begun")
		old, keep, from, to := s.journal, s.inDoubt(), s.from, s.to
		s.journal = next
		s.folds.Go(func() {
			if s.foldPast(ended, old, next) {
				s.leave(day, keep, from, to)
			}
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

// nextJournal opens the day's journal and carries what is pending into it, so
// that the old journal can go.
func (s *Store) nextJournal(day feed.Day, now time.Time) (*journal.Journal, error) {
	next, err := journal.Open(s.journalPath(day), nil, journal.WithLogger(s.log))
	if err != nil {
		return nil, err
	}
	if err := s.carry(next, now); err != nil {
		return nil, errors.Join(err, next.Close())
	}
	return next, nil
}

// carry appends what is pending to a journal.
func (s *Store) carry(to *journal.Journal, now time.Time) error {
	var chunk []journal.Entry
	err := s.pending.each(now.UnixMilli(), func(agent string, at int64, groups []string) error {
		chunk = append(chunk, journal.Entry{Kind: s.kind, At: at, Agent: agent, Groups: groups})
		if len(chunk) < carryChunk {
			return nil
		}
		err := to.Append(chunk...)
		chunk = chunk[:0]
		return err
	})
	if err != nil {
		return err
	}
	return to.Append(chunk...)
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
func (s *Store) foldPast(f *filter, ended, next *journal.Journal) bool {
	err := s.fold(f, ended, next)
	if err != nil {
		s.log.Error("A past day could not be stored as a filter. Nothing is lost, its journal is kept and read at the next start. Check the disk.",
			"day", f.day.String(), "error", err)
	}
	return err == nil
}

// fold does it in the order in which a crash loses nothing: what the new
// journal carries is on the disk before the old one goes, and so is the filter.
func (s *Store) fold(f *filter, ended, next *journal.Journal) error {
	if err := errors.Join(next.Sync(), ended.Close()); err != nil {
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
