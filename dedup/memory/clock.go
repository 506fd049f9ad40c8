package memory

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/internal/guard"
)

// After one jump of the clock it is unknown whether it was wrong before or is
// wrong now. So the clock is not trusted until it has run forward for a while, and
// meanwhile nothing is forgotten:
//
//   - the files of days that leave the window are not deleted, and count again
//     when the clock comes back to them;
//   - days of the future count as today does;
//   - impressions go to the newest day there is, so that they are in the window
//     whichever of the two times is right.
//
// Then the clock is trusted: what has left the window is deleted, and impressions go to
// the clock's own day. Days of the future are kept until the store has run for
// a whole window, for by then they would have left it by any clock.
const (
	mostForward = 24 * time.Hour // by more between two looks the clock has jumped
	mostBack    = time.Hour      // the same backwards; below it, requests overtake each other and clocks are adjusted
	trustAfter  = 24 * time.Hour // of running forward, counted by looks
	lookEvery   = time.Minute
	saveEvery   = 10 * time.Minute
	clockName   = "clock.json"
)

// jump is the state of the clock, which is stored for the next start. Times are Unix ms.
type jump struct {
	Seen    int64 `json:"seen_ms"`           // the last time it was looked at; only in the file
	Suspect bool  `json:"doubted,omitempty"` // it has jumped; the rest is about that
	From    int64 `json:"from_ms,omitempty"`
	To      int64 `json:"to_ms,omitempty"`
	Ran     int64 `json:"ran_ms,omitempty"` // how long it has run forward since, in ms
}

func (s *Store) jumped(now time.Time) bool {
	return s.dir != "" && now.UnixMilli()-s.seen.Load() > mostForward.Milliseconds() || s.wentBack(now)
}

// wentBack reports whether the clock has jumped back. A late call, or one about
// an earlier time, is no jump: the store's own clock must say the same. In RAM
// there is nothing to take back.
func (s *Store) wentBack(now time.Time) bool {
	seen := s.seen.Load()
	back := func(t time.Time) bool { return seen-t.UnixMilli() > mostBack.Milliseconds() }
	return s.dir != "" && back(now) && back(s.clock())
}

// untrusted reports whether the clock has jumped and has not run forward for long enough since;
// rolling is held.
func (s *Store) untrusted() bool { return s.jump.Suspect && s.jump.Ran < trustAfter.Milliseconds() }

// follow takes the store to now: it notes a jump of the clock, and makes now's
// day the present one if it is later.
func (s *Store) follow(now time.Time) error {
	s.rolling.Lock()
	defer s.rolling.Unlock()
	if s.jumped(now) {
		if err := s.noteJump(now); err != nil {
			return fmt.Errorf("%w: after the clock has jumped: %w", dedup.ErrUnavailable, err)
		}
	}
	if day := feed.DayOf(now); day > s.today {
		if err := s.rollOver(day, now); err != nil {
			return err
		}
	}
	s.seen.Store(max(s.seen.Load(), now.UnixMilli()))
	return nil
}

// noteJump notes that the clock has jumped to now; rolling is held.
func (s *Store) noteJump(now time.Time) error {
	from := s.seen.Load()
	s.gate.Lock()
	defer s.gate.Unlock()
	if s.closed {
		return nil // the next process to open the directory owns the files
	}
	at := now.UnixMilli()
	s.clampPending(at)
	s.keepPending(s.current, func(since) bool { return true }) // whenever it was served: the clock may have jumped since
	if at < from {
		if err := s.load(now); err != nil {
			return err
		}
		s.sayBack(from, at)
	}
	s.jump = jump{Suspect: true, From: from, To: at}
	s.seen.Store(at)
	s.saveClock()
	return nil
}

func (s *Store) clampPending(now int64) {
	s.pending.each(func(_, _ string, served since) since {
		served.at = min(served.at, now)
		return served
	})
}

// sayBack logs that the clock has gone back, and which days count again by that.
func (s *Store) sayBack(from, to int64) {
	var days []feed.Day
	for _, f := range *s.window.Load() {
		if s.left(f.day, feed.DayOf(time.UnixMilli(from))) {
			days = append(days, f.day)
		}
	}
	s.log.Warn("The clock has gone back. Nothing that was shown is forgotten: days that had been set aside count again, and days of the future count as today does. If the clock is wrong, set it right.",
		"days_back", names(days), "clock_was", stamp(from), "clock_is", stamp(to), "dir", s.dir)
}

