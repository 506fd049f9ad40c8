package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/freshet/freshet/dedup"
	"github.com/freshet/freshet/feed"
	"github.com/freshet/freshet/signals/events"
)

var (
	answers = newCounters("freshet_feed_answers_total",
		"Feed answers by action (refresh, load_more, silent) and result (ok, empty, error).",
		values{"action", "refresh", "load_more", "silent"}, values{"result", "ok", "empty", "error"})
	namedAnswers = newCounters("freshet_named_feed_answers_total",
		"Answers of named feeds, by kind (tag, lang, stored) and result (ok, empty, error).",
		values{"kind", "tag", "lang", "stored"}, values{"result", "ok", "empty", "error"})
	itemsTotal = promauto.NewCounter(prometheus.CounterOpts{
		Name: "freshet_feed_items_total", Help: "Items delivered, silent answers excluded.",
	})
	marked = newCounters("freshet_feed_marked_total",
		"Answers, silent ones excluded, that had fewer items than requested (short), or that lacked a part (degraded).",
		values{"mark", "short", "degraded"})
	acts = newCounters("freshet_acts_total",
		"Accepted acts of readers on items that they were shown, by kind, repeated ones included.",
		values{"kind", "click", "like", "dislike", "hide", "unlike"})
	loadMores = newCounters("freshet_feed_load_more_total",
		"Calls of load_more by source of the answer: session, refresh (a silent one, since there was no session), retry (the record of an equal call), or error.",
		values{"from", "session", "refresh", "retry", "error"})
	candidates = newCounters("freshet_candidates_total",
		"Recalled candidates by outcome: unseen, seen (in a daily filter), pending. Seen and pending ones are repeats that were avoided.",
		values{"outcome", "unseen", "seen", "pending"})
	sourceQueries = newCounters("freshet_home_source_asks_total",
		"Queries of the sources of home, by source (following, trending, discovery, promoted) and result (ok, late: timed out, error).",
		values{"source", "following", "trending", "discovery", "promoted"}, values{"result", "ok", "late", "error"})
	shownItems = newCounters("freshet_feed_shown_total",
		"Items delivered for the first time, by the source of their position: the sources of home, and explore in for-you.", givenSources)
	clicks = newCounters("freshet_feed_clicks_total",
		"Clicks by the source that showed the item, repeated clicks included; the report counts each once a day.", givenSources)
	stageSeconds = promauto.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "freshet_stage_seconds",
		Help:    "Time spent in a stage of the feed; turn is the wait for another refresh of the same agent.",
		Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5},
	}, []string{"stage"})

	turnStage    = newStage("turn")
	openStage    = newStage("open")
	recallStage  = newStage("recall")
	dedupStage   = newStage("dedup")
	pageStage    = newStage("page")
	hydrateStage = newStage("hydrate")
	whyStage     = newStage("why")
)

// values holds the name of a label, then its values.
type values []string

var givenSources = values{"source", "following", "trending", "discovery", "promoted", "explore"}

// newCounters registers a counter with one or two labels and returns its series, keyed by the
// label values with a space between them. All series exist from the start, so a rate over the
// first error is not lost; looking labels up would also cost more than counting.
func newCounters(name, help string, labels ...values) map[string]prometheus.Counter {
	var names []string
	series := [][]string{nil}
	for _, label := range labels {
		names = append(names, label[0])
		var longer [][]string
		for _, before := range series {
			for _, value := range label[1:] {
				longer = append(longer, append(slices.Clone(before), value))
			}
		}
		series = longer
	}
	vec := promauto.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, names)
	counters := make(map[string]prometheus.Counter, len(series))
	for _, of := range series {
		counters[strings.Join(of, " ")] = vec.WithLabelValues(of...)
	}
	return counters
}

func countAnswer(r Request, a Answer, err error) {
	result := "ok"
	switch {
	case err != nil:
		result = "error"
	case len(a.Docs) == 0:
		result = "empty"
	}
	answers[r.name()+" "+result].Inc()
	if r.Feed.Named() {
		namedAnswers[r.Feed.Kind()+" "+result].Inc()
	}
	if err != nil || r.Silent {
		return
	}
	itemsTotal.Add(float64(len(a.Docs)))
	if len(a.Docs) < r.Limit {
		marked["short"].Inc()
	}
	if len(a.Degraded) > 0 {
		marked["degraded"].Inc()
	}
}

// countLoadMore counts a load_more by what it was answered from.
func countLoadMore(p page, err error) {
	from := "session"
	switch {
	case err != nil:
		from = "error"
	case p.Replayed:
		from = "retry"
	case len(p.Refs) == 0:
		from = "refresh"
	}
	loadMores[from].Inc()
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
	candidates["unseen"].Add(float64(unseen))
	candidates["pending"].Add(float64(pending))
	candidates["seen"].Add(float64(len(verdicts) - unseen - pending))
}

// countShown counts the items of a page by source.
func countShown(refs []feed.Ref) {
	for i := range refs {
		if refs[i].Source == feed.SourceScore { // most items have this one, and no counter does
			continue
		}
		c := shownItems[refs[i].Source.String()]
		if c != nil {
			c.Inc()
		}
	}
}

// countAccepted counts accepted acts, and clicks by the source that showed the item.
func countAccepted(did []Act, shown []wasShown, hidden map[string]bool) {
	for i, a := range did {
		if !shown[i].shown || hidden[a.ID] {
			continue
		}
		kind := acts[string(a.Kind)]
		if kind != nil {
			kind.Inc()
		}
		c := clicks[shown[i].source.String()]
		if c != nil && a.Kind == events.Click {
			c.Inc()
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

// running is a stage that has begun. It is a value, so that the stages of a page allocate nothing;
// the zero value is not measured.
type running struct {
	timer prometheus.Timer
	span  trace.Span // nil if not traced
}

// enter begins a stage.
func (c *Config) enter(ctx context.Context, s stage) (context.Context, running) {
	r := running{timer: *prometheus.NewTimer(s.seconds)}
	if c.Tracer != nil {
		ctx, r.span = c.Tracer.Start(ctx, s.name)
	}
	return ctx, r
}

// end ends the stage.
func (r running) end() {
	if r.span != nil {
		r.span.End()
	}
	r.timer.ObserveDuration()
}

// untraced is the span of a request that is not traced.
var untraced trace.Span = noop.Span{}

// begin begins a request, with its own span if calls are traced.
func (e *Engine) begin(ctx context.Context, r Request) (context.Context, trace.Span) {
	ctx = e.cfg.Begin(ctx)
	if e.cfg.Tracer == nil {
		return ctx, untraced
	}
	return e.cfg.Tracer.Start(ctx, "feed "+r.name(), trace.WithAttributes(
		attribute.String("freshet.agent", r.Agent), attribute.Int("freshet.limit", r.Limit)))
}

// note records the outcome of a request.
func note(span trace.Span, a *Answer, err error) {
	switch {
	case !span.IsRecording():
	case err != nil:
		span.RecordError(err)
		span.SetStatus(codes.Error, "")
	default:
		span.SetAttributes(attribute.Int("freshet.items", len(a.Docs)), attribute.StringSlice("freshet.degraded", a.Degraded))
	}
}
