package memory

import (
	"cmp"
	"errors"
	"fmt"
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
	asideSuffix   = ".aside" // appended to the others; earlier versions marked days outside the window with it
	tempSuffix    = ".tmp"   // appended to the others: not completely written
)

// dayFile is one file of a day.
type dayFile struct {
	name   string
	day    feed.Day
	suffix string // the kind of file
}

// parseName returns the day and kind of the file with that name. It returns false if it is not a
// data file of the store, or an incomplete one.
func parseName(name string) (dayFile, bool) {
	f := dayFile{name: name, suffix: filepath.Ext(name)}
	if f.suffix != journalSuffix && f.suffix != filterSuffix {
		return f, false
	}
	var err error
	f.day, err = feed.ParseDay(strings.TrimSuffix(name, f.suffix))
	return f, err == nil
}

// listFiles returns the directory's files of days, the oldest day first.
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

// sweepFiles deletes incomplete files left by a crash, and empty journals, so that a start without
// requests leaves no file for its day. Days that an earlier version set aside get their original
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
			_, taken := os.Lstat(name)
			if taken != nil { // otherwise the existing file takes precedence
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
		return err == nil && empty // an unreadable file is reported when it is needed
	})
	return err
}

// cutSuffix splits the name of a day's file from an aside or temp suffix. suffix is "" if the file
// belongs to no day or has no such suffix.
func cutSuffix(file string) (name, suffix string) {
	for _, suffix := range []string{asideSuffix, tempSuffix} {
		name, found := strings.CutSuffix(file, suffix)
		if _, ok := parseName(name); ok && found {
			return name, suffix
		}
	}
	return file, ""
}

// inPlace returns an error if the directory was removed or replaced since it was opened, by a volume
// that was mounted over it or by a restored backup: what is at its path then belongs to others, and
// must be neither written nor deleted.
func (s *Store) inPlace() error {
	there, err := os.Stat(s.dir)
	if s.dir != "" && (errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(s.is, there)) {
		return fmt.Errorf("%s: it was removed or replaced while it was open: restart the server", s.dir)
	}
	return nil
}

// outsideWindow reports whether day is outside the window that ends at present.
func (s *Store) outsideWindow(day, present feed.Day) bool {
	return int(present-day) >= s.cfg.WindowDays
}

// retire deletes the files of days that have left the window, if the clock is trusted. rolling must
// be held.
func (s *Store) retire(present feed.Day) error {
	left := func(f dayFile) bool { return s.outsideWindow(f.day, present) && s.unfoldedIndex(f.day) < 0 }
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
		s.log.Warn("Days that have left the dedup window are set aside and not deleted, because the clock has jumped. They count again if it comes back to them, and are deleted once it has run forward for 24 hours. If the clock is wrong, correct it.",
			"days", names(aside), "clock_was", stamp(s.jump.From), "clock_is", stamp(s.jump.To), "dir", s.dir)
	}
	s.aside = aside
	return err
}

// removeFiles deletes the files that goes selects and returns their days.
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

// daysOf returns the distinct days of the files, the oldest first.
func daysOf(files []dayFile) (days []feed.Day) {
	for _, f := range files {
		days = append(days, f.day)
	}
	return slices.Compact(days)
}

// unfoldedIndex returns the index of the day in s.unfolded, or −1.
func (s *Store) unfoldedIndex(day feed.Day) int {
	return slices.IndexFunc(s.unfolded, func(f *filter) bool { return f.day == day })
}

// load adds to the window the days of the directory that it lacks, starting with the first day of
// the window at now.
func (s *Store) load(now time.Time) error {
	files, err := listFiles(s.dir)
	if err != nil {
		return err
	}
	window := slices.Clone(*s.window.Load())
	for _, day := range daysOf(files) {
		loaded := slices.ContainsFunc(window, func(f *filter) bool { return f.day == day })
		if loaded || s.outsideWindow(day, feed.DayOf(now)) {
			continue
		}
		i := s.unfoldedIndex(day)
		if i >= 0 {
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

// loadDay reads one day from its filter and its journal, either of which may be missing, and
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
