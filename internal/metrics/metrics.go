// Package metrics defines the metrics that several packages count. Their series are resolved once,
// because looking up a label costs more than counting. So they exist from the start, and a rate
// includes the first event.
package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

var (
	lookups = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "freshet_cache_total",
		Help: "Lookups in a cache, by cache (item and profile, each in the process or in Redis; recall: results shared by identical queries) and result (hit, miss).",
	}, []string{"cache", "result"})
	dropped = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "freshet_signals_dropped_total",
		Help: "Dropped impressions and acts, by the component that lost them: reports lose impressions, acts and members (of the distinct agents and authors, and of what exploration and promotions showed); learning, popularity and co_readers lose acts.",
	}, []string{"kind"})
)

// Cache holds the counters of the lookups in one cache.
type Cache struct{ Hits, Misses prometheus.Counter }

// The counters of each cache.
var (
	ItemProcess    = newCache("item_process")
	ItemRedis      = newCache("item_redis")
	ProfileProcess = newCache("profile_process")
	ProfileRedis   = newCache("profile_redis")
	Recall         = newCache("recall")
)

func newCache(name string) Cache {
	return Cache{Hits: lookups.WithLabelValues(name, "hit"), Misses: lookups.WithLabelValues(name, "miss")}
}

// Signals are dropped if their buffer is full, if the store refuses them, or if the server stops while
// the store is down.
var (
	DroppedImpressions = dropped.WithLabelValues("impressions")
	DroppedActs        = dropped.WithLabelValues("acts")
	DroppedMembers     = dropped.WithLabelValues("members")
	DroppedLearning    = dropped.WithLabelValues("learning")
	DroppedPopularity  = dropped.WithLabelValues("popularity")
	DroppedCoReaders   = dropped.WithLabelValues("co_readers")
)
