package jobs

import (
	"context"
	"iter"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/freshet/freshet/internal/periodic"
	"github.com/freshet/freshet/internal/safego"
)

var (
	seconds = promauto.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "freshet_jobs_seconds",
		Help:    "Duration of a job attempt in seconds, by kind and outcome: completed, again, failed, waiting, dead, lost, returned. Each job of a batch counts with the duration of the batch.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 60},
	}, []string{"kind", "result"})
	rows = promauto.NewGaugeVec(prometheus.GaugeOpts{
		Name: "freshet_jobs_rows", Help: "Jobs in the queue that are not completed, by kind and state.",
	}, []string{"kind", "state"})
	workers = promauto.NewGauge(prometheus.GaugeOpts{
		Name: "freshet_jobs_workers", Help: "Maximum number of jobs that this process runs concurrently; 0 if it runs none.",
	})
	oldest = promauto.NewGauge(prometheus.GaugeOpts{
		Name: "freshet_jobs_oldest_seconds", Help: "Seconds since the longest overdue job became due; 0 if no job is due.",
	})
)

// Results of an attempt other than the states.
const (
	resultAgain    = "again"    // it was marked while it ran
	resultWaiting  = "waiting"  // a dependency is down
	resultReturned = "returned" // returned to the queue, because the process ends
)

// resultOf returns the result of an attempt from the row's state after it.
func resultOf(state State) string {
	if state == Pending {
		return resultAgain
	}
	return string(state)
}

// expose creates the series of the kinds that are run, at 0: an alert on a series that appears
// later would miss its first increase.
func expose(kinds iter.Seq[Kind]) {
	for kind := range kinds {
		for _, result := range []string{
			string(Completed), string(Failed), string(Dead), string(Lost), resultAgain, resultWaiting, resultReturned,
		} {
			seconds.WithLabelValues(string(kind), result)
		}
	}
}

// Watch measures a queue after each pause, until ctx ends. Every server runs it, so a queue
// without workers is noticed.
func Watch(ctx context.Context, q Queue, pause time.Duration, log *slog.Logger) {
	count(nil) // exposes the gauges before the first measurement
	for range periodic.Every(ctx, pause) {
		safego.Log(log, upkeep, func() { measure(ctx, q, log) })
	}
}

// measure sets the gauges. They are unchanged if the queue is unavailable.
func measure(ctx context.Context, q Queue, log *slog.Logger) {
	st, err := q.Stats(ctx)
	if err != nil {
		if ctx.Err() == nil {
			log.WarnContext(ctx, "cannot count the jobs in the queue; job metrics are not updated", "error", err)
		}
		return
	}
	count(st.Rows)
	oldest.Set(st.Oldest.Seconds())
}

// count sets the gauges of all kinds and states except completed, to 0 if there are no rows.
func count(list []Rows) {
	n := map[Rows]int64{}
	for _, r := range list {
		n[Rows{Kind: r.Kind, State: r.State}] = r.N
	}
	for _, kind := range Kinds() {
		for _, state := range States() {
			if state == Completed {
				continue
			}
			rows.WithLabelValues(string(kind), string(state)).Set(float64(n[Rows{Kind: kind, State: state}]))
		}
	}
}
