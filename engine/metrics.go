package engine

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"github.com/freshet/freshet/dedup"
)

var (
	answersTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "freshet_feed_answers_total", Help: "Answers of the feed by action (refresh, load_more, silent) and result (ok, empty, error).",
	}, []string{"action", "result"})
	itemsTotal = promauto.NewCounter(prometheus.CounterOpts{
		Name: "freshet_feed_items_total", Help: "Items delivered, silent answers excluded.",
	})
	candidatesTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "freshet_candidates_total", Help: "Recalled candidates by fate: unseen, seen (in a daily filter), pending.",
	}, []string{"fate"})
	roundsTotal = promauto.NewCounter(prometheus.CounterOpts{
		Name: "freshet_recall_rounds_total", Help: "Rounds of recall over all refreshes.",
	})
	coalescedTotal = promauto.NewCounter(prometheus.CounterOpts{
		Name: "freshet_refresh_coalesced_total", Help: "Refreshes that paged from the session another refresh had just built.",
	})
	goneTotal = promauto.NewCounter(prometheus.CounterOpts{
		Name: "freshet_feed_gone_total", Help: "Items dropped from a page because they were deleted or muted after they were ranked.",
	})
	degradedTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "freshet_degraded_total", Help: "Answers that had to do without a part: recall, dedup, session, catalog.",
	}, []string{"part"})
	stageSeconds = promauto.NewHistogramVec(prometheus.HistogramOpts{
		Name: "freshet_stage_seconds", Help: "Time spent in a stage of the feed.",
		Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5},
	}, []string{"stage"})

	unseenCandidates  = candidatesTotal.WithLabelValues("unseen")
	seenCandidates    = candidatesTotal.WithLabelValues("seen")
	pendingCandidates = candidatesTotal.WithLabelValues("pending")

	// Resolved once: looking a label up costs more than observing.
	recallStage  = newStage("recall")
	dedupStage   = newStage("dedup")
	pageStage    = newStage("page")
	hydrateStage = newStage("hydrate")
)

func countAnswer(r Request, a Answer, err error) {
	action := r.name()
	switch {
	case err != nil:
		answersTotal.WithLabelValues(action, "error").Inc()
	case len(a.Docs) == 0:
		answersTotal.WithLabelValues(action, "empty").Inc()
	default:
		answersTotal.WithLabelValues(action, "ok").Inc()
	}
	if err == nil && !r.Silent {
		itemsTotal.Add(float64(len(a.Docs)))
	}
}

func countRound(verdicts []dedup.Verdict) {
	var unseen, pending int
	for _, v := range verdicts {
		switch v {
		case dedup.Unseen:
			unseen++
		case dedup.Pending:
			pending++
		}
	}
	roundsTotal.Inc()
	unseenCandidates.Add(float64(unseen))
	pendingCandidates.Add(float64(pending))
	seenCandidates.Add(float64(len(verdicts) - unseen - pending))
}

func countDegraded(p parts) {
	for _, name := range p.names() {
		degradedTotal.WithLabelValues(name).Inc()
	}
}
