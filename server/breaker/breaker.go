// Package breaker guards every call to a service. It refuses calls while the service is down, so
// that only a few requests wait for a dead service, bounds how long a request waits for a call, and
// measures and traces the calls.
package breaker

import (
	"context"
	"errors"
	"fmt"
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
	"golang.org/x/sync/singleflight"

	"github.com/freshet/freshet/internal/ownmachine"
	"github.com/freshet/freshet/internal/safego"
)

var (
	callSeconds = promauto.NewHistogramVec(prometheus.HistogramOpts{
		Name:    "freshet_dependency_call_seconds",
		Help:    "Duration of calls to a dependency, in seconds, until it responds. Calls to Redis: command, pipeline; to Elasticsearch: search, mget, bulk, other.",
		Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
	}, []string{"dependency", "call"})
	callErrors = promauto.NewCounterVec(prometheus.CounterOpts{
		Name: "freshet_dependency_errors_total",
		Help: "Failed calls to a dependency: because it was unreachable (unreachable), or at once because its breaker was open or an earlier call of the same request got no response (refused).",
	}, []string{"dependency", "reason"})
)

// A breaker opens when most calls of a short window have failed, or when the last calls have failed
// in a row and none was answered recently: if one node of a cluster is dead, calls fail in a row by
// chance, but the other nodes answer in between. After a pause it lets a few calls through.
const (
	window       = 10 * time.Second // over which calls are counted
	LeastCalls   = 5                // in a window; fewer are not enough evidence
	downRatio    = 0.6              // of failed calls; one dead node of a three-node cluster stays below
	leastSilence = time.Second      // without an answer, before failures in a row open the breaker
	openPause    = 2 * time.Second
	probes       = 3 // concurrent calls while half open; all must succeed
)

// Breaker guards every call to one service.
type Breaker struct {
	name                 string
	breaker              *gobreaker.TwoStepCircuitBreaker[any]
	began                time.Time
	answered             atomic.Int64                   // time of the last answer, in nanoseconds since began
	failed               atomic.Pointer[error]          // the last failure; nil means none
	seconds              map[string]prometheus.Observer // by kind of call
	unreachable, refused prometheus.Counter
	pings                singleflight.Group
}

// New returns the breaker of a service with the given kinds of calls. They are fixed because
// looking up a metric label costs more than observing a value.
func New(name string, log *slog.Logger, calls ...string) *Breaker {
	b := &Breaker{
		name: name, began: time.Now(), seconds: make(map[string]prometheus.Observer, len(calls)),
		unreachable: callErrors.WithLabelValues(name, "unreachable"), refused: callErrors.WithLabelValues(name, "refused"),
	}
	for _, call := range calls {
		b.seconds[call] = callSeconds.WithLabelValues(name, call)
	}
	setState(name, ofBreaker, 1)
	b.breaker = gobreaker.NewTwoStepCircuitBreaker[any](gobreaker.Settings{
		Name: name, Interval: window, Timeout: openPause, MaxRequests: probes,
		ReadyToTrip: b.isDown, IsExcluded: func(err error) bool { return errors.Is(err, errCallerGone) },
		OnStateChange: func(_ string, from, to gobreaker.State) {
			switch to {
			case gobreaker.StateOpen:
				setState(name, ofBreaker, 0)
				if from == gobreaker.StateHalfOpen {
					return // still down: no log line every two seconds
				}
				log.Warn("a dependency is down: calls to it fail at once for a while", append([]any{"dependency", name, "pause", openPause.String()}, ownmachine.Attrs(b.lastFailure(), "the setting")...)...)
			case gobreaker.StateHalfOpen:
				setState(name, ofBreaker, 0.5)
			default:
				setState(name, ofBreaker, 1)
				log.Info("a dependency is back", "dependency", name)
			}
		},
	})
	return b
}

// State returns the breaker's state: whether calls are let through.
func (b *Breaker) State() gobreaker.State { return b.breaker.State() }

// Counts returns the counts of the calls in the current window.
func (b *Breaker) Counts() gobreaker.Counts { return b.breaker.Counts() }

// isDown reports whether the calls of the window should open the breaker.
func (b *Breaker) isDown(c gobreaker.Counts) bool {
	calls := c.Requests - c.TotalExclusions
	if calls < LeastCalls {
		return false
	}
	if float64(c.TotalFailures) >= downRatio*float64(calls) {
		return true
	}
	silent := time.Since(b.began) - time.Duration(b.answered.Load())
	return c.ConsecutiveFailures >= LeastCalls && silent >= leastSilence
}

// errCallerGone is the outcome of a call that its caller did not wait for: it is no evidence about
// the dependency.
var errCallerGone = errors.New("the caller did not wait for the answer")

// Call is one call that the breaker has let through.
type Call struct {
	of      *Breaker
	done    func(error) // reports the outcome to the breaker
	span    trace.Span  // nil means not traced
	seconds prometheus.Observer
	since   time.Time
}

