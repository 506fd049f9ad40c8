package app

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/sony/gobreaker/v2"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

var (
	dependencyUp = promauto.NewGaugeVec(prometheus.GaugeOpts{
		Name: "freshet_dependency_up", Help: "1 while the dependency answers, 0 while it does not; asked every five seconds.",
	}, []string{"dependency"})
	breakerOpen = promauto.NewGaugeVec(prometheus.GaugeOpts{
		Name: "freshet_breaker_open", Help: "1 while calls to the dependency fail at once because it is down, 0.5 while it is tried again.",
	}, []string{"dependency"})
	callSeconds = promauto.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "freshet_dependency_call_seconds",
		Help:    "Time of a call to the dependency until it answers. Calls to Redis: command, pipeline; to Elasticsearch: search, mget, bulk, other.",
		Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
	}, []string{"dependency", "call"})
	callErrors = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "freshet_dependency_errors_total",
		Help: "Calls that failed because the dependency could not be asked (unreachable), or at once because its breaker was open (refused).",
	}, []string{"dependency", "reason"})
)

// A breaker opens when most of a short while's calls have failed, and lets a
// few try again after a pause. So a dead dependency costs a few requests their
// timeout, not all of them.
const (
	breakerWindow = 10 * time.Second // over which calls are counted
	breakerCalls  = 5                // fewer say nothing
	breakerRatio  = 0.6              // of failed calls; one dead node of a three-node cluster stays below
	breakerPause  = 2 * time.Second
	breakerProbes = 3 // calls that try again at once, and must all succeed
)

// dependency stands in every call to one service: it refuses calls while the
// service is down, and measures and traces the others.
type dependency struct {
	name                 string
	breaker              *gobreaker.TwoStepCircuitBreaker[any]
	seconds              map[string]prometheus.Observer // by kind of call
	unreachable, refused prometheus.Counter
}

// newDependency knows the kinds of calls there are: looking a label up costs
// more than observing.
func newDependency(name string, log *slog.Logger, calls ...string) *dependency {
	d := &dependency{
		name: name, breaker: newBreaker(name, log), seconds: make(map[string]prometheus.Observer, len(calls)),
		unreachable: callErrors.WithLabelValues(name, "unreachable"), refused: callErrors.WithLabelValues(name, "refused"),
	}
	for _, call := range calls {
		d.seconds[call] = callSeconds.WithLabelValues(name, call)
	}
	return d
}

func newBreaker(name string, log *slog.Logger) *gobreaker.TwoStepCircuitBreaker[any] {
	gauge := breakerOpen.WithLabelValues(name)
	gauge.Set(0)
	return gobreaker.NewTwoStepCircuitBreaker[any](gobreaker.Settings{
		Name: name, Interval: breakerWindow, Timeout: breakerPause, MaxRequests: breakerProbes,
		ReadyToTrip: func(c gobreaker.Counts) bool {
			return c.Requests >= breakerCalls && float64(c.TotalFailures) >= breakerRatio*float64(c.Requests)
		},
		OnStateChange: func(_ string, from, to gobreaker.State) {
			switch to {
			case gobreaker.StateOpen:
				gauge.Set(1)
				if from == gobreaker.StateHalfOpen {
					return // still down: not a line every two seconds
				}
				log.Warn("a dependency is down: calls fail at once for a while", "dependency", name, "pause", breakerPause.String())
			case gobreaker.StateHalfOpen:
				gauge.Set(0.5)
			default:
				gauge.Set(0)
				log.Info("a dependency is back", "dependency", name)
			}
		},
	})
}

// call is one call that the breaker has let through.
type call struct {
	of      *dependency
	settle  func(error) // tells the breaker
	span    trace.Span  // nil: not traced
	seconds prometheus.Observer
	since   time.Time
}

// enter begins a call of a kind, and a span named after what is asked. The
// error is the breaker's. Calls outside a request are measured, not traced.
func (d *dependency) enter(ctx context.Context, kind, what string, batch int) (context.Context, *call, error) {
	settle, err := d.breaker.Allow()
	if err != nil {
		d.refused.Inc()
		trace.SpanFromContext(ctx).AddEvent(d.name + " refused: its breaker is open")
		return ctx, nil, err
	}
	c := &call{of: d, settle: settle, seconds: d.seconds[kind], since: time.Now()}
	if parent := trace.SpanFromContext(ctx); parent.IsRecording() {
		// Keys and bodies hold agents' ids; the kind of the call is enough.
		ctx, c.span = parent.TracerProvider().Tracer(tracerName).Start(ctx, d.name+" "+what,
			trace.WithSpanKind(trace.SpanKindClient),
			trace.WithAttributes(attribute.String("db.system.name", d.name), attribute.String("db.operation.name", what)))
		if batch > 0 {
			c.span.SetAttributes(attribute.Int("db.operation.batch.size", batch))
		}
	}
	return ctx, c, nil
}

// tracerName says in traces what made the span.
const tracerName = "github.com/freshet/freshet/internal/app"

// leave ends the call. err is what counts against the dependency; nil where it
// could be asked, whatever it answered.
func (c *call) leave(err error) {
	c.settle(err)
	c.seconds.Observe(time.Since(c.since).Seconds())
	if err != nil {
		c.of.unreachable.Inc()
	}
	if c.span == nil {
		return
	}
	if err != nil {
		c.span.RecordError(errors.New(strings.ToValidUTF8(err.Error(), "?")))
		c.span.SetStatus(codes.Error, "")
	}
	c.span.End()
}