func (s *Store) watch() {
	defer close(s.watched)
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.quit:
			return
		case <-tick.C:
			guard.Log(s.log, "following the clock", s.look)
		}
	}
}

// look follows the clock and counts how long it has run forward: at most the
// time between two looks, by the process's own time, however far the clock moved.
func (s *Store) look() {
	now := s.clock()
	if err := s.follow(now); err != nil {
		s.log.Warn("dedup cannot follow the clock; tried again in a minute", "error", err)
		return
	}
	s.rolling.Lock()
	defer s.rolling.Unlock()
	at := now.UnixMilli()
	if moved := at - s.looked; moved > 0 && s.jump.Suspect {
		s.jump.Ran += min(moved, lookEvery.Milliseconds())
	}
	s.looked = at
	s.seen.Store(at)
	s.fold(now, false)
	if err := s.retire(feed.DayOf(now)); err != nil {
		s.log.Error("Files of past days could not be removed from the dedup directory; tried again in a minute. Check the disk.", "error", err)
	}
	if s.jump.Suspect && !s.untrusted() {
		if err := s.trust(now); err != nil {
			s.log.Warn("dedup cannot clean up after a jump of the clock; tried again in a minute", "error", err)
		}
	}
	if at-s.saved >= saveEvery.Milliseconds() || at < s.saved {
		s.saveClock()
	}
}

// trust ends what a jump has begun: it goes back to the clock's day, and deletes days of
// the future when the store has run for a window beyond; rolling is held.
func (s *Store) trust(now time.Time) error {
	if s.today > feed.DayOf(now) {
		if s.today.Start().Sub(now) <= mostBack {
			return nil // the clock is about to reach it
		}
		if err := s.rollOver(feed.DayOf(now), now); err != nil {
			return err
		}
	}
	later := func(f *filter) bool { return f.day > s.today }
	if slices.ContainsFunc(*s.window.Load(), later) {
		if s.jump.Ran < (trustAfter + time.Duration(s.cfg.WindowDays)*24*time.Hour).Milliseconds() {
			return nil
		}
		if _, err := removeFiles(s.dir, func(f dayFile) bool { return f.day > s.today }); err != nil {
			return err
		}
		s.unfolded = slices.DeleteFunc(s.unfolded, later)
		window := slices.DeleteFunc(slices.Clone(*s.window.Load()), later)
		s.window.Store(&window)
	}
	s.jump.Suspect = false
	s.saveClock()
	return nil
}

// recallClock judges by the last run's file how far the clock has moved since, and
// reports whether it has jumped. Without a file it takes the start of the newest day.
func (s *Store) recallClock(files []dayFile, now time.Time) (jumped bool) {
	last := jump{Seen: now.UnixMilli()}
	if len(files) > 0 {
		last.Seen = files[len(files)-1].day.Start().UnixMilli()
	}
	data, err := os.ReadFile(filepath.Join(s.dir, clockName))
	if err == nil {
		err = json.Unmarshal(data, &last)
	}
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing {
		s.log.Warn("The last run's record of the clock cannot be read; the clock is not trusted for 24 hours.", "error", err)
		last.Suspect = true
	}
	s.seen.Store(last.Seen)
	s.jump = last
	old := len(files) > 0 && s.left(files[0].day, s.today)
	jumped = s.jumped(now)
	if jumped || missing && old { // it may have been kept because of a jump
		s.jump = jump{Suspect: true, From: last.Seen, To: now.UnixMilli()}
	}
	s.seen.Store(now.UnixMilli())
	s.looked = now.UnixMilli()
	return jumped
}

// saveClock writes the file for the next start. If that fails the next start
// finds the clock of an earlier look, and at worst does not trust it.
func (s *Store) saveClock() {
	s.saved = s.seen.Load()
	s.jump.Seen = s.saved
	data, err := json.Marshal(s.jump)
	if err != nil {
		return
	}
	path := filepath.Join(s.dir, clockName)
	if os.WriteFile(path+tempSuffix, data, 0o600) == nil {
		_ = os.Rename(path+tempSuffix, path)
	}
}

func stamp(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339) }

func names(days []feed.Day) []string {
	list := make([]string, len(days))
	for i, d := range days {
		list[i] = d.String()
	}
	return list
}
