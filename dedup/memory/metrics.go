package memory

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/freshet/freshet/dedup"
)

var recorded = promauto.NewCounter(prometheus.CounterOpts{
	Name: "freshet_dedup_memory_impressions_total",
	Help: "Impressions added to the in-process filters, repetitions included.",
})

// observe publishes the state of the window and warns, once a day, when the
// day has more impressions than its filter was sized for.
func (s *Store) observe() {
	window := *s.window.Load()
	today := window[0].day
	states := make([]dedup.FilterState, s.cfg.WindowDays)
	passes := 1.0 // chance that an unseen item passes every filter
	for _, f := range window {
		if ago := int(today - f.day); ago < len(states) {
			states[ago] = dedup.FilterState{Fill: f.fill(), FalsePositives: f.falsePositives(), Bytes: float64(8 * len(f.words))}
			passes *= 1 - states[ago].FalsePositives
		}
	}
	dedup.PublishFilters(states, s.cfg.FalsePositiveRate)
	f := window[0]
	if f.fill() > 1 && f.warned.CompareAndSwap(false, true) {
		s.log.Warn("There are more impressions today than the dedup filter was sized for, so unseen items are hidden more often than promised. Raise dedup.daily_capacity; it takes effect tomorrow.",
			"day", f.day.String(), "capacity", f.capacity, "impressions", f.count.Load(), "false_positive_rate", 1-passes)
	}
}
