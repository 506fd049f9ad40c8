package engine

import (
	"context"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/signals/events"
)

var (
	answersTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "freshet_feed_answers_total", Help: "Answers of the feed by action (refresh, load_more, silent) and result (ok, empty, error).",
	}, []string{"action", "result"})
	itemsTotal = promauto.NewCounter(prometheus.CounterOpts{
		Name: "freshet_feed_items_total", Help: "Items delivered, silent answers excluded.",
	})
	loadMoreTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "freshet_feed_load_more_total",
		Help: "Calls of load_more by what they were answered from: the session, a silent refresh because there was none, the retry record of an equal call, or an error: the session could not be asked.",
	}, []string{"from"})
	candidatesTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "freshet_candidates_total", Help: "Recalled candidates by outcome: unseen, seen (in a daily filter), pending. Those that are not unseen are repeats that were avoided.",
	}, []string{"outcome"})
	degradedTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "freshet_degraded_total", Help: "Answers that had to do without a part: recall, dedup, session, catalog, timeline, social, why, of home also following, trending, discovery, promoted, and of the guest feed trending, promoted.",
	}, []string{"part"})
	sourceAsksTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "freshet_home_source_asks_total",
		Help: "Times a source of home was asked, by source (following, trending, discovery, promoted) and result (ok, late: it was not waited for any longer, error).",
	}, []string{"source", "result"})
	sourceShownTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "freshet_feed_shown_total", Help: "Items delivered for the first time by the source that gave the position: those of home, and explore in for-you.",
	}, []string{"source"})
	sourceClicksTotal = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "freshet_feed_clicks_total",
		Help: "Clicks by the source that had shown the item, also those that come again; the report counts each once a day.",
	}, []string{"source"})
	watchesOpen = promauto.NewGauge(prometheus.GaugeOpts{
		Name: "freshet_streams_open", Help: "Streams of GET /v1/stream that are open.",
	})
	newsTotal = promauto.NewCounter(prometheus.CounterOpts{
		Name: "freshet_stream_events_total", Help: "Times a stream was told that its timeline has something new.",
	})
	stageSeconds = promauto.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "freshet_stage_seconds",
		Help:    "Time spent in a stage of the feed; turn is the wait for another refresh of the same agent.",
		Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5},
	}, []string{"stage"})
)

// Resolved once: looking a label up costs more than counting. It also makes
// every series there from the start, so that a rate over the first error is not
// lost.
var (
	unseenCandidates  = candidatesTotal.WithLabelValues("unseen")
	seenCandidates    = candidatesTotal.WithLabelValues("seen")
	pendingCandidates = candidatesTotal.WithLabelValues("pending")

	fromSession = loadMoreTotal.WithLabelValues("session")
	fromRefresh = loadMoreTotal.WithLabelValues("refresh")
	fromRetry   = loadMoreTotal.WithLabelValues("retry")
	fromNothing = loadMoreTotal.WithLabelValues("error")

	turnStage    = newStage("turn")
	openStage    = newStage("open")
	recallStage  = newStage("recall")
	dedupStage   = newStage("dedup")
	pageStage    = newStage("page")
	hydrateStage = newStage("hydrate")
	whyStage     = newStage("why")

	refreshAnswers  = newAnswers(string(ActionRefresh))
	loadMoreAnswers = newAnswers(string(ActionLoadMore))
	silentAnswers   = newAnswers("silent")

	degradedParts = newDegradedParts()

	sourceCounters = newSourceCounters()
)

// sourceCounter counts one source of a feed.
type sourceCounter struct{ ok, late, failed, shown, clicks prometheus.Counter }

// newSourceCounters makes the counters, in the order of feed.GivenSources.
func newSourceCounters() (counters [len(feed.GivenSources)]sourceCounter) {
	for i, s := range feed.GivenSources {
		name := s.String()
		counters[i].shown, counters[i].clicks = sourceShownTotal.WithLabelValues(name), sourceClicksTotal.WithLabelValues(name)
		if s == feed.SourceExplore {
			continue // it is asked with for-you's recall
		}
		counters[i].ok, counters[i].late = sourceAsksTotal.WithLabelValues(name, "ok"), sourceAsksTotal.WithLabelValues(name, "late")
		counters[i].failed = sourceAsksTotal.WithLabelValues(name, "error")
	}
	return counters
}

// counterOf is the counter of a source; nil: it has none.
func counterOf(s feed.Source) *sourceCounter {
	if i := slices.Index(feed.GivenSources[:], s); i >= 0 {
		return &sourceCounters[i]
	}
	return nil
}

