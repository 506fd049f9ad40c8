package memory

import (
	"time"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
)

// observe publishes the state of the window and warns, once a day, when the
// day has more impressions than its filter's first layer was sized for.
func (s *Store) observe() {
	today := feed.DayOf(time.UnixMilli(s.seen.Load()))
	states := make([]dedup.FilterState, s.cfg.WindowDays)
	for _, f := range *s.window.Load() {
		ago := max(0, int(today-f.day))
		if ago >= len(states) {
			continue
		}
		if ago > 0 || f == s.current { // days of the future are checked, but are not today
			states[ago] = dedup.FilterState{Fill: f.fill(), FalsePositives: f.falsePositives(), Bytes: float64(f.bytes())}
		}
	}
	dedup.PublishFilters(states, s.cfg.FalsePositiveRate)
	f := s.current
	if f.fill() > 1 && f.warned.CompareAndSwap(false, true) {
		s.log.Warn("There are more impressions today than dedup.daily_capacity: the day's filter grows, and checks take longer. Raise it; that takes effect tomorrow.",
			"day", f.day.String(), "capacity", f.capacity(), "impressions", f.count())
	}
}
