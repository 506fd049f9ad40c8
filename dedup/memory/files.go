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
// aside where the clock is not trusted.
func (s *Store) retire(present feed.Day) error {
	left := func(f dayFile) bool {
		return !f.aside && !f.temp && int(present-f.day) >= s.cfg.WindowDays && s.waits(f.day) < 0
	}
	if !s.untrusted() {
		_, err := removeFiles(s.dir, left, os.Remove)
		return err
	}
	aside, err := removeFiles(s.dir, left, func(path string) error { return os.Rename(path, path+asideSuffix) })
	if len(aside) > 0 {
		s.log.Warn("Days that have left the dedup window are set aside and not deleted, because the clock has jumped. They count again if it comes back to them, and are deleted once it has run forward for 24 hours. If the clock is wrong, set it right.",
			"days", names(aside), "clock_was", stamp(s.jump.From), "clock_is", stamp(s.jump.To), "dir", s.dir)
	}
	return err
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

// waits is the index of a day among those that are not folded; −1: it is not one of them.
func (s *Store) waits(day feed.Day) int {
	return slices.IndexFunc(s.unfolded, func(f *filter) bool { return f.day == day })
}

// load adds to the window those days of the directory that it lacks, from the
// first of the window at now on; days that were set aside come back, and are returned.
func (s *Store) load(now time.Time) (back []feed.Day, err error) {
	files, err := listFiles(s.dir)
	if err != nil {
		return nil, err
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
		if loaded || int(feed.DayOf(now)-day) >= s.cfg.WindowDays {
			continue
		}
		if i := s.waits(day); i >= 0 {
			window = append(window, s.unfolded[i])
			continue
		}
		f, has, err := s.loadDay(one)
		if err != nil {
			return back, err
		}
		window = append(window, f)
		if has.journal {
			f.end(now)
			s.unfolded = append(s.unfolded, f)
		}
		if has.aside {
			back = append(back, day)
		}
	}
	slices.SortFunc(window, newestFirst)
	s.window.Store(&window)
	return back, nil
}

func newestFirst(a, b *filter) int { return cmp.Compare(b.day, a.day) }

// stored describes the files of one day in the directory.
type stored struct {
	filter, journal bool
	aside           bool // some of it had been set aside
}

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
	day := files[0].day
	f, err := s.newFilter(day), error(nil)
	if has.filter {
		f, err = loadFilter(s.filterPath(day), day)
	}
	if err == nil && has.journal {
		err = s.replay(s.journalPath(day), f)
	}
	return f, has, err
}
