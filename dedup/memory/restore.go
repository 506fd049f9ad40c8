package memory

import (
	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/journal"
	"github.com/freshet/freshet/feed"
)

// restore loads the window and the pending sets from the directory, folds past days that were not
// folded yet, and opens today's journal.
func (s *Store) restore() error {
	if err := sweepFiles(s.dir); err != nil {
		return err
	}
	files, err := listFiles(s.dir)
	if err != nil {
		return err
	}
	now, present := s.clock(), s.today
	jumped := s.recallClock(files, now)
	if s.untrusted() && len(files) > 0 {
		s.today = max(s.today, files[len(files)-1].day)
	}
	s.window.Store(&[]*filter{})
	if err := s.load(now); err != nil {
		return err
	}
	if jumped && s.jump.To < s.jump.From {
		s.logClockBack(s.jump.From, s.jump.To)
	}
	s.setToday(s.today, present)
	if s.journal, err = journal.Open(s.journalPath(s.today), s.log); err != nil {
		return err
	}
	s.fold(now, false)
	s.saveClock() // before anything is set aside: the next start must know the reason
	return s.retire(present)
}

// replay adds a day's journal to its filter and to the pending sets. It reads the journal twice,
// first for the releases: an entry cannot be removed from a filter, so each release cancels one
// delivery before that is added.
func (s *Store) replay(path string, f *filter) error {
	released := map[dedup.Impression]int{}
	err := journal.Recover(path, func(e journal.Entry) error {
		if e.Kind == journal.Released {
			for _, g := range e.Groups {
				released[dedup.Impression{Agent: e.Agent, Group: g}]++
			}
		}
		return nil
	}, s.log)
	if err != nil {
		return err
	}
	now := s.clock().UnixMilli()
	var buf []byte
	return journal.Recover(path, func(e journal.Entry) error {
		switch {
		case e.Kind == journal.Released:
			s.replayPending(e, f.day, now)
		case e.Kind == journal.Offered && !s.cfg.Served:
			s.replayPending(e, f.day, now)
		default:
			for _, g := range e.Groups {
				key := dedup.Impression{Agent: e.Agent, Group: g}
				if e.Kind != journal.Seen && released[key] > 0 {
					released[key]--
					continue
				}
				buf = f.addImpression(buf, e.Agent, g)
			}
		}
		return nil
	}, s.log)
}

// replayPending adds or removes offered groups, as recorded in the journal of day. It skips groups
// that were offered too long ago.
func (s *Store) replayPending(e journal.Entry, day feed.Day, now int64) {
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
		sh.put(e.Agent, g, since{at: at, day: day})
	}
}
