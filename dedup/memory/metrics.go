package memory

import (
	"strconv"

	"github.com/freshet/freshet/feed"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

var (
	fillRatio = promauto.NewGaugeVec(prometheus.GaugeOpts{
		Name: "freshet_dedup_memory_filter_fill_ratio",
		Help: "Impressions in the in-process filter of that many days ago, as a share of its capacity.",
	}, []string{"days_ago"})
	falsePositiveRate = promauto.NewGauge(prometheus.GaugeOpts{
		Name: "freshet_dedup_memory_false_positive_rate",
		Help: "Estimated chance that the in-process filters of the window together take an unseen item for seen.",
	})
	recorded = promauto.NewCounter(prometheus.CounterOpts{
		Name: "freshet_dedup_memory_impressions_total",
		Help: "Impressions added to the in-process filters, repetitions included.",
	})
)

// observe publishes the state of the window and warns, once a day, when the
// day has more impressions than its filter was sized for.
func (s *Store) observe() {
	window := *s.window.Load()
	today := window[0].day
	passes := 1.0 // chance that an unseen item passes every filter
	held := map[feed.Day]*filter{}
	for _, f := range window {
		passes *= 1 - f.falsePositives()
		held[f.day] = f
	}
	falsePositiveRate.Set(1 - passes)
	for i := range s.cfg.WindowDays {
		fill := 0.0
		if f := held[today-feed.Day(i)]; f != nil {
			fill = f.fill()
		}
		fillRatio.WithLabelValues(strconv.Itoa(i)).Set(fill)
	}
	f := window[0]
	if f.fill() > 1 && f.warned.CompareAndSwap(false, true) {
		s.log.Warn("There are more impressions today than the dedup filter was sized for, so unseen items are hidden more often than promised. Raise dedup.daily_capacity; it takes effect tomorrow.",
			"day", f.day.String(), "capacity", f.capacity, "impressions", f.count.Load(), "false_positive_rate", 1-passes)
	}
}
