package memory

import (
	"os"
	"slices"

	"github.com/freshet/freshet/dedup/journal"
	"github.com/freshet/freshet/feed"
)

// stored describes the files of one day in the directory.
type stored struct {
	filter, journal bool
	aside           bool // some of it had been set aside
}

// restore brings the window and the pending sets back from the directory,
// folds past days a crash left unfolded, and opens today's journal.
func (s *Store) restore() error {
	if err := sweepFiles(s.dir); err != nil {
		return err
	}
	files, err := listFiles(s.dir)
	if err != nil {
		return err
	}
	present := s.today
	jumped := s.recallClock(files, s.clock())
	if s.untrusted() {
		for _, f := range files {
			if !f.aside {
				s.today = max(s.today, f.day)
			}
		}
	}
	s.window.Store(&[]*filter{})
	back, unfolded, err := s.load(present)
	if err != nil {
		return err
	}
	if len(back) > 0 || jumped && s.to < s.from {
		s.sayBack(back, s.from, s.to)
	}
	s.setToday(s.today, present)
	if s.journal, err = journal.Open(s.journalPath(s.today), nil, journal.WithLogger(s.log)); err != nil {
		return err
	}
	unfolded = slices.DeleteFunc(unfolded, func(f *filter) bool { return f == s.current })
	if err := s.foldRestored(unfolded); err != nil {
		return err
	}
	s.saveClock() // before anything is set aside: the next start must know why
	aside, err := s.retire(present, s.untrusted())
	s.sayAside(aside, s.from, s.to)
	return err
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
	at := min(e.At, now) // the clock may have been ahead
	if !s.pending.counts(at, now) {
		return
	}
	for _, g := range e.Groups {
		sh.put(e.Agent, g, at)
	}
}

// foldRestored folds the past days whose journals were still there.
func (s *Store) foldRestored(past []*filter) error {
	if len(past) == 0 {
		return nil
	}
	s.generation++
	if err := s.carryAll(s.clock().UnixMilli()); err != nil {
		return err
	}
	for _, f := range past {
		if err := s.store(f); err != nil {
			return err
		}
		if err := os.Remove(s.journalPath(f.day)); err != nil {
			return err
		}
	}
	return journal.SyncDir(s.dir)
}
