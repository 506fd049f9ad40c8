// Package degraded names the parts that an answer lacks, because a store was down or slow.
package degraded

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Parts is a set of parts that an answer lacks.
type Parts uint16

// The parts.
const (
	Recall    Parts = 1 << iota // candidates are from an earlier recall or session
	Dedup                       // only this process's memory prevented repeats
	Session                     // the page is in neither a session nor a pending set
	Catalog                     // items whose content was not cached are left out; for a timeline, the mutes are unknown
	Timeline                    // there was no list: the social store answered
	Social                      // the social store was unavailable: of posts, only cached public ones are shown
	Why                         // the items have no reasons
	Following                   // for home: a source failed or was late, and is left out
	Trending
	Discovery
	Promoted
	CoReaders // who read what together is unknown
)

var names = []string{"recall", "dedup", "session", "catalog", "timeline", "social", "why", "following", "trending", "discovery", "promoted", "co_readers"}

// total has all its series from the start, so that a rate over the first error is not lost.
var total = func() (series []prometheus.Counter) {
	vec := promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "freshet_degraded_total",
		Help: "Answers that lack a part, by part: recall, dedup, session, catalog, timeline, social, why, co_readers; for home also following, trending, discovery, promoted; for the guest feed also trending, promoted.",
	}, []string{"part"})
	for _, name := range names {
		series = append(series, vec.WithLabelValues(name))
	}
	return series
}()

// Names lists the parts by the names that answers have for them; nil if nothing is missing.
func (p Parts) Names() []string {
	var out []string
	for i, name := range names {
		if p&(1<<i) != 0 {
			out = append(out, name)
		}
	}
	return out
}

// Count counts an answer that lacks the parts.
func (p Parts) Count() {
	for i, counter := range total {
		if p&(1<<i) != 0 {
			counter.Inc()
		}
	}
}
