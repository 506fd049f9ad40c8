package dedup

import (
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Days are labelled by their age in days and not by date, so that a series exists for as long as
// the server runs and an alert can refer to today.
var (
	filterFill = promauto.NewGaugeVec(prometheus.GaugeOpts{
		Name: "freshet_dedup_filter_fill_ratio",
		Help: "Impressions in the filter of that many days ago, as a share of its capacity; with several shards, of the fullest.",
	}, []string{"days_ago"})
	filterBytes = promauto.NewGaugeVec(prometheus.GaugeOpts{
		Name: "freshet_dedup_filter_bytes", Help: "Memory in bytes of the filter of that many days ago, all shards together.",
	}, []string{"days_ago"})
	windowFalsePositives = promauto.NewGauge(prometheus.GaugeOpts{
		Name: "freshet_dedup_window_false_positive_share_ratio",
		Help: "Estimated probability that an unseen item counts as seen in any filter of the window, relative to dedup.false_positive_rate; 1 is the configured rate.",
	})
)

// FilterState is the state of one day's filters as reported by the metrics. The zero value is a day
// without impressions.
type FilterState struct {
	Fill           float64 // impressions relative to the capacity of the filter; of the fullest shard
	FalsePositives float64 // probability; the worst shard
	Bytes          float64 // of all shards
}

// Add merges a shard's state into the state of its day.
func (s *FilterState) Add(shard FilterState) {
	s.Fill, s.FalsePositives = max(s.Fill, shard.Fill), max(s.FalsePositives, shard.FalsePositives)
	s.Bytes += shard.Bytes
}

// filterSeries holds one day's gauges, resolved once.
type filterSeries struct{ fill, bytes prometheus.Gauge }

var series struct {
	mu   sync.Mutex
	days []filterSeries
}

// PublishFilters updates the metrics of the window's filters, with today's first; rate is the
// window's configured false-positive rate. Each process may publish for one store only.
func PublishFilters(window []FilterState, rate float64) {
	series.mu.Lock()
	defer series.mu.Unlock()
	for i := len(series.days); i < len(window); i++ {
		ago := strconv.Itoa(i)
		series.days = append(series.days, filterSeries{
			filterFill.WithLabelValues(ago), filterBytes.WithLabelValues(ago),
		})
	}
	chances := make([]float64, len(window))
	for i, day := range window {
		series.days[i].fill.Set(day.Fill)
		series.days[i].bytes.Set(day.Bytes)
		chances[i] = day.FalsePositives
	}
	windowFalsePositives.Set(WindowFalsePositives(chances) / rate)
}

var recordOldest = promauto.NewGauge(prometheus.GaugeOpts{
	Name: "freshet_record_oldest_timestamp_seconds",
	Help: "Unix time in seconds at which the oldest unrecorded impression was delivered; 0 if all are recorded.",
})

// backlog tracks the age of the oldest unrecorded impression. Batches are taken from a queue in
// order, so everything in the queue is younger than every open batch, and the queue need not be
// inspected.
type backlog struct {
	mu   sync.Mutex
	open []time.Time // delivery time of the oldest impression of each unfinished batch
}

// begin opens a batch with an oldest impression delivered at since.
func (b *backlog) begin(since time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open = append(b.open, since)
	b.publish()
}

func (b *backlog) end(since time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.Index(b.open, since)
	b.open = slices.Delete(b.open, i, i+1)
	b.publish()
}

// publish updates the metric. mu must be held.
func (b *backlog) publish() {
	if len(b.open) == 0 {
		recordOldest.Set(0)
		return
	}
	recordOldest.Set(float64(slices.MinFunc(b.open, time.Time.Compare).UnixMilli()) / 1000)
}
