package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/freshet/freshet/handler"
)

// TestWhenABreakerOpens counts answers and failures of one dependency.
func TestWhenABreakerOpens(t *testing.T) {
	failure := errors.New("no answer")
	for _, tt := range []struct {
		name string
		// calls are made 10 ms apart: an error or nil, in turn.
		before, after int // answered calls, and failed ones after a pause
		pause         time.Duration
		mixed         bool // an answer after every failure
		gone          int  // calls after every failure whose callers did not wait
		open          bool
	}{
		{name: "all is well", before: 200},
		{name: "healthy for long, then nothing", before: 400, pause: time.Second, after: 5, open: true},
		{name: "a few failures", before: 400, pause: time.Second, after: 4},
		{name: "a row of failures between answers, as of one node of a cluster", before: 400, after: 5},
		{name: "failures and answers in turn", before: 400, pause: time.Second, after: 20, mixed: true},
		{name: "failures alone", after: 5, open: true},
		{name: "failures among calls that nobody waited for", after: 5, gone: 10, open: true},
		{name: "a few failures among calls that nobody waited for", after: 4, gone: 10},
		{name: "most of a window has failed", before: 5, after: 8, open: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := newDependency("test", slog.New(slog.NewTextHandler(io.Discard, nil)), "call")
				ask := func(outcome error) {
					_, call, err := d.enter(t.Context(), "call", "call", 0)
					require.NoError(t, err, "the breaker is open too early")
					time.Sleep(10 * time.Millisecond)
					call.leave(outcome)
				}
				for range tt.before {
					ask(nil)
				}
				time.Sleep(tt.pause)
				for range tt.after {
					ask(failure)
					if tt.mixed {
						ask(nil)
					}
					for range tt.gone {
						if d.breaker.State() != gobreaker.StateOpen {
							ask(errCallerGone)
						}
					}
				}
				assert.Equal(t, tt.open, d.breaker.State() == gobreaker.StateOpen)
			})
		})
	}
}

// TestUpIsTheWorseOfLookAndBreaker follows an outage of one dependency: neither a look nor
// the breaker says that it is up while the other says that it is down.
func TestUpIsTheWorseOfLookAndBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const name = "up-test"
		var failure error
		look := checks{name: func(context.Context) handler.Dependency { return handler.Dependency{Err: failure} }}.look
		up := func() float64 { return testutil.ToFloat64(dependencyUp.WithLabelValues(name)) }
		d := newDependency(name, slog.New(slog.DiscardHandler), "call")
		begin := func() *call {
			_, c, err := d.enter(t.Context(), "call", "call", 0)
			require.NoError(t, err)
			return c
		}
		look(t.Context())
		require.EqualValues(t, 1, up())

		for range breakerCalls {
			begin().leave(errors.New("no answer"))
		}
		assert.Zero(t, up(), "the breaker is open")
		look(t.Context())
		assert.Zero(t, up(), "it answers, and calls fail at once")

		time.Sleep(breakerPause + time.Nanosecond)
		probe := begin()
		assert.InDelta(t, 0.5, up(), 0, "it is tried again")
		failure = errors.New("no answer")
		look(t.Context())
		assert.Zero(t, up(), "it is tried again, and does not answer")
		probe.leave(nil)
		for range breakerProbes - 1 {
			begin().leave(nil)
		}
		require.Equal(t, gobreaker.StateClosed, d.breaker.State())
		assert.Zero(t, up(), "until the next look it does not answer")
		failure = nil
		look(t.Context())
		assert.EqualValues(t, 1, up())
	})
}

// hangs is a service that does not answer.
type hangs struct{}

func (hangs) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, context.Cause(r.Context())
}

// TestCallersWhoDoNotWait: a call that its caller gives up says nothing about
// Elasticsearch, one that the breaker's own limit ends says that it is down.
func TestCallersWhoDoNotWait(t *testing.T) {
	for _, c := range []struct {
		name     string
		patience time.Duration
		want     gobreaker.State
	}{
		{"callers who give up early", time.Second, gobreaker.StateClosed},
		{"callers who wait", time.Minute, gobreaker.StateOpen},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newElasticBreaker(hangs{}, 3*time.Second, slog.New(slog.DiscardHandler))
				var calls sync.WaitGroup
				for range breakerCalls {
					calls.Go(func() {
						ctx, cancel := context.WithCancelCause(t.Context())
						defer time.AfterFunc(c.patience, func() { cancel(fmt.Errorf("%w: too late", context.Canceled)) }).Stop()
						req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://elastic/items/_search", nil)
						assert.NoError(t, err)
						_, err = b.RoundTrip(req) //nolint:bodyclose // there is none
						assert.Error(t, err)
					})
				}
				calls.Wait()
				assert.Equal(t, c.want, b.breaker.State())
			})
		})
	}
}
