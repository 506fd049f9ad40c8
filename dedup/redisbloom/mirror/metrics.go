package mirror

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

var (
	mirrorOn = promauto.NewGauge(prometheus.GaugeOpts{
		Name: "freshet_mirror_on",
		Help: "1 while past days' filters are mirrored in this process, 0 without a mirror or since a copy was found wrong.",
	})
	mirrorDays = promauto.NewGauge(prometheus.GaugeOpts{
		Name: "freshet_mirror_days", Help: "Past days of which every filter is in this process.",
	})
	mirrorFilters = promauto.NewGauge(prometheus.GaugeOpts{
		Name: "freshet_mirror_filters", Help: "Past days' filters in this process, each shard counted.",
	})
	mirrorBytes = promauto.NewGauge(prometheus.GaugeOpts{
		Name: "freshet_mirror_bytes", Help: "Memory of the past days' filters in this process.",
	})
	mirrorLoad = promauto.NewHistogram(prometheus.HistogramOpts{
		Name: "freshet_mirror_load_seconds", Help: "Time to copy one filter from Redis and to compare the copy.",
		Buckets: prometheus.ExponentialBuckets(0.01, 4, 8),
	})
	mirrorMismatches = promauto.NewCounter(prometheus.CounterOpts{
		Name: "freshet_mirror_mismatches_total",
		Help: "Copies that were not what the filter in Redis is, or could not be read as one; the first turns the mirror off.",
	})
	mirrorFailures = promauto.NewCounter(prometheus.CounterOpts{
		Name: "freshet_mirror_failures_total", Help: "Times filters could not be copied and were left for later.",
	})
	mirrorAnswers = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "freshet_mirror_answers_total",
		Help: "Past days that checks asked about, by who answered: the mirror, or redis alone. Counted with a mirror only.",
	}, []string{"by"})
	answeredByMirror = mirrorAnswers.WithLabelValues("mirror")
	answeredByRedis  = mirrorAnswers.WithLabelValues("redis")
)

// show brings the gauges up to date.
func (m *Mirror) show() {
	var on, whole, filters, bytes float64
	if days := m.days.Load(); days != nil && !m.off.Load() {
		on = 1
		for _, d := range *days {
			here := 0
			for i := range d.filters {
				if c := d.filters[i].Load(); c != nil {
					here++
					bytes += float64(c.bytes)
				}
			}
			filters += float64(here)
			if here == d.shards {
				whole++
			}
		}
	}
	mirrorOn.Set(on)
	mirrorDays.Set(whole)
	mirrorFilters.Set(filters)
	mirrorBytes.Set(bytes)
}
