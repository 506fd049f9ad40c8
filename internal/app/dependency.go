package app

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
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
		Name: "freshet_dependency_up",
		Help: "1 while the dependency answers, asked every five seconds; 0 while it does not, or calls to it fail at once because it was down; 0.5 while it answers and a few calls try it again.",
	}, []string{"dependency"})
	callSeconds = promauto.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "freshet_dependency_call_seconds",
		Help:    "Time of a call to the dependency until it answers. Calls to Redis: command, pipeline; to Elasticsearch: search, mget, bulk, other.",
		Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
	}, []string{"dependency", "call"})
	callErrors = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "freshet_dependency_errors_total",
		Help: "Calls that failed because the dependency could not be asked (unreachable), or at once because its breaker was open or an earlier call of the request had got no answer (refused).",
	}, []string{"dependency", "reason"})
)

// upState tells whether a dependency is up, by two values from 0 to 1: the last look at it,
// and its breaker. The worse of the two counts: a look that is answered does not hide
// that calls fail at once, and a breaker that tries again does not interrupt an alert.
type upState struct{ look, breaker float64 }

// ups are the states of this process's dependencies, by name.
var ups = struct {
	mu sync.Mutex
	of map[string]upState
}{of: map[string]upState{}}

// setUp changes the state of a dependency and publishes it.
func setUp(name string, change func(*upState)) {
	ups.mu.Lock()
	defer ups.mu.Unlock()
	state, ok := ups.of[name]
	if !ok {
		state = upState{look: 1, breaker: 1}
	}
	change(&state)
	ups.of[name] = state
	dependencyUp.WithLabelValues(name).Set(min(state.look, state.breaker))
}

// A breaker opens when most of a short while's calls have failed, or when the
// last calls have and none was answered lately; it lets a few try again after a
// pause. So a dead dependency costs a few requests their timeout, not all of
// them, however many it had answered before.
//
// Where one node of a cluster is dead, calls fail in a row by chance, but the
// other nodes answer in between.
const (
	breakerWindow = 10 * time.Second // over which calls are counted
	breakerCalls  = 5                // fewer say nothing
	breakerRatio  = 0.6              // of failed calls; one dead node of a three-node cluster stays below
	breakerSilent = time.Second      // without an answer, for failures in a row to say something
	breakerPause  = 2 * time.Second
	breakerProbes = 3 // calls that try again at once, and must all succeed
)

// dependency stands in every call to one service: it refuses calls while the
// service is down, and measures and traces the others.
type dependency struct {
	name                 string
	breaker              *gobreaker.TwoStepCircuitBreaker[any]
	began                time.Time
	answered             atomic.Int64                   // when the last call was, in nanoseconds since began
	seconds              map[string]prometheus.Observer // by kind of call
	unreachable, refused prometheus.Counter
}

// newDependency knows the kinds of calls there are: looking a label up costs
// more than observing.
func newDependency(name string, log *slog.Logger, calls ...string) *dependency {
	d := &dependency{
		name: name, began: time.Now(), seconds: make(map[string]prometheus.Observer, len(calls)),
		unreachable: callErrors.WithLabelValues(name, "unreachable"), refused: callErrors.WithLabelValues(name, "refused"),
	}
	for _, call := range calls {
		d.seconds[call] = callSeconds.WithLabelValues(name, call)
	}
	d.breaker = newBreaker(name, d.isDown, log)
	return d
}

// isDown reports whether the calls of the window say that the breaker is to
// open.
func (d *dependency) isDown(c gobreaker.Counts) bool {
	calls := c.Requests - c.TotalExclusions
	if calls < breakerCalls {
		return false
	}
	if float64(c.TotalFailures) >= breakerRatio*float64(calls) {
		return true
	}
	silent := time.Since(d.began) - time.Duration(d.answered.Load())
	return c.ConsecutiveFailures >= breakerCalls && silent >= breakerSilent
}

// errCallerGone is how a call ends whose caller did not wait for the answer: it
// says nothing about the dependency.
var errCallerGone = errors.New("the caller did not wait for the answer")

func newBreaker(name string, isDown func(gobreaker.Counts) bool, log *slog.Logger) *gobreaker.TwoStepCircuitBreaker[any] {
	breaker := func(closed float64) { setUp(name, func(u *upState) { u.breaker = closed }) }
	breaker(1)
	return gobreaker.NewTwoStepCircuitBreaker[any](gobreaker.Settings{
		Name: name, Interval: breakerWindow, Timeout: breakerPause, MaxRequests: breakerProbes,
		ReadyToTrip: isDown, IsExcluded: func(err error) bool { return errors.Is(err, errCallerGone) },
		OnStateChange: func(_ string, from, to gobreaker.State) {
			switch to {
			case gobreaker.StateOpen:
				breaker(0)
				if from == gobreaker.StateHalfOpen {
					return // still down: not a line every two seconds
				}
				log.Warn("a dependency is down: calls fail at once for a while", "dependency", name, "pause", breakerPause.String())
			case gobreaker.StateHalfOpen:
				breaker(0.5)
			default:
				breaker(1)
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
		return ctx, nil, d.refuse(ctx, err)
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

// refuse counts a call that is not made, and returns why.
func (d *dependency) refuse(ctx context.Context, why error) error {
	d.refused.Inc()
	trace.SpanFromContext(ctx).AddEvent(d.name + " refused: " + why.Error())
	return why
}

// tracerName says in traces what made the span.
const tracerName = "github.com/freshet/freshet/internal/app"

// leave ends the call. err counts against the dependency; nil where it
// could be asked, whatever it answered; errCallerGone where that is not known.
func (c *call) leave(err error) {
	switch {
	case err == nil:
		c.of.answered.Store(int64(time.Since(c.of.began)))
	case !errors.Is(err, errCallerGone):
		c.of.unreachable.Inc()
	}
	c.settle(err)
	c.seconds.Observe(time.Since(c.since).Seconds())
	if c.span == nil {
		return
	}
	if err != nil {
		c.span.RecordError(errors.New(strings.ToValidUTF8(err.Error(), "?")))
		c.span.SetStatus(codes.Error, "")
	}
	c.span.End()
}
