package memory

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/freshet/freshet/dedup/journal"
	"github.com/freshet/freshet/feed"
)

const (
	journalSuffix = ".journal"
	filterSuffix  = ".filter"
	asideSuffix   = ".aside" // after the others: as earlier versions named days outside the window
	tempSuffix    = ".tmp"   // after the others: not written to its end
)

// dayFile is one file of a day.
type dayFile struct {
	name   string
	day    feed.Day
	suffix string // what it is
}

// parseName returns which day's file a name is; false: it is not ours, or half-written.
func parseName(name string) (dayFile, bool) {
	f := dayFile{name: name, suffix: filepath.Ext(name)}
	if f.suffix != journalSuffix && f.suffix != filterSuffix {
		return f, false
	}
	var err error
	f.day, err = feed.ParseDay(strings.TrimSuffix(name, f.suffix))
	return f, err == nil
}

// listFiles reads which files the directory has of which days, the oldest day
// first.
func listFiles(dir string) ([]dayFile, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []dayFile
	for _, e := range entries {
		if f, ok := parseName(e.Name()); ok {
			files = append(files, f)
		}
	}
	slices.SortStableFunc(files, func(a, b dayFile) int { return cmp.Compare(a.day, b.day) })
	return files, nil
}

// sweepFiles deletes what a crash left half-written, and empty journals: a start
// without requests leaves no day behind. Days that an earlier version set aside get their
// names back.
func sweepFiles(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if err != nil {
			break
		}
		path := filepath.Join(dir, e.Name())
		switch name, suffix := cutSuffix(e.Name()); suffix {
		case asideSuffix:
			name = filepath.Join(dir, name)
			if _, taken := os.Lstat(name); taken != nil { // else the file of that name counts
				err = os.Rename(path, name)
			}
		case tempSuffix:
			err = os.Remove(path)
		}
	}
	if err != nil {
		return err
	}
	_, err = removeFiles(dir, func(f dayFile) bool {
		if f.suffix != journalSuffix {
			return false
		}
		empty, err := journal.Empty(filepath.Join(dir, f.name))
		return err == nil && empty // what cannot be read is reported when it is needed
	})
	return err
}

// cutSuffix returns the name of a day's file without what was put behind it, and that; "": the
// file is of no day, or nothing is behind its name.
func cutSuffix(file string) (name, suffix string) {
	for _, suffix := range []string{asideSuffix, tempSuffix} {
		name, found := strings.CutSuffix(file, suffix)
		if _, ok := parseName(name); ok && found {
			return name, suffix
		}
	}
	return file, ""
}

// left reports whether a day has left the window at present.
func (s *Store) left(day, present feed.Day) bool { return int(present-day) >= s.cfg.WindowDays }

// retire deletes the files of days that have left the window, once the clock is trusted.
// rolling is held.
func (s *Store) retire(present feed.Day) error {
	left := func(f dayFile) bool { return s.left(f.day, present) && s.waits(f.day) < 0 }
	if !s.untrusted() {
		gone, err := removeFiles(s.dir, left)
		if err != nil {
			return err
		}
		if len(s.aside) > 0 {
			s.log.Info("The clock has run forward for 24 hours, so the dedup days that were set aside are deleted.", "days", names(gone))
		}
		s.aside = nil
		return nil
	}
	files, err := listFiles(s.dir)
	aside := daysOf(slices.DeleteFunc(files, func(f dayFile) bool { return !left(f) }))
	if len(aside) > 0 && !slices.Equal(aside, s.aside) {
		s.log.Warn("Days that have left the dedup window are set aside and not deleted, because the clock has jumped. They count again if it comes back to them, and are deleted once it has run forward for 24 hours. If the clock is wrong, set it right.",
			"days", names(aside), "clock_was", stamp(s.jump.From), "clock_is", stamp(s.jump.To), "dir", s.dir)
	}
	s.aside = aside
	return err
}

// removeFiles deletes the files that goes chooses, and returns their days.
func removeFiles(dir string, goes func(dayFile) bool) ([]feed.Day, error) {
	files, err := listFiles(dir)
	if err != nil {
		return nil, err
	}
	files = slices.DeleteFunc(files, func(f dayFile) bool { return !goes(f) })
	for _, f := range files {
		if err = os.Remove(filepath.Join(dir, f.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return daysOf(files), nil
}

// daysOf are the days that files are of, the oldest first.
func daysOf(files []dayFile) (days []feed.Day) {
	for _, f := range files {
		days = append(days, f.day)
	}
	return slices.Compact(days)
}

// waits is the index of a day among those that are not folded; −1: it is not one of them.
func (s *Store) waits(day feed.Day) int {
	return slices.IndexFunc(s.unfolded, func(f *filter) bool { return f.day == day })
}

// load adds to the window those days of the directory that it lacks, from the
// first of the window at now on.
func (s *Store) load(now time.Time) error {
	files, err := listFiles(s.dir)
	if err != nil {
		return err
	}
	window := slices.Clone(*s.window.Load())
	for _, day := range daysOf(files) {
		loaded := slices.ContainsFunc(window, func(f *filter) bool { return f.day == day })
		if loaded || s.left(day, feed.DayOf(now)) {
			continue
		}
		if i := s.waits(day); i >= 0 {
			window = append(window, s.unfolded[i])
			continue
		}
		f, ended, err := s.loadDay(day)
		if err != nil {
			return err
		}
		window = append(window, f)
		if ended {
			f.end(now)
			s.unfolded = append(s.unfolded, f)
		}
	}
	slices.SortFunc(window, newestFirst)
	s.window.Store(&window)
	return nil
}

func newestFirst(a, b *filter) int { return cmp.Compare(b.day, a.day) }

// loadDay reads one day from its filter and its journal, of which one may be missing, and
// reports whether there is a journal.
func (s *Store) loadDay(day feed.Day) (f *filter, journaled bool, err error) {
	f, err = loadFilter(s.filterPath(day), day)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = s.newFilter(day), nil
	}
	if err != nil {
		return nil, false, err
	}
	err = s.replay(s.journalPath(day), f)
	if errors.Is(err, fs.ErrNotExist) {
		return f, false, nil
	}
	return f, true, err
}
