package dedup

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

var recordOldest = promauto.NewGauge(prometheus.GaugeOpts{
	Name: "freshet_record_oldest_timestamp_seconds",
	Help: "When the oldest impression that is not recorded yet was delivered, in Unix time; 0 when all are recorded.",
})

// backlog measures how long the oldest impression has waited. Batches are taken from
// a queue in order, so what is in the queue is younger than every batch that is
// open; the queue itself need not be looked into.
type backlog struct {
	mu   sync.Mutex
	open map[*opened]struct{}
}

// opened is a batch that is not finished.
type opened struct {
	since time.Time // delivery of its oldest impression
}

// begin opens a batch whose oldest impression was delivered at since.
func (b *backlog) begin(since time.Time) *opened {
	o := &opened{since: since}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open == nil {
		b.open = map[*opened]struct{}{}
	}
	b.open[o] = struct{}{}
	b.publish()
	return o
}

// end closes a batch, whatever became of it.
func (b *backlog) end(o *opened) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.open, o)
	b.publish()
}

// publish updates the metric; mu is held. There are at most one more batches
// than workers.
func (b *backlog) publish() {
	var oldest time.Time
	for o := range b.open {
		if oldest.IsZero() || o.since.Before(oldest) {
			oldest = o.since
		}
	}
	if oldest.IsZero() {
		recordOldest.Set(0)
		return
	}
	recordOldest.Set(float64(oldest.UnixMilli()) / 1000)
}
