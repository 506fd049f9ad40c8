package memory

import (
	"cmp"
	"errors"
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
	asideSuffix   = ".aside" // after the others: the day left the window while the clock was not trusted
	tempSuffix    = ".tmp"   // after the others: not written to its end
)

// dayFile is one file of a day.
type dayFile struct {
	name   string
	day    feed.Day
	suffix string // what it is
	aside  bool
	temp   bool
}

// parseName returns which day's file a name is; false: it is not ours.
func parseName(name string) (dayFile, bool) {
	f := dayFile{name: name}
	name, f.temp = strings.CutSuffix(name, tempSuffix)
	name, f.aside = strings.CutSuffix(name, asideSuffix)
	f.suffix = filepath.Ext(name)
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
// without requests leaves no day behind.
func sweepFiles(dir string) error {
	_, err := removeFiles(dir, func(f dayFile) bool {
		if f.temp || f.suffix != journalSuffix {
			return f.temp
		}
		empty, err := journal.Empty(filepath.Join(dir, f.name))
		return err == nil && empty // what cannot be read is reported when it is needed
	}, os.Remove)
	return err
}

// retire deletes the files of days that have left the window, or sets them
// aside where keep says that the clock is not trusted. It returns the days set aside.
func (s *Store) retire(present feed.Day, keep bool) ([]feed.Day, error) {
	left := func(f dayFile) bool { return !f.aside && !f.temp && int(present-f.day) >= s.cfg.WindowDays }
	if !keep {
		_, err := removeFiles(s.dir, left, os.Remove)
		return nil, err
	}
	return removeFiles(s.dir, left, func(path string) error { return os.Rename(path, path+asideSuffix) })
}

// deleteDays deletes the files that drop chooses and returns their days.
func (s *Store) deleteDays(drop func(dayFile) bool) ([]feed.Day, error) {
	return removeFiles(s.dir, func(f dayFile) bool { return !f.temp && drop(f) }, os.Remove)
}

// removeFiles takes away the files that goes chooses, and returns their days, beside an error
// too.
func removeFiles(dir string, goes func(dayFile) bool, away func(path string) error) (days []feed.Day, err error) {
	files, err := listFiles(dir)
	for _, f := range files {
		if err != nil {
			break
		}
		if goes(f) {
			if err = away(filepath.Join(dir, f.name)); errors.Is(err, fs.ErrNotExist) {
				err = nil
			}
			days = append(days, f.day)
		}
	}
	return slices.Compact(days), err
}

// load adds to the window those days of the directory that it lacks, from the
// first of the window at present on; days that were set aside come back. It
// returns these, and the filters of days whose journals are still there.
func (s *Store) load(present feed.Day) (back []feed.Day, unfolded []*filter, err error) {
	files, err := listFiles(s.dir)
	if err != nil {
		return nil, nil, err
	}
	files = slices.DeleteFunc(files, func(f dayFile) bool { return f.temp })
	window := slices.Clone(*s.window.Load())
	for len(files) > 0 {
		n := 1
		for n < len(files) && files[n].day == files[0].day {
			n++
		}
		one := files[:n]
		files = files[n:]
		day := one[0].day
		loaded := slices.ContainsFunc(window, func(f *filter) bool { return f.day == day })
		if loaded || int(present-day) >= s.cfg.WindowDays {
			continue
		}
		f, has, err := s.loadDay(one)
		if err != nil {
			return back, unfolded, err
		}
		window = append(window, f)
		if has.journal {
			unfolded = append(unfolded, f)
		}
		if has.aside {
			back = append(back, day)
		}
	}
	slices.SortFunc(window, newestFirst)
	s.window.Store(&window)
	return back, unfolded, nil
}

func newestFirst(a, b *filter) int { return cmp.Compare(b.day, a.day) }

// loadDay reads one day from its files, which lose the mark of being aside.
func (s *Store) loadDay(files []dayFile) (*filter, stored, error) {
	var has stored
	for _, f := range files {
		if f.aside {
			path := filepath.Join(s.dir, f.name)
			live := strings.TrimSuffix(path, asideSuffix)
			if _, err := os.Lstat(live); err == nil {
				continue // another file has its name now; that one counts
			}
			if err := os.Rename(path, live); err != nil {
				return nil, has, err
			}
			has.aside = true
		}
		has.filter = has.filter || f.suffix == filterSuffix
		has.journal = has.journal || f.suffix == journalSuffix
	}
	f, err := s.restoreDay(files[0].day, has)
	return f, has, err
}
