package replica

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

var (
	queries = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "freshet_recall_from_total",
		Help: "With recall.from: memory: queries by who answered them (memory, or elasticsearch while the copy is being read or is behind).",
	}, []string{"from"})
	fromMemory, fromElastic = queries.WithLabelValues("memory"), queries.WithLabelValues("elasticsearch")

	lagSeconds = promauto.NewGauge(prometheus.GaugeOpts{
		Name: "freshet_recall_copy_lag_seconds",
		Help: "With recall.from: memory: age of the state of the index that the copy has, in seconds; while the first copy is being read, since that began.",
	})
)
