package breaker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/sony/gobreaker/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestBreakerOpens checks the state of a breaker after a sequence of answers and failures.
func TestBreakerOpens(t *testing.T) {
	failure := errors.New("no answer")
	for _, tt := range []struct {
		name string
		// Calls are made 10 ms apart.
		before, after int // calls that succeed, and calls that fail after a pause
		pause         time.Duration
		mixed         bool // each failure is followed by an answer
		gone          int  // calls given up by their callers, after each failure
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
				b := New("test", slog.New(slog.NewTextHandler(io.Discard, nil)), "call")
				ask := func(outcome error) {
					_, call, err := b.Enter(t.Context(), "call", "call", 0)
					require.NoError(t, err, "the breaker is open too early")
					time.Sleep(10 * time.Millisecond)
					call.Leave(outcome)
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
						if b.State() != gobreaker.StateOpen {
							ask(errCallerGone)
						}
					}
				}
				assert.Equal(t, tt.open, b.State() == gobreaker.StateOpen)
				assert.Equal(t, tt.open, States()["test"] == Open, "what the process says about it")
			})
		})
	}
}

// TestOpenBreakerNamesLastFailure checks that the log line of an opened breaker and the errors of the calls that it
// refuses name the cause, the latest one, but are not taken for it.
func TestOpenBreakerNamesLastFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		b := New("cause-test", slog.New(slog.NewTextHandler(&log, nil)), "call")
		fail := func(outcome error) {
			_, call, err := b.Enter(t.Context(), "call", "call", 0)
			require.NoError(t, err)
			call.Leave(outcome)
		}
		refused := func(why error) {
			t.Helper()
			_, _, err := b.Enter(t.Context(), "call", "call", 0)
			require.ErrorIs(t, err, gobreaker.ErrOpenState)
			assert.ErrorContains(t, err, why.Error())
			assert.NotErrorIs(t, err, why)
			var open interface{ LastFailure() error }
			require.ErrorAs(t, err, &open)
			assert.Equal(t, why, open.LastFailure())
		}
		first := fmt.Errorf("lookup: %w", context.DeadlineExceeded)
		for range LeastCalls {
			fail(first)
		}
		assert.Contains(t, log.String(), first.Error())
		refused(first)

		time.Sleep(openPause + time.Millisecond)
		second := errors.New("connection refused")
		fail(second)
		refused(second)
	})
}

// TestUpNeedsCheckAndBreaker follows an outage of one dependency: neither the check nor the
// breaker reports it as up while the other reports it as down.
func TestUpNeedsCheckAndBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const name = "up-test"
		up := func() float64 { return testutil.ToFloat64(dependencyUp.WithLabelValues(name)) }
		b := New(name, slog.New(slog.DiscardHandler), "call")
		begin := func() *Call {
			_, c, err := b.Enter(t.Context(), "call", "call", 0)
			require.NoError(t, err)
			return c
		}
		RecordCheck(name, true)
		require.EqualValues(t, 1, up())

		for range LeastCalls {
			begin().Leave(errors.New("no answer"))
		}
		assert.Zero(t, up(), "the breaker is open")
		RecordCheck(name, true)
		assert.Zero(t, up(), "it answers, and calls fail at once")

		time.Sleep(openPause + time.Nanosecond)
		probe := begin()
		assert.InDelta(t, 0.5, up(), 0, "it is tried again")
		RecordCheck(name, false)
		assert.Zero(t, up(), "it is tried again, and does not answer")
		probe.Leave(nil)
		for range probes - 1 {
			begin().Leave(nil)
		}
		require.Equal(t, gobreaker.StateClosed, b.State())
		assert.Zero(t, up(), "until the next look it does not answer")
		RecordCheck(name, true)
		assert.EqualValues(t, 1, up())
	})
}
