package memory

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/freshet/freshet/dedup/journal"
	"github.com/freshet/freshet/feed"
)

const (
	journalSuffix = ".journal"
	filterSuffix  = ".filter"
)

// stored is what the directory has of one day.
type stored struct{ filter, journal bool }

// listDays reads which days the directory has. Half-written files of a crash
// are deleted; files of other names are left alone.
func listDays(dir string) (map[feed.Day]stored, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	days := map[feed.Day]stored{}
	for _, e := range entries {
		name := e.Name()
		suffix := filepath.Ext(strings.TrimSuffix(name, ".tmp"))
		day, err := feed.ParseDay(strings.TrimSuffix(strings.TrimSuffix(name, ".tmp"), suffix))
		if err != nil || (suffix != journalSuffix && suffix != filterSuffix) {
			continue
		}
		if strings.HasSuffix(name, ".tmp") {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				return nil, err
			}
			continue
		}
		has := days[day]
		has.filter = has.filter || suffix == filterSuffix
		has.journal = has.journal || suffix == journalSuffix
		days[day] = has
	}
	return days, nil
}

// restore brings the window and the pending sets back from the directory,
// folds past days a crash left unfolded, and opens today's journal.
func (s *Store) restore() error {
	days, err := listDays(s.dir)
	if err != nil {
		return err
	}
	if err := s.chooseToday(days); err != nil {
		return err
	}
	window := []*filter{}
	var unfolded []*filter
	for back := s.cfg.WindowDays - 1; back >= 0; back-- {
		day := s.today - feed.Day(back)
		has, ok := days[day]
		if !ok && day != s.today {
			continue
		}
		f, err := s.restoreDay(day, has)
		if err != nil {
			return err
		}
		window = append(window, f)
		if has.journal && day != s.today {
			unfolded = append(unfolded, f)
		}
	}
	slices.Reverse(window)
	s.window.Store(&window)
	if s.journal, err = journal.Open(s.journalPath(s.today), nil, journal.WithLogger(s.log)); err != nil {
		return err
	}
	if err := s.foldRestored(unfolded); err != nil {
		return err
	}
	return s.deleteOutside(s.today)
}

// chooseToday takes the clock's day, or the day after it if there are files of
// that one: a clock that was set back a little. Files from further in the
// future would never leave the window, so the start is refused.
func (s *Store) chooseToday(days map[feed.Day]stored) error {
	clock := s.today
	for day := range days {
		if day > clock+1 {
			return fmt.Errorf("there are dedup files of the day %s, but the clock says %s; set the clock right, or move those files away", day, clock)
		}
		s.today = max(s.today, day)
	}
	return nil
}

// restoreDay loads the day's stored filter, or begins one, and adds what the
// day's journal has to say.
func (s *Store) restoreDay(day feed.Day, has stored) (*filter, error) {
	f := s.newFilter(day)
	if has.filter {
		var err error
		if f, err = loadFilter(s.filterPath(day), day); err != nil {
			return nil, err
		}
	}
	if !has.journal {
		return f, nil
	}
	return f, s.replay(s.journalPath(day), f)
}

// impression is a key of what a release takes back.
type impression struct{ agent, group string }

// replay adds a day's journal to its filter and to the pending sets. It reads
// the journal twice, the first time for the releases: a filter cannot forget,
// so each release takes back one delivery before that is added.
func (s *Store) replay(path string, f *filter) error {
	released := map[impression]int{}
	err := journal.Recover(path, func(e journal.Entry) error {
		if e.Kind == journal.Released {
			for _, g := range e.Groups {
				released[impression{e.Agent, g}]++
			}
		}
		return nil
	}, s.log)
	if err != nil {
		return err
	}
	now := s.clock().UnixMilli()
	var buf []byte
	return journal.Replay(path, func(e journal.Entry) error {
		switch {
		case e.Kind == journal.Released:
			s.replayPending(e, now)
		case e.Kind == journal.Offered && !s.cfg.Served:
			s.replayPending(e, now)
		default:
			for _, g := range e.Groups {
				key := impression{e.Agent, g}
				if e.Kind != journal.Seen && released[key] > 0 {
					released[key]--
					continue
				}
				buf = f.addImpression(buf, e.Agent, g)
			}
		}
		return nil
	})
}

// replayPending enters or removes what was offered; what was offered too long
// ago is left out.
func (s *Store) replayPending(e journal.Entry, now int64) {
	sh := s.pending.lock(e.Agent)
	defer sh.mu.Unlock()
	if e.Kind == journal.Released {
		sh.drop(e.Agent, e.Groups)
		return
	}
	if !s.pending.counts(e.At, now) {
		return
	}
	for _, g := range e.Groups {
		sh.put(e.Agent, g, e.At)
	}
}

// foldRestored folds the past days whose journals were still there.
func (s *Store) foldRestored(past []*filter) error {
	if len(past) == 0 {
		return nil
	}
	if err := s.carry(s.journal, s.clock()); err != nil {
		return err
	}
	if err := s.journal.Sync(); err != nil {
		return err
	}
	for _, f := range past {
		if err := f.save(s.filterPath(f.day)); err != nil {
			return err
		}
		if err := os.Remove(s.journalPath(f.day)); err != nil {
			return err
		}
	}
	return journal.SyncDir(s.dir)
}

// deleteOutside deletes the files of days that have left the window.
func (s *Store) deleteOutside(today feed.Day) error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		suffix := filepath.Ext(e.Name())
		day, err := feed.ParseDay(strings.TrimSuffix(e.Name(), suffix))
		if err != nil || (suffix != journalSuffix && suffix != filterSuffix) || int(today-day) < s.cfg.WindowDays {
			continue
		}
		if err := os.Remove(filepath.Join(s.dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
