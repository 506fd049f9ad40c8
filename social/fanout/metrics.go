package fanout

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

var (
	entries = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "freshet_fanout_entries_total",
		Help: "Entries pushed into lists, by reason: self, follow, audience, mention, outbox (of a celebrity).",
	}, []string{"reason"})
	removalSeconds = promauto.NewHistogram(prometheus.HistogramOpts{
		Name:    "freshet_fanout_removal_seconds",
		Help:    "Time in seconds from the deletion of a post to its removal from the last list.",
		Buckets: []float64{.01, .025, .05, .1, .25, .5, 1, 2.5, 10, 60},
	})
	buildSeconds = promauto.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "freshet_fanout_build_seconds",
		Help:    "Duration of building a list from the social store in seconds, by list and result: ready, failed, overtaken (content changed during the build).",
		Buckets: []float64{.0025, .005, .01, .025, .05, .1, .2, .5, 1, 2.5, 10},
	}, []string{"list", "result"})
)
