package recall

import (
	"context"
	"errors"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/freshet/freshet/feed"
)

var (
	sourceSeconds = promauto.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "freshet_recall_source_seconds",
		Help:    "Time of one question to a recall source, shared answers not among them.",
		Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5},
	}, []string{"source"})
	sourceErrors = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "freshet_recall_source_errors_total", Help: "Questions that a recall source failed to answer.",
	}, []string{"source"})
	sourceCandidates = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "freshet_recall_source_candidates_total", Help: "Candidates that a recall source has proposed.",
	}, []string{"source"})
)

// Metered is a [Source] that measures another one under its name. It belongs
// below [Shared], so that it measures what is really asked.
type Metered struct {
	Source
	seconds    prometheus.Observer
	errors     prometheus.Counter
	candidates prometheus.Counter
}

var _ Source = (*Metered)(nil)

// NewMetered measures source.
func NewMetered(source Source) *Metered {
	name := source.Name()
	return &Metered{
		Source:     source,
		seconds:    sourceSeconds.WithLabelValues(name),
		errors:     sourceErrors.WithLabelValues(name),
		candidates: sourceCandidates.WithLabelValues(name),
	}
}

// Recall implements [Source]. A caller that goes away is no error of the
// source.
func (m *Metered) Recall(ctx context.Context, q feed.Query) (Result, error) {
	timer := prometheus.NewTimer(m.seconds)
	result, err := m.Source.Recall(ctx, q)
	timer.ObserveDuration()
	switch {
	case err == nil:
		m.candidates.Add(float64(len(result.Candidates)))
	case !errors.Is(err, context.Canceled):
		m.errors.Inc()
	}
	return result, err
}
