package memory

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/dedup/journal"
	"github.com/freshet/freshet/feed"
)

// append writes entries to the journal; without a directory it does nothing.
func (s *Store) append(entries ...journal.Entry) error {
	says := func(e journal.Entry) bool { return len(e.Groups) > 0 }
	if s.journal == nil || !slices.ContainsFunc(entries, says) {
		return nil
	}
	err := s.journal.Append(entries...)
	failed := err != nil
	if s.failing.Load() != failed {
		s.failing.Store(failed)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", dedup.ErrUnavailable, err)
	}
	return nil
}

// Writable reports whether the journal can be written. It does no I/O until a write has failed;
// from then on each call tries to write, so that a server without requests notices when the disk
// has space again.
func (s *Store) Writable(ctx context.Context) error {
	if !s.failing.Load() {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := s.enter(s.clock()); err != nil {
		return err
	}
	defer s.gate.RUnlock()
	if s.journal != nil {
		if err := s.journal.Probe(); err != nil {
			return fmt.Errorf("%w: %w", dedup.ErrUnavailable, err)
		}
	}
	s.failing.Store(false)
	return nil
}

// observe publishes the state of the window and logs a warning, once a day, if the day has more
// impressions than its filter's first layer was sized for.
func (s *Store) observe() {
	today := feed.DayOf(time.UnixMilli(s.seen.Load()))
	states := make([]dedup.FilterState, s.cfg.WindowDays)
	for _, f := range *s.window.Load() {
		ago := max(0, int(today-f.day))
		if ago >= len(states) {
			continue
		}
		if ago > 0 || f == s.current { // days in the future are checked, but are not today
			states[ago] = dedup.FilterState{Fill: f.fill(), FalsePositives: f.falsePositives(), Bytes: float64(f.bytes())}
		}
	}
	dedup.PublishFilters(states, s.cfg.FalsePositiveRate)
	f := s.current
	warns := f.fill() > 1 && f.warned.CompareAndSwap(false, true) // once a day
	if warns {
		s.log.Warn("There are more impressions today than dedup.daily_capacity: the day's filter grows, and checks take longer. Raise it; that takes effect tomorrow.",
			"day", f.day.String(), "capacity", f.capacity(), "impressions", f.count())
	}
}