// answers counts one action.
type answers struct{ ok, empty, failed prometheus.Counter }

func newAnswers(action string) *answers {
	return &answers{
		ok:     answersTotal.WithLabelValues(action, "ok"),
		empty:  answersTotal.WithLabelValues(action, "empty"),
		failed: answersTotal.WithLabelValues(action, "error"),
	}
}

func newDegradedParts() (counters []prometheus.Counter) {
	for _, name := range partNames {
		counters = append(counters, degradedTotal.WithLabelValues(name))
	}
	return counters
}

// answers are the counters of the request's action.
func (r Request) answers() *answers {
	switch {
	case r.Silent:
		return silentAnswers
	case r.Action == ActionLoadMore:
		return loadMoreAnswers
	}
	return refreshAnswers
}

func countAnswer(r Request, a Answer, err error) {
	count := r.answers()
	switch {
	case err != nil:
		count.failed.Inc()
	case len(a.Docs) == 0:
		count.empty.Inc()
	default:
		count.ok.Inc()
	}
	if err == nil && !r.Silent {
		itemsTotal.Add(float64(len(a.Docs)))
	}
}

// countLoadMore counts what a load_more found in its session.
func countLoadMore(p page, err error) {
	switch {
	case err != nil:
		fromNothing.Inc()
	case p.Replayed:
		fromRetry.Inc()
	case len(p.Refs) == 0:
		fromRefresh.Inc()
	default:
		fromSession.Inc()
	}
}

func countVerdicts(verdicts []dedup.Verdict) {
	var unseen, pending int
	for _, v := range verdicts {
		switch v {
		case dedup.Unseen:
			unseen++
		case dedup.Pending:
			pending++
		}
	}
	unseenCandidates.Add(float64(unseen))
	pendingCandidates.Add(float64(pending))
	seenCandidates.Add(float64(len(verdicts) - unseen - pending))
}

// countShown counts a page for the sources of its items.
func countShown(refs []feed.Ref) {
	var n [len(feed.GivenSources)]int
	for i := range refs {
		if refs[i].Source != feed.SourceScore {
			if at := slices.Index(feed.GivenSources[:], refs[i].Source); at >= 0 {
				n[at]++
			}
		}
	}
	for i, shown := range n {
		if shown > 0 {
			sourceCounters[i].shown.Add(float64(shown))
		}
	}
}

// countClicks counts accepted clicks for the sources that have shown what they are on.
func countClicks(acts []Act, shown []wasShown, hidden map[string]bool) {
	for i, a := range acts {
		if a.Kind != events.Click || !shown[i].shown || hidden[a.ID] {
			continue
		}
		if c := counterOf(shown[i].source); c != nil {
			c.clicks.Inc()
		}
	}
}

func countDegraded(p parts) {
	for i, counter := range degradedParts {
		if p&(1<<i) != 0 {
			counter.Inc()
		}
	}
}

// stage is a step of the feed that is measured and traced under its name.
type stage struct {
	name    string
	seconds prometheus.Observer
}

func newStage(name string) stage {
	return stage{name: name, seconds: stageSeconds.WithLabelValues(name)}
}

// enter begins a stage; the function it returns ends it. Without a tracer only
// its time is measured.
func (e *Engine) enter(ctx context.Context, s stage) (context.Context, func()) {
	timer := prometheus.NewTimer(s.seconds)
	if e.cfg.Tracer == nil {
		return ctx, func() { timer.ObserveDuration() }
	}
	ctx, span := e.cfg.Tracer.Start(ctx, s.name)
	return ctx, func() {
		span.End()
		timer.ObserveDuration()
	}
}

// traced answers a request within a span of its own.
func (e *Engine) traced(ctx context.Context, r Request, answer func(context.Context) (Answer, error)) (Answer, error) {
	if e.cfg.Tracer == nil {
		return answer(ctx)
	}
	ctx, span := e.cfg.Tracer.Start(ctx, "feed "+r.name(), trace.WithAttributes(
		attribute.String("freshet.agent", r.Agent), attribute.Int("freshet.limit", r.Limit)))
	defer span.End()
	a, err := answer(ctx)
	if err != nil {
		span.RecordError(err)
		span.SetStatus(codes.Error, "")
		return a, err
	}
	span.SetAttributes(attribute.Int("freshet.items", len(a.Docs)), attribute.StringSlice("freshet.degraded", a.Degraded))
	return a, nil
}