// Enter begins a call of the given kind and a span named after what, the operation. The error is
// the breaker's. Calls outside a request are measured, not traced.
func (b *Breaker) Enter(ctx context.Context, kind, what string, batch int) (context.Context, *Call, error) {
	done, err := b.breaker.Allow()
	if err != nil {
		return ctx, nil, b.refuse(ctx, &openError{err, b.lastFailure()})
	}
	c := &Call{of: b, done: done, seconds: b.seconds[kind], since: time.Now()}
	parent := trace.SpanFromContext(ctx)
	if parent.IsRecording() {
		// Not the keys and bodies: they contain agents' ids.
		ctx, c.span = parent.TracerProvider().Tracer(tracerName).Start(ctx, b.name+" "+what,
			trace.WithSpanKind(trace.SpanKindClient),
			trace.WithAttributes(attribute.String("db.system.name", b.name), attribute.String("db.operation.name", what)))
		if batch > 0 {
			c.span.SetAttributes(attribute.Int("db.operation.batch.size", batch))
		}
	}
	return ctx, c, nil
}

// openError is the error of a call that an open breaker refused. It says why the breaker is open, but
// does not wrap that failure: the call itself has neither timed out nor reached the service.
type openError struct {
	refusal error // the breaker's
	last    error // the last failure
}

func (e *openError) Error() string { return fmt.Sprintf("%v; the last failure: %v", e.refusal, e.last) }

func (e *openError) Unwrap() error { return e.refusal }

// LastFailure returns why the breaker is open.
func (e *openError) LastFailure() error { return e.last }

// lastFailure returns the last failure that counted against the service.
func (b *Breaker) lastFailure() error {
	last := b.failed.Load()
	if last == nil {
		return nil
	}
	return *last
}

// refuse counts a call that is not made, and returns the reason.
func (b *Breaker) refuse(ctx context.Context, why error) error {
	b.refused.Inc()
	trace.SpanFromContext(ctx).AddEvent(b.name + " refused: " + why.Error())
	return why
}

// refuseRest refuses the further calls of a request after one got no answer.
func (b *Breaker) refuseRest(ctx context.Context) error {
	return b.refuse(ctx, errors.New("it did not answer an earlier call of this request"))
}

// tracerName names the instrumentation in traces: the running system.
const tracerName = "github.com/freshet/freshet/server"

// pingTimeout is the time in which a service that is up must answer a ping.
const pingTimeout = time.Second

// Late ends a call that exceeded its time limit, with err. The timeout only proves that this call
// is slow, which a request for a lot of data can cause. So it counts against the dependency only if
// a ping, which is cheap for it, fails too. Late does not wait for the ping. Concurrent late calls
// share one.
func (c *Call) Late(ctx context.Context, err error, ping func(context.Context) error) {
	c.measure(err)
	ctx = context.WithoutCancel(ctx)
	go func() {
		_, failure, _ := c.of.pings.Do("", func() (any, error) {
			ctx, cancel := context.WithTimeout(ctx, pingTimeout)
			defer cancel()
			return nil, safego.Run(func() error { return ping(ctx) })
		})
		if failure == nil {
			err = nil
		}
		c.reportOutcome(err)
	}()
}

// Leave ends the call. err counts against the dependency. It is nil if the dependency was
// reachable, whatever it answered, and errCallerGone if that is unknown.
func (c *Call) Leave(err error) {
	c.reportOutcome(err)
	c.measure(err)
}

func (c *Call) reportOutcome(err error) {
	switch {
	case err == nil:
		c.of.answered.Store(int64(time.Since(c.of.began)))
	case !errors.Is(err, errCallerGone):
		c.of.failed.Store(&err)
		c.of.unreachable.Inc()
	}
	c.done(err)
}

func (c *Call) measure(err error) {
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

var dependencyUp = promauto.NewGaugeVec(prometheus.GaugeOpts{
	Name: "freshet_dependency_up",
	Help: "State of a dependency, checked every five seconds: 1 up; 0 down, or its breaker is open and calls fail at once; 0.5 up, but its breaker lets only a few calls through.",
}, []string{"dependency"})

// upState holds two values from 0 to 1 for a dependency: the result of the last check, and the
// state of its breaker. The lower one is published: a successful check does not hide that calls
// fail at once, and a half-open breaker does not interrupt an alert.
type upState [2]float64

// Indexes of an upState.
const (
	ofCheck = iota
	ofBreaker
)

// ups holds the states of this process's dependencies, by name.
var ups = struct {
	mu sync.Mutex
	of map[string]upState
}{of: map[string]upState{}}

// State names of a dependency's breaker.
const (
	Closed   = "closed"    // calls are let through
	HalfOpen = "half-open" // a few are
	Open     = "open"      // all are refused
)

// States returns the states of the breakers of this process by dependency.
func States() map[string]string {
	ups.mu.Lock()
	defer ups.mu.Unlock()
	all := make(map[string]string, len(ups.of))
	for name, state := range ups.of {
		switch state[ofBreaker] {
		case 0:
			all[name] = Open
		case 1:
			all[name] = Closed
		default:
			all[name] = HalfOpen
		}
	}
	return all
}

func setState(name string, part int, value float64) {
	ups.mu.Lock()
	defer ups.mu.Unlock()
	state, ok := ups.of[name]
	if !ok {
		state = upState{1, 1}
	}
	state[part] = value
	ups.of[name] = state
	dependencyUp.WithLabelValues(name).Set(min(state[ofCheck], state[ofBreaker]))
}

// RecordCheck publishes whether a dependency answered its last check.
func RecordCheck(name string, answered bool) {
	state := 0.0
	if answered {
		state = 1
	}
	setState(name, ofCheck, state)
}
