package memory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/journal"
	"github.com/freshet/freshet/feed"
)

// foldAfter is the minimum time that a day keeps its journal after it has ended: until all groups
// handed out on it have been recorded or released.
const foldAfter = 10 * time.Minute

// rollOver makes day the current one, with a new filter and a new journal. The previous day keeps
// its journal until it is folded. After an error the previous day stays current. rolling must be
// held.
func (s *Store) rollOver(day feed.Day, now time.Time) error {
	var next *journal.Journal
	if s.dir != "" {
		var err error
		if next, err = journal.Open(s.journalPath(day), s.log); err != nil {
			return fmt.Errorf("%w: begin the day %s: %w", dedup.ErrUnavailable, day, err)
		}
	}
	s.gate.Lock()
	if s.closed {
		s.gate.Unlock()
		if next != nil {
			_ = next.Close() // enter returns the error; the next start deletes the file
		}
		return nil
	}
	ended := s.journal
	s.journal = next
	if ended != nil {
		s.current.end(now)
		s.unfolded = append(s.unfolded, s.current)
	}
	s.setToday(day, feed.DayOf(now))
	s.gate.Unlock()
	s.observe()
	if ended != nil {
		if err := ended.Close(); err != nil {
			s.log.Error("A past day's journal could not be synced to the disk; a power cut now would lose impressions. Check the disk.", "error", err)
		}
	}
	return nil
}

// setToday makes day the one that is written to, with its filter from the window if there is one,
// otherwise with a new filter. Days that are outside the window at present are removed from it.
func (s *Store) setToday(day, present feed.Day) {
	s.today, s.current = day, nil
	var window []*filter
	for _, f := range *s.window.Load() {
		if f.day == day {
			s.current = f
		}
		if !s.outsideWindow(f.day, present) {
			window = append(window, f)
		}
	}
	if s.current == nil {
		s.current = s.newFilter(day)
		window = append(window, s.current)
	}
	s.unfolded = slices.DeleteFunc(s.unfolded, func(f *filter) bool { return f == s.current })
	slices.SortFunc(window, newestFirst)
	s.window.Store(&window)
}

// fold stores the filters of days that have ended and deletes their journals: of all days, or only
// of those whose journal is no longer needed for pending groups. A day that cannot be stored keeps
// its journal and is retried. rolling must be held.
func (s *Store) fold(now time.Time, all bool) {
	keep := foldAfter
	if !s.cfg.Served {
		keep = max(keep, s.cfg.PendingTTL)
	}
	s.unfolded = slices.DeleteFunc(s.unfolded, func(f *filter) bool {
		if f.ended.After(now) { // the clock was set back
			f.ended = now
		}
		if !all && now.Sub(f.ended) <= keep {
			return false
		}
		err := s.foldDay(f)
		if err != nil {
			s.logUnfolded(f.day, err)
		}
		return err == nil
	})
}

// foldDay folds one day. The filter must be on disk before the journal is removed; if a delivery is
// an impression, it includes the day's pending groups.
func (s *Store) foldDay(f *filter) error {
	s.keepPending(f, false)
	if err := s.store(f); err != nil {
		return err
	}
	if err := os.Remove(s.journalPath(f.day)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return journal.SyncDir(s.dir)
}

// store saves a day's filter unless it is empty, so that a day without impressions leaves no file.
func (s *Store) store(f *filter) error {
	if f.empty() {
		return nil
	}
	return f.save(s.filterPath(f.day))
}

// keepPending adds the pending groups of a filter's day, or all of them, to the filter, if a delivery
// is an impression.
func (s *Store) keepPending(f *filter, all bool) {
	if !s.cfg.Served {
		return
	}
	var buf []byte
	for sh := range s.pending.locked() {
		for agent, groups := range sh.agents {
			for group, served := range groups {
				if all || served.day == f.day {
					buf = f.addImpression(buf, agent, group)
				}
			}
		}
	}
}

func (s *Store) logUnfolded(day feed.Day, err error) {
	s.log.Warn("The day's journal could not be folded into a filter file. Nothing is lost: it is kept, and read at the next start. Check the disk.",
		"day", day.String(), "dir", s.dir, "error", err)
}

// Close stops the store and releases the directory. If a delivery is an impression, it first folds
// the journals into filters, waiting as long as ctx allows. A failed fold is not an error and is
// only logged: the next start reads the journals. An error means that a journal did not reach the
// disk. A directory that was replaced is left as it is. Closing twice is harmless.
func (s *Store) Close(ctx context.Context) error {
	s.gate.Lock()
	closed := s.closed
	s.closed = true
	s.gate.Unlock()
	if closed || s.dir == "" {
		return nil
	}
	close(s.quit)
	select {
	case <-s.watched:
	case <-ctx.Done():
		s.logUnfolded(s.today, ctx.Err())
		// The lock is released only when the background goroutine has ended.
		go func() {
			<-s.watched
			_ = s.lock.Close()
		}()
		return s.journal.Close()
	}
	s.rolling.Lock()
	defer s.rolling.Unlock()
	now := s.clock()
	if !s.jumped(now) {
		s.seen.Store(now.UnixMilli()) // otherwise the next start must detect the jump
	}
	err := s.journal.Close()
	moved := s.inPlace()
	if moved != nil {
		s.log.Warn("The day's journal is not folded into a filter file, and nothing is written to what is there now.", "day", s.today.String(), "error", moved)
		return errors.Join(err, s.lock.Close())
	}
	s.saveClock()
	if err == nil && s.cfg.Served {
		s.clampPending(now.UnixMilli())
		s.unfolded = append(s.unfolded, s.current)
		s.fold(now, true)
	}
	return errors.Join(err, s.lock.Close())
}
