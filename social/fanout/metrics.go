package fanout

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

var (
	entries = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "freshet_fanout_entries_total",
		Help: "Entries pushed into lists, by why: self, follow, audience, mention, outbox (of a celebrity).",
	}, []string{"reason"})
	removalSeconds = promauto.NewHistogram(prometheus.HistogramOpts{
		Name:    "freshet_fanout_removal_seconds",
		Help:    "How long after it was deleted a post was out of the last list.",
		Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 10, 60},
	})
	buildSeconds = promauto.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "freshet_fanout_build_seconds",
		Help:    "How long it took to build a list from the social store, by list and how it ended: ready, failed, overtaken (by a change of what belongs into it).",
		Buckets: []float64{.0025, .005, .01, .025, .05, .1, .2, .5, 1, 2.5, 10},
	}, []string{"list", "result"})
)
