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
	"github.com/freshet/freshet/internal/convert"
	"github.com/freshet/freshet/internal/safego"
)

// After a jump of the clock it is unknown whether it was wrong before or is wrong now. Therefore
// the clock is not trusted until it has run forward for a while. Until then nothing is forgotten:
//
//   - the files of days that leave the window are not deleted, and count again
//     if the clock returns to them;
//   - days in the future count as today;
//   - impressions go to the newest existing day, so that they are in the window
//     whichever of the two times is right.
//
// Once the clock is trusted, days that have left the window are deleted, and impressions go to the
// clock's own day. Days in the future are kept until the store has run for a whole window, because
// by then they would have left it by any clock.
const (
	mostForward = 24 * time.Hour // a larger forward difference between two checks is a jump
	mostBack    = time.Hour      // the same backwards; smaller ones come from overtaking requests and clock adjustments
	trustAfter  = 24 * time.Hour // of running forward, measured between checks
	lookEvery   = time.Minute
	saveEvery   = 10 * time.Minute
	clockName   = "clock.json"
)

// jump is the state of the clock, stored for the next start. Times are Unix ms.
type jump struct {
	Seen    int64 `json:"seen_ms"`           // time of the last check; used only in the file
	Suspect bool  `json:"doubted,omitempty"` // the clock has jumped; the fields below describe the jump
	From    int64 `json:"from_ms,omitempty"`
	To      int64 `json:"to_ms,omitempty"`
	Ran     int64 `json:"ran_ms,omitempty"` // time it has run forward since the jump, in ms
}

func (s *Store) jumped(now time.Time) bool {
	return s.dir != "" && now.UnixMilli()-s.seen.Load() > mostForward.Milliseconds() || s.wentBack(now)
}

// wentBack reports whether the clock has jumped back. A late call, or one about an earlier time, is
// not a jump: the store's own clock must agree. A store without a directory has nothing to correct.
func (s *Store) wentBack(now time.Time) bool {
	seen := s.seen.Load()
	back := func(t time.Time) bool { return seen-t.UnixMilli() > mostBack.Milliseconds() }
	return s.dir != "" && back(now) && back(s.clock())
}

// untrusted reports whether the clock has jumped and has not yet run forward for trustAfter.
// rolling must be held.
func (s *Store) untrusted() bool { return s.jump.Suspect && s.jump.Ran < trustAfter.Milliseconds() }

// follow advances the store to now: it records a jump of the clock, and makes now's day the current
// one if it is later.
func (s *Store) follow(now time.Time) error {
	s.rolling.Lock()
	defer s.rolling.Unlock()
	jumped, day := s.jumped(now), feed.DayOf(now)
	if jumped || day > s.today {
		if err := s.inPlace(); err != nil {
			return fmt.Errorf("%w: %w", dedup.ErrUnavailable, err)
		}
	}
	if jumped {
		if err := s.noteJump(now); err != nil {
			return fmt.Errorf("%w: after the clock has jumped: %w", dedup.ErrUnavailable, err)
		}
	}
	if day > s.today {
		if err := s.rollOver(day, now); err != nil {
			return err
		}
	}
	s.seen.Store(max(s.seen.Load(), now.UnixMilli()))
	return nil
}

// noteJump records that the clock has jumped to now. rolling must be held.
func (s *Store) noteJump(now time.Time) error {
	from := s.seen.Load()
	s.gate.Lock()
	defer s.gate.Unlock()
	if s.closed {
		return nil // the next process to open the directory owns the files
	}
	at := now.UnixMilli()
	s.clampPending(at)
	s.keepPending(s.current, true) // whatever the time of serving: the clock may have jumped since
	if at < from {
		if err := s.load(now); err != nil {
			return err
		}
		s.logClockBack(from, at)
	}
	s.jump = jump{Suspect: true, From: from, To: at}
	s.seen.Store(at)
	s.saveClock()
	return nil
}

func (s *Store) clampPending(now int64) {
	for sh := range s.pending.locked() {
		for _, groups := range sh.agents {
			for group, served := range groups {
				served.at = min(served.at, now)
				groups[group] = served
			}
		}
	}
}

// logClockBack logs that the clock has gone back and which days count again.
func (s *Store) logClockBack(from, to int64) {
	var days []feed.Day
	for _, f := range *s.window.Load() {
		if s.outsideWindow(f.day, feed.DayOf(time.UnixMilli(from))) {
			days = append(days, f.day)
		}
	}
	s.log.Warn("The clock has gone back. No impressions are forgotten: days that had been set aside count again, and days in the future count like today. If the clock is wrong, correct it.",
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
			safego.Log(s.log, "checking the clock", s.checkClock)
		}
	}
}

// checkClock checks the clock and measures how long it has run forward: by the process's own time,
// at most the interval between two checks, however far the clock moved.
func (s *Store) checkClock() {
	now := s.clock()
	if err := s.follow(now); err != nil {
		s.log.Warn("dedup could not process a change of the clock or the day; it retries in a minute", "error", err)
		return
	}
	s.rolling.Lock()
	defer s.rolling.Unlock()
	if s.inPlace() != nil {
		return // what is there now belongs to others; calls report it
	}
	at := now.UnixMilli()
	moved := at - s.looked
	if moved > 0 && s.jump.Suspect {
		s.jump.Ran += min(moved, lookEvery.Milliseconds())
	}
	s.looked = at
	s.seen.Store(at)
	s.fold(now, false)
	if err := s.retire(feed.DayOf(now)); err != nil {
		s.log.Error("Files of past days could not be removed from the dedup directory; retrying in a minute. Check the disk.", "error", err)
	}
	if s.jump.Suspect && !s.untrusted() {
		if err := s.trust(now); err != nil {
			s.log.Warn("dedup cannot clean up after a jump of the clock; retrying in a minute", "error", err)
		}
	}
	if at-s.saved >= saveEvery.Milliseconds() || at < s.saved {
		s.saveClock()
	}
}

// trust ends the handling of a jump: it returns to the clock's day, and deletes days in the future
// once the store has run for another window. rolling must be held.
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

// recallClock compares the clock with the last run's file and reports whether it has jumped since.
// If the file is missing, it uses the start of the newest day instead.
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
	old := len(files) > 0 && s.outsideWindow(files[0].day, s.today)
	jumped = s.jumped(now)
	if jumped || missing && old { // it may have been kept because of a jump
		s.jump = jump{Suspect: true, From: last.Seen, To: now.UnixMilli()}
	}
	s.seen.Store(now.UnixMilli())
	s.looked = now.UnixMilli()
	return jumped
}

// saveClock writes the file for the next start. If that fails, the next start reads the time of an
// earlier check; in the worst case it does not trust the clock.
func (s *Store) saveClock() {
	s.saved = s.seen.Load()
	s.jump.Seen = s.saved
	data, err := json.Marshal(s.jump)
	if err != nil {
		return
	}
	path := filepath.Join(s.dir, clockName)
	err = os.WriteFile(path+tempSuffix, data, 0o600)
	if err == nil {
		_ = os.Rename(path+tempSuffix, path)
	}
}

func stamp(ms int64) string { return time.UnixMilli(ms).UTC().Format(time.RFC3339) }

func names(days []feed.Day) []string {
	return convert.Each(days, feed.Day.String)
}
