package memory

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/journal"
	"github.com/freshet/freshet/feed"
)

// carryChunk is how many entries are carried into a new journal in one write.
const carryChunk = 1_000

// rollOver makes day the present one: a new filter, a new journal that begins
// with what is still pending, and the day that ended is folded beside the
// calls that go on. On an error the old day stays.
func (s *Store) rollOver(day feed.Day, now time.Time) error {
	s.gate.Lock()
	defer s.gate.Unlock()
	if s.closed || day <= s.today {
		return nil // somebody else was faster; enter looks again
	}
	old := *s.window.Load()
	if s.dir != "" {
		next, err := s.nextJournal(day, now)
		if err != nil {
			return fmt.Errorf("%w: begin the day %s: %w", dedup.ErrUnavailable, day, err)
		}
		s.step("new journal begun")
		ended := s.journal
		s.journal = next
		s.folds.Go(func() { s.foldPast(old[0], ended, next, day) })
	}
	s.setWindow(day, old)
	s.today = day
	s.observe()
	return nil
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

// setWindow puts a new filter for day before those of old that are still in
// the window.
func (s *Store) setWindow(day feed.Day, old []*filter) {
	window := []*filter{s.newFilter(day)}
	for _, f := range old {
		if int(day-f.day) < s.cfg.WindowDays {
			window = append(window, f)
		}
	}
	s.window.Store(&window)
}

// foldPast stores the filter of a day that ended and deletes its journal. A
// day that cannot be stored keeps its journal, and the next start reads it.
func (s *Store) foldPast(f *filter, ended, next *journal.Journal, today feed.Day) {
	err := s.fold(f, ended, next)
	if err == nil {
		err = s.deleteOutside(today)
	}
	if err != nil {
		s.log.Error("A past day could not be stored as a filter. Nothing is lost, its journal is kept and read at the next start. Check the disk.",
			"day", f.day.String(), "error", err)
	}
}

// fold does it in the order in which a crash loses nothing: what the new
// journal carries is on the disk before the old one goes, and so is the filter.
func (s *Store) fold(f *filter, ended, next *journal.Journal) error {
	if err := errors.Join(next.Sync(), ended.Close()); err != nil {
		return err
	}
	s.step("carried")
	if err := f.save(s.filterPath(f.day)); err != nil {
		return err
	}
	s.step("filter stored")
	if err := os.Remove(s.journalPath(f.day)); err != nil {
		return err
	}
	s.step("journal deleted")
	return journal.SyncDir(s.dir)
}
